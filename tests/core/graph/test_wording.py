"""Error messages name the operation, the argument and a remedy; the class of the error gives its kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Function, FunctionNode, Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import placed


class _Table:
    """Looks like a data frame's column: it can be converted, and is no array."""

    shape, dtype = (2,), np.dtype(float)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.ones(2)


@pytest.mark.parametrize("made", [[1.0, 2.0], 1.0, (1.0,), "a", object(), _Table()])
def test_error_for_a_non_array_names_a_conversion(made: Any) -> None:
    for call in (Variable, xp.sin, F.relu):
        if isinstance(made, float) and call is xp.sin:
            continue
        with pytest.raises(xpgrad.UnknownArray, match=r"array.*make an array with numpy\.asarray"):
            call(made)


class _Tensor:
    """An array of a library that no plugin here serves."""

    __module__ = "somelib.tensors"

    def __dlpack__(self) -> None: ...


def test_array_of_a_library_without_plugin_raises_with_the_package_to_install() -> None:
    with pytest.raises(xpgrad.UnknownArray, match="no plugin for somelib is installed; pip install xpgrad-somelib"):
        Variable(_Tensor())


def test_traced_types_are_not_listed_as_expected_types(device: xpgrad.Device) -> None:
    Variable(placed(np.ones(2), device))
    with pytest.raises(xpgrad.UnknownArray) as caught:
        Variable([1.0])
    assert "memmap" not in str(caught.value)
    assert "Tracer" not in str(caught.value)


@pytest.mark.parametrize(
    "operation", [lambda v: v * [1, 2, 3], lambda v: [1, 2, 3] * v, lambda v: v - (1, 2, 3), lambda v: "abc" * v]
)
def test_sequence_as_an_operand_raises_and_suggests_an_array(
    operation: Callable[[Any], Any], device: xpgrad.Device
) -> None:
    with pytest.raises(xpgrad.UnknownArray, match=r"(multiply|subtract): expected .* got (list|tuple|str).*asarray"):
        operation(Variable(placed(np.ones(3), device)))


def test_equality_with_a_non_array_is_left_to_python() -> None:
    assert (Variable(np.ones(2)) == [1, 2]) is False


def test_truth_of_several_elements_names_any_and_all(device: xpgrad.Device) -> None:
    with pytest.raises(ValueError, match=r"bool: expected one element, got shape \(3,\).*any or all"):
        bool(Variable(placed(np.ones(3), device)) > 0)


def test_error_of_an_inherited_method_names_variable(device: xpgrad.Device) -> None:
    with pytest.raises(TypeError, match=r"^Variable\.item\(\) takes 1 positional argument"):
        Variable(placed(np.ones(1), device)).item(0)  # type: ignore[call-arg]  # that is the point


def test_number_format_of_several_elements_raises_a_clear_error(device: xpgrad.Device) -> None:
    with pytest.raises(ValueError, match=r"format: '\.3f' is for one number, got a Variable of shape \(3,\)"):
        f"{Variable(placed(np.ones(3), device)):.3f}"


@pytest.mark.parametrize(
    "call", [lambda x, axis: xp.sum(x, axis=axis), lambda x, axis: xp.concat([x, x], axis=axis), F.softmax]
)
@pytest.mark.parametrize("axis", [1.0, "0"])
def test_axis_that_is_no_integer_is_named(call: Callable[..., Any], axis: Any) -> None:
    with pytest.raises(TypeError, match=rf"axis must be an integer or a tuple of integers, got {axis!r}") as caught:
        call(Variable(np.ones((2, 3))), axis)
    assert not isinstance(caught.value, xpgrad.DtypeError)


@pytest.mark.parametrize("exponent", [-1, Variable(np.array([-1, 2, 3]))])
def test_negative_power_of_integers_raises_and_suggests_a_cast(exponent: Any) -> None:
    with pytest.raises(ValueError, match=r"pow: .*got int64 \(3,\).*cast the base to a floating-point dtype") as caught:
        Variable(np.arange(3)) ** exponent
    assert not isinstance(caught.value, xpgrad.ShapeError)


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (ValueError("side must be left or right"), ValueError),
        (ValueError("cannot reshape array of size 3"), xpgrad.ShapeError),
        (ValueError("axis 2 is out of bounds for array of dimension 1"), xpgrad.AxisError),
        (IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 2)"), xpgrad.AxisError),
        (IndexError("index 5 is out of bounds for dimension 0 with size 3"), IndexError),
        (TypeError("got an unexpected keyword argument 'k'"), TypeError),
        (TypeError("ufunc 'exp' not supported for the input types"), xpgrad.DtypeError),
    ],
)
def test_error_class_matches_the_kind_of_error(raised: Exception, kind: type[Exception]) -> None:
    from xpgrad.graph.wording import explained

    backend = xpgrad.get_device("@numpy").backend
    definition = xp.exp.definition  # type: ignore[attr-defined]  # of every primitive
    found = explained(raised, definition, [np.ones(3)], {}, backend)
    assert type(found) is kind
    assert str(found) == f"exp: {raised}; got float64 (3,) on numpy"


class _Forgetful(FunctionNode):
    """Asks in `backward` for an input that it did not retain."""

    def forward(self, xs: Any) -> Any:
        return (xs[0] * 2,)

    def backward(self, indexes: Any, gys: Any) -> Any:
        (x,) = self.get_retained_inputs()
        return (gys[0] * x,)


class _OldForgetful(Function):
    """The same in the old style."""

    def forward(self, xs: Any) -> Any:
        self.retain_inputs(())
        return (xs[0] * 2,)

    def backward(self, xs: Any, gys: Any) -> Any:
        return (gys[0] * xs[0],)


@pytest.mark.parametrize("apply", [lambda x: _Forgetful().apply((x,))[0], lambda x: _OldForgetful()(x)])
def test_error_of_backward_lists_retained_inputs(apply: Callable[..., Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        apply(Variable(np.ones(2))).sum().backward()
    note = caught.value.__notes__[0]
    assert "of its 1 inputs forward retained none" in note
    assert "call self.retain_inputs" in note


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("numpy", "@numpy"),
        ("@nunpy", "@numpy"),
        ("strict:device1", "@strict:device1"),
        ("nativ:0", "native:0"),
        ("cpu", "@numpy"),
    ],
)
def test_misspelt_device_gets_a_suggestion(wrong: str, meant: str) -> None:
    with pytest.raises(xpgrad.SpecifierError, match=f"did you mean '{meant}'"):
        xpgrad.get_device(wrong)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ((2, 4), (3, 5), "a has 4 columns but b has 3 rows"),
        ((4,), (3,), "a has 4 elements but b has 3 elements"),
        ((2, 4), (3,), "a has 4 columns but b has 3 elements"),
        ((4,), (3, 2), "a has 4 elements but b has 3 rows"),
        ((2, 4), (), "b has no axes, but vectors, matrices or stacks of matrices are needed"),
        ((2, 3, 4), (5, 4, 3), "the stacks of matrices do not broadcast"),
    ],
)
def test_shapes_without_a_matrix_product_are_named(
    a: tuple[int, ...], b: tuple[int, ...], text: str, device: xpgrad.Device
) -> None:
    x, y = placed(np.ones(a), device), placed(np.ones(b), device)
    calls: list[Callable[[], Any]] = [
        lambda: Variable(x) @ Variable(y), lambda: Variable(x) @ y, lambda: xp.matmul(x, Variable(y)),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(xpgrad.ShapeError) as caught:
            call()
        assert str(caught.value) == f"matmul: {text}; got a {a}, b {b}, float64 on {device.backend.name}"


@pytest.mark.parametrize(
    "call",
    [
        lambda v: xp.vecdot(v(2, 4), v(2, 3)),
        lambda v: xp.tensordot(v(2, 4), v(2, 3), axes=1),
        lambda v: xp.linalg.solve(v(3, 3), v(4, 2)),
        lambda v: xp.linalg.inv(v(3, 2)),
        lambda v: xp.linalg.trace(v(3)),
        lambda v: xp.reshape(v(3), (4,)),
        lambda v: xp.broadcast_to(v(3), (4,)),
        lambda v: xp.concat([v(3, 2), v(3, 3)]),
        lambda v: xp.stack([v(3), v(2)]),
        lambda v: xp.sum(v(3), axis=4),
        lambda v: v(3)[7],
        lambda v: ~v(3),
    ],
)
def test_no_message_shows_the_signature_or_the_classes_of_a_library(
    call: Callable[[Any], Any], device: xpgrad.Device
) -> None:
    with pytest.raises(Exception, match=r": ") as caught:
        call(lambda *shape: Variable(placed(np.ones(shape), device)))
    text = str(caught.value)
    name = text.partition(":")[0]
    assert not any(word in text for word in ("gufunc", "core dimension", "_array_object", " object at 0x"))
    assert f"{name}: {name}" not in text
