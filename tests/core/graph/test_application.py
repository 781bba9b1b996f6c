"""Operands of a nonstandard library: 0-d arrays that do not widen, tapes, errors without a message."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.core import toy_arrays
from tests.core.graph.nodes import node
from tests.core.toy_arrays import ToyArray, registered

import xpgrad
import xpgrad.array_api as A
from xpgrad import Variable, grad
from xpgrad.backend.kernels import table
from xpgrad.errors import PromotionWarning, ShapeError, UnknownArray, XpgradError
from xpgrad.plugin import ArrayAPIBackend, hookimpl, scatter_add_by_sorting


def narrow(name: str) -> Any:
    """Return a function of two toy arrays that treats 0-d arrays as scalars."""
    function = getattr(np, name)

    def call(x1: Any, x2: Any, /) -> ToyArray:
        a, b = (x.values if isinstance(x, ToyArray) else x for x in (x1, x2))
        kinds = [x.dtype for x in (a, b) if getattr(x, "ndim", 0)] or [np.result_type(a, b)]
        if hasattr(x1, "raises"):
            raise x1.raises
        if name == "arctan2" and a.shape != b.shape and a.ndim and b.ndim:
            raise RuntimeError("lengths differ")
        return ToyArray(function(a, b).astype(np.result_type(*kinds)))

    return call


class Narrow(ArrayAPIBackend):
    """Toy arrays with operators that treat 0-d arrays as scalars, optionally sealed, with errors without a message."""

    zero_dimensional_widen = False

    def check(self, array: Any) -> None:
        if getattr(array, "sealed", False):
            raise UnknownArray("toy: a sealed array is refused; unseal() it")

    def refusal(self, error: Exception) -> type[XpgradError] | None:
        return ShapeError if "lengths" in str(error) else None


class Plugin:
    @hookimpl
    def xpgrad_backend(self) -> ArrayAPIBackend:
        return Narrow(
            "toy",
            toy_arrays,
            (ToyArray,),
            devices={"cpu": "here"},
            scatter_add=scatter_add_by_sorting,
            kernels={"multiply": narrow("multiply"), "atan2": narrow("arctan2"), "divide": narrow("divide")},
        )


@pytest.fixture(autouse=True, scope="module")
def _registered() -> Iterator[None]:
    table.forget_plans()  # of other plugins for toy arrays
    with registered(Plugin()):
        yield
    table.forget_plans()


def toy_array(values: Any, dtype: str) -> ToyArray:
    return ToyArray(np.asarray(values, dtype))


def test_operands_of_several_floating_dtypes_are_cast_where_0d_arrays_would_not_widen() -> None:
    many, one = toy_array([0.1, 0.7], "float32"), toy_array(1.1, "float64")
    for operands in (
        (Variable(many), Variable(one)),
        (Variable(many, requires_grad=False), one),
        (many, Variable(one)),
    ):
        for function, expected in ((A.multiply, np.multiply), (A.divide, np.divide), (A.atan2, np.arctan2)):
            y = function(*operands)
            assert y.dtype == np.float64
            assert np.array_equal(y.array.values, expected(many.values, one.values))
    x, z = Variable(many), Variable(one)
    for gx in (grad([A.sum(x * z)], [x, z]), grad([A.sum(x * z)], [x, z], enable_double_backprop=True)):
        assert [g.dtype for g in gx] == [np.float32, np.float64]
        assert gx[1].array.values == np.sum(many.values.astype(np.float64))


@pytest.mark.parametrize("call", [
    lambda x, w: x * w, lambda x, w: w - x, lambda x, w: A.matmul(x, w), lambda x, w: A.atan2(w[:1], x),
])  # fmt: skip
def test_an_array_that_promotes_a_gradient_is_a_warning_that_names_the_line(call: Any) -> None:
    x, w = np.ones(3, np.float32), np.ones(3)
    with pytest.warns(PromotionWarning, match="float64 promotes the result of a Variable of float32") as found:
        assert call(Variable(x), w).dtype == np.float64
    assert [each.filename for each in found] == [__file__]
    call(Variable(x, requires_grad=False), w)
    call(Variable(x), np.ones(3, np.float32))
    with xpgrad.no_backprop_mode():
        call(Variable(x), w)


def test_where_promotes_only_its_floating_operands() -> None:
    condition, many, one = toy_array([True, False], "bool"), toy_array([0.1, 0.7], "float32"), toy_array(1.1, "float64")
    y = A.where(condition, Variable(many), Variable(one))
    assert (y.dtype, y.array.values.tolist()) == (np.float64, [np.float32(0.1), 1.1])
    assert A.where(condition, Variable(many), many).dtype == np.float32


def test_operands_of_one_dtype_and_scalars_are_unchanged() -> None:
    many, one = Variable(toy_array([0.5, 2.0], "float32")), Variable(toy_array(1.5, "float32"))
    assert (many * one).dtype == (many * 2.5).dtype == np.float32
    assert (many * one).creator.inputs == (many.node, one.node)


@pytest.fixture
def sealed() -> ToyArray:
    made = toy_array([1.0, 2.0], "float32")
    made.sealed = True
    return made


def test_a_backend_may_reject_an_operand_that_is_not_a_variable(sealed: ToyArray) -> None:
    x = Variable(toy_array([1.0, 2.0], "float32"))
    for call in (lambda: x * sealed, lambda: A.multiply(sealed, x), lambda: A.where(x > 0, x, sealed)):
        with pytest.raises(UnknownArray, match=r"a sealed array is refused; unseal\(\) it"):
            call()


def test_invalid_function_result_raises_with_the_backends_reason(sealed: ToyArray) -> None:
    expected = r"^Sealing: forward output: toy: a sealed array is refused; unseal\(\) it$"
    with pytest.raises(UnknownArray, match=expected):
        node("Sealing", forward=lambda self, inputs: (sealed,)).apply((Variable(toy_array([1.0], "float32")),))


def test_a_backend_identifies_runtime_errors_about_shapes() -> None:
    x = Variable(toy_array([1.0, 2.0], "float32"))
    with pytest.raises(ShapeError, match=r"^atan2: shapes do not broadcast; got float32 \(2,\), float32 \(3,\)$"):
        A.atan2(x, toy_array([1.0, 2.0, 3.0], "float32"))
    with pytest.raises(ShapeError, match=r"^atan2: lengths differ; got float32 \(2,\), float32 \(1,\) on toy$"):
        A.atan2(x, toy_array([1.0], "float32"))


class OutOfMemory(RuntimeError):
    """An error of the library."""


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (RuntimeError, r"^multiply: full; got float32 \(2,\), float32 \(2,\) on toy$"),
        (NotImplementedError, r"^multiply: full; got float32 \(2,\), float32 \(2,\) on toy$"),
        (OutOfMemory, "^full$"),
    ],
)
def test_other_runtime_errors_keep_their_kind_and_name_the_operation(kind: type[Exception], text: str) -> None:
    x = toy_array([1.0, 2.0], "float32")
    x.raises = kind("full")
    with pytest.raises(kind, match=text) as caught:
        Variable(x) * Variable(x)
    assert type(caught.value) is kind
