"""`interop.jax.function`: functions of ours in JAX's differentiation."""

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import xpgrad
import xpgrad.array_api as xp
from xpgrad import Variable
from xpgrad.errors import DtypeError, GradientError, ShapeError
from xpgrad_jax.interop import function

pytestmark = pytest.mark.exhaustive(2)

PLACES = None, "@strict", "@jax"
A = np.asarray([[0.5, -1.0], [1.5, 0.3], [-0.7, 2.0]])

CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "two inputs": (lambda x, y: xp.sum(xp.tanh(x * y) * x, axis=0), (A, A[::-1] + 1)),
    "two outputs": (lambda x: (xp.exp(x), xp.sum(x**3)), (A,)),
    "linear": (lambda x: x * 3, (A,)),
    "complex": (lambda x, y: xp.exp(x) * xp.conj(y) * x, (A + 1j, A * (1 - 2j))),
    "complex to real": (lambda x: xp.abs(x) ** 3, (A + 1j,)),
    "the input itself": (lambda x: x, (A,)),
    "a constant": (lambda x: xp.zeros_like(x), (A,)),
}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("title", CASES)
def test_first_and_second_derivatives(title: str, jit: bool) -> None:
    f, inputs = CASES[title]
    wrapped = function(f)
    check_grads(jax.jit(wrapped) if jit else wrapped, tuple(map(jnp.asarray, inputs)), order=2, modes=["fwd", "rev"])


@pytest.mark.parametrize("place", PLACES)
def test_complex_gradients_are_those_of_jax(place: str | None) -> None:
    f = function(lambda x: x * x * xp.conj(x), device=place)
    z = jnp.asarray(A + 1j)
    found, expected = (
        jax.grad(lambda z, g=g: jnp.sum(jnp.abs(g(z) - 1) ** 2))(z) for g in (f, lambda x: x * x * jnp.conj(x))
    )
    np.testing.assert_allclose(found, expected)


TRANSFORMED: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda g, X: jax.grad(g)(X[0]),
    "grad of grad": lambda g, X: jax.grad(lambda x: jax.grad(g)(x).prod())(X[0]),
    "vjp": lambda g, X: jax.vjp(g, X[0])[1](2.0)[0],
    **{
        f"{outer.__name__} of {inner.__name__}": lambda g, X, outer=outer, inner=inner: outer(inner(g))(X[0])
        for outer in (jax.jacrev, jax.jacfwd)
        for inner in (jax.jacrev, jax.jacfwd)
    },
    "jvp": lambda g, X: jax.jvp(g, (X[0],), (X[1],)),
    "jvp of jvp": lambda g, X: jax.jvp(lambda x: jax.jvp(g, (x,), (X[1],))[1], (X[0],), (X[2],)),
    "grad of jvp": lambda g, X: jax.grad(lambda x: jax.jvp(g, (x,), (X[1],))[1])(X[0]),
    "jvp of vmap": lambda g, X: jax.jvp(jax.vmap(g), (X,), (X,)),
    "vmap of jvp": lambda g, X: jax.vmap(lambda x: jax.jvp(g, (x,), (x,))[1])(X),
    "linearize": lambda g, X: jax.linearize(g, X[0])[1](X[1]),
    "hessian": lambda g, X: jax.hessian(g)(X[0]),
    "hessian of hessian": lambda g, X: jax.hessian(lambda x: jax.hessian(g)(x).sum())(X[0]),
    "vmap of hessian": lambda g, X: jax.vmap(jax.hessian(g))(X),
    "vmap": lambda g, X: jax.vmap(g)(X),
    "vmap along axis 1": lambda g, X: jax.vmap(g, in_axes=1)(X),
    "vmap of grad": lambda g, X: jax.vmap(jax.grad(g))(X),
    "grad of vmap": lambda g, X: jax.grad(lambda X: jax.vmap(g)(X).prod())(X),
    "scan": lambda g, X: jax.lax.scan(lambda c, x: (c + g(x), g(x)), 0.0, X)[1],
    "grad of scan": lambda g, X: jax.grad(lambda X: jax.lax.scan(lambda c, x: (c * g(x), None), 1.0, X)[0])(X),
}


@pytest.mark.parametrize("place", [None, "@jax"])
@pytest.mark.parametrize("title", TRANSFORMED)
def test_transformations_of_jax(title: str, place: str | None) -> None:
    ours = function(lambda x: xp.sum(xp.sin(x) * x**2), device=place)
    transform, X = TRANSFORMED[title], jnp.asarray(A)
    expected = transform(lambda x: jnp.sum(jnp.sin(x) * x**2), X)
    np.testing.assert_allclose(transform(ours, X), expected, rtol=1e-12)
    np.testing.assert_allclose(jax.jit(lambda X: transform(ours, X))(X), expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "broadcast_all", "expand_dims"])
def test_methods_of_vmap(method: str) -> None:
    calls: list[tuple[int, ...]] = []

    def f(x: Variable, y: Variable) -> Variable:
        calls.append(x.shape)
        return xp.sum(x**3 * y, axis=-1)

    g = function(f, vmap_method=method, shapes=jax.ShapeDtypeStruct((), float))
    X, y = jnp.asarray(A), jnp.asarray([2.0, -1.0])
    np.testing.assert_allclose(jax.vmap(g, in_axes=(0, None))(X, y), (A**3 * y).sum(-1))
    assert calls == ([(2,)] * 3 if method.startswith("sequential") else [(3, 2)])
    gx, gy = jax.vmap(jax.grad(g, argnums=(0, 1)), in_axes=(0, None))(X, y)
    np.testing.assert_allclose(gx, 3 * A**2 * y)
    np.testing.assert_allclose(gy, A**3)
    gy = jax.grad(lambda y: jax.vmap(g, in_axes=(0, None))(X, y).sum())(y)
    np.testing.assert_allclose(gy, (A**3).sum(0))


@pytest.mark.parametrize("jit", [False, True])
def test_trees_integers_and_other_objects_pass(jit: bool) -> None:
    def f(tree: dict[str, Any], *, scale: int, name: str) -> dict[str, Any]:
        assert type(tree["i"]) is Variable
        return {"y": tree["x"][0] * scale, "i": tree["i"] + 1, "none": None, "name": name}

    x = jnp.asarray(A[0])

    def call(x: Any) -> Any:
        found = function(f)({"x": [x], "i": jnp.arange(2)}, scale=3, name="a")
        assert (found["none"], found.pop("name")) == (None, "a")
        return found

    found = (jax.jit(call) if jit else call)(x)
    np.testing.assert_allclose(found["y"], 3 * A[0])
    assert found["i"].tolist() == [1, 2]
    np.testing.assert_allclose(jax.grad(lambda x: call(x)["y"].sum())(x), 3.0)


def test_integers_have_no_gradient() -> None:
    f = function(lambda x, i: (x[i] * 2, i + 1))
    gradient = jax.jit(jax.grad(lambda x, i: f(x, i)[0].sum()))(jnp.asarray(A[:, 0]), jnp.asarray([0, 0]))
    assert gradient.tolist() == [4.0, 0.0, 0.0]


def test_decisions_on_values_run_within_jit() -> None:
    def f(x: Variable) -> Variable:
        while float(x.array) < 100:
            x = x * 2
        return x

    assert float(jax.jit(function(f))(3.0 * jnp.ones(()))) == 192.0
    assert float(jax.grad(function(f))(3.0 * jnp.ones(()))) == 64.0


def test_given_shapes_make_the_first_call_unnecessary() -> None:
    calls: list[int] = []

    def f(x: Variable) -> dict[str, Variable]:
        calls.append(1)
        return {"y": x * 2}

    x = jnp.ones(3)
    wrapped = jax.jit(function(f, shapes={"y": jax.ShapeDtypeStruct((3,), float)}))
    assert wrapped(x)["y"].tolist() == [2.0] * 3
    assert len(calls) == 1
    assert jax.jit(function(f))(x)["y"].tolist() == [2.0] * 3
    assert len(calls) == 3
    function(f)(x)  # not traced
    assert len(calls) == 4
    with pytest.raises(
        ShapeError, match=r"expected float64 \(4,\) as of the first call or in shapes, got float64 \(3,"
    ):
        function(f, shapes={"y": jax.ShapeDtypeStruct((4,), float)})(x)


def test_large_arrays_do_not_wait_for_each_other() -> None:
    f = jax.jit(jax.grad(function(lambda x: xp.sum(x * x))))
    x = jnp.ones(2_000_000)
    assert float(f(f(x))[-1]) == 4.0


def test_the_configuration_is_that_of_the_time_of_tracing() -> None:
    seen: list[bool] = []
    f = function(lambda x: seen.append(xpgrad.config.train) or x, shapes=jax.ShapeDtypeStruct((2,), float))
    with xpgrad.using_config("train", False):
        jax.block_until_ready(jax.jit(f)(jnp.ones(2)))
    assert seen == [False]


def test_what_a_function_keeps_is_not_aliased() -> None:
    kept = np.ones(3)
    for call in (function(lambda x: kept), jax.jit(function(lambda x: kept))):
        y = call(jnp.ones(3))
        kept[0] = 5.0
        assert y.tolist() == [1.0] * 3
        kept[0] = 1.0


def test_wrong_arguments_are_errors_that_say_where() -> None:
    x = jnp.ones(3)
    w = Variable(np.ones(3))
    with pytest.raises(TypeError, match=r"interop.jax.function: expected a function, got int"):
        function(cast(Any, 3))
    with pytest.raises(ValueError, match=r"expected vmap_method among sequential, .*, got 'serial'"):
        function(lambda x: x, vmap_method="serial")
    with pytest.raises(TypeError, match=r"argument 1 at \['w'\]: expected a jax array, got a Variable; pass its array"):
        function(lambda x, y: x)(x, {"w": w})
    product = function(lambda x: xp.sum(x * w))
    assert float(product(x)) == 3.0
    with pytest.raises(GradientError, match="whose Variables are all arguments, got one that uses another one that"):
        jax.jit(jax.grad(product))(x)
    with pytest.raises(GradientError, match="whose Variables are all arguments"):
        jax.grad(function(lambda x: xp.sum(x * w), shapes=jax.ShapeDtypeStruct((), float)))(x)
    with pytest.raises(ShapeError, match="matmul") as caught:
        jax.jit(function(lambda x: x @ np.ones((4, 4))))(x)
    assert "numbers between 1 and 2 to find out what it returns; shapes=" in "".join(caught.value.__notes__)


def test_without_64_bits() -> None:
    with jax.enable_x64(False):
        x = jnp.ones(3)
        f = function(lambda x: xp.sum(x * x))
        assert f(x).dtype == jax.jit(jax.grad(f))(x).dtype == jnp.float32
        for call in (
            function(lambda x: xp.astype(x, xp.float64)),
            jax.jit(function(lambda x: xp.astype(x, xp.float64))),
        ):
            with pytest.raises(DtypeError, match=r"output 0: jax would make float32 of float64; .*jax_enable_x64"):
                call(x)
        with pytest.raises(DtypeError, match="argument 0: jax would make float32 of float64"):
            f(np.ones(3))
