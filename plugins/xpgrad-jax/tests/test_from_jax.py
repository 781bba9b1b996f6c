"""`interop.from_jax`: functions of JAX in our graph."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.within import OfAFramework

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import (
    BackendMismatch,
    DtypeError,
    UnknownArray,
)
from xpgrad.transforms import value_and_grad
from xpgrad_jax.interop import from_jax

pytestmark = pytest.mark.exhaustive(1)

LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": np.asarray,
    "jax": jnp.asarray,
    "strict": lambda a: xpgrad.get_device("@strict").send(np.asarray(a)),
}
A = np.asarray([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])


def product(x: Any, y: Any) -> Any:
    return jnp.sum(jnp.tanh(x * y) * x, axis=0)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("jit", [False, True])
def test_gradients_to_second_order_are_those_of_jax(library: str, jit: bool) -> None:
    f = from_jax(jax.jit(product) if jit else product)
    x, y = (Variable(LIBRARIES[library](a)) for a in (A, A[::-1] + 1))
    out = f(x, y)
    assert type(out.array) is type(x.array)
    gx, gy = xpgrad.grad([xp.sum(out * out)], [x, y], enable_double_backprop=True)
    assert gx is not None
    assert gy is not None
    xp.sum(gx * gx * gy).backward()

    def first(x: Any, y: Any) -> Any:
        return jax.grad(lambda x, y: (product(x, y) ** 2).sum(), argnums=(0, 1))(x, y)

    expected = [*first(A, A[::-1] + 1)]
    expected += jax.grad(lambda x, y: (first(x, y)[0] ** 2 * first(x, y)[1]).sum(), argnums=(0, 1))(A, A[::-1] + 1)
    for found, wanted in zip((gx.array, gy.array, x.grad, y.grad), expected, strict=True):
        np.testing.assert_allclose(xpgrad.get_device("@numpy").send(found), wanted, rtol=1e-11)


def test_results_and_gradients_can_be_written_to() -> None:
    x = Variable(A.copy())
    y = from_jax(lambda x: x * 2)(x)
    assert y.array.flags.writeable
    xp.sum(y).backward()
    assert x.grad.flags.writeable
    for array in (A[:, ::-1], np.broadcast_to(np.float64(2.0), (3,))):
        np.testing.assert_array_equal(from_jax(lambda x: x * 2)(Variable(array)).array, array * 2)


def test_within_a_function_that_jax_compiles() -> None:
    f = from_jax(product)
    y = jnp.asarray(A - 1)
    step = jax.jit(lambda x: value_and_grad(lambda x: xp.sum(f(x, y)))(x)[1])
    np.testing.assert_allclose(step(jnp.asarray(A)), jax.grad(lambda x: product(x, y).sum())(A))


class TestWithin(OfAFramework):
    framework, convert = jnp, staticmethod(from_jax)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no function": (lambda: from_jax(3), TypeError, "from_jax: expected a function, got int"),
    "another library's device": (
        lambda: from_jax(jnp.sin, device="@numpy"), BackendMismatch, "expected a device of JAX.*got '@numpy'",
    ),
    "uninitialised": (
        lambda: from_jax(jnp.sin)([Variable()]), UnknownArray, r"from_jax\(sin\): argument 0 at \[0\]: the Variable is",
    ),
    "two devices": (
        lambda: from_jax(product)(Variable(A), y=Variable(jnp.ones(3))), BackendMismatch,
        r"from_jax\(product\): expected arrays of one device, got @numpy and, for argument 'y', @jax:cpu:0; move",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", WRONG)
def test_wrong_arguments_are_errors_that_say_where(title: str) -> None:
    call, kind, match = WRONG[title]
    with pytest.raises(kind, match=match):
        call()


def test_errors_of_jax_name_the_function_and_its_arguments() -> None:
    with pytest.raises(TypeError, match="incompatible shapes") as caught:
        from_jax(product)(Variable(np.ones(3)), np.ones(4))
    assert "in from_jax(product), called with float64 (3,), float64 (4,)" in caught.value.__notes__


def test_without_64_bits_no_number_becomes_shorter() -> None:
    with jax.enable_x64(False):
        with pytest.raises(DtypeError, match=r"jax would make float32 of float64; .*jax_enable_x64") as caught:
            from_jax(product)(Variable(A), A)
        assert "in from_jax(product): argument 0" in caught.value.__notes__
        assert from_jax(product)(Variable(A.astype("float32")), A.astype("float32")).dtype == np.float32
