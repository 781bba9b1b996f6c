"""Family E: invalid operations raise an error that names the operation, and leave the state unchanged."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from xpgrad import Device, FunctionNode, Variable, config, get_device, random, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.current import current_device
from xpgrad.backend.kernels import table
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import FUNCTIONS
from xpgrad.errors import (
    BackendMismatch,
    DeviceMismatch,
    DtypeError,
    GradientError,
    MissingFunction,
    ShapeError,
    XpgradError,
)
from xpgrad.testing.arrays import on_host, placed
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import check
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.transformed import foreign_device

REFUSALS = XpgradError, ArithmeticError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError
"""Exception types that invalid operations may raise."""
Call = Callable[[], Any]
Binary = Callable[[Any, Any, Any], Any]
BINARY: dict[str, Binary] = {
    "add": lambda xp, x, w: x + w,
    "subtract": lambda xp, x, w: xp.subtract(x, w),
    "multiply": lambda xp, x, w: x * w,
    "divide": lambda xp, x, w: x / w,
    "maximum": lambda xp, x, w: xp.maximum(x, w),
    "greater": lambda xp, x, w: x > w,
    "where": lambda xp, x, w: xp.where(x > 0, x, w),
}
JOINING: dict[str, Binary] = {
    "matmul": lambda xp, x, w: xp.matmul(x, xp.permute_dims(w, (1, 0))),
    "concat": lambda xp, x, w: xp.concat([x, w], axis=0),
    "stack": lambda xp, x, w: xp.stack([x, w]),
    "tensordot": lambda xp, x, w: xp.tensordot(x, w, axes=2),
}


def _named(error: Exception, name: str, what: str) -> None:
    """Raise AssertionError unless the text of an error names an operation."""
    text = str(error)
    assert re.search(rf"\b_?{name}\b", text), (
        f"{what}: {type(error).__name__} with the text {text!r} does not name the operation {name!r}"
    )


def _both_named(error: Exception, here: Device, there: Device, what: str) -> None:
    for device in (here, there):
        assert str(device) in str(error), f"{what}: the text does not name {device}: {error}"


# Two places


@check("E01")
def mixed_devices(s: Subject) -> None:
    """Arrays of two devices in one operation are refused, and the error names both."""
    here, there = s.pair
    xp, values = namespace(here.backend), s.values((3, 4), 0.3, 1.9, "float32")
    x, w = Variable(placed(values, here)), Variable(placed(values, there))
    for name, call in (BINARY | JOINING).items():
        for one, other in ((x, w), (w, x)):
            what = f"{name} of arrays on {one.device} and {other.device}"
            error = s.raises(DeviceMismatch, lambda: call(xp, one, other), what)  # noqa: B023 - called immediately
            _both_named(error, here, there, what)
    library = here.backend.namespace
    for name, call in (BINARY | {"concat": JOINING["concat"]}).items():
        what = f"the library's own {name} of arrays on {here} and {there}"
        s.raises(REFUSALS, lambda: call(library, x.array, w.array), what)  # noqa: B023 - called immediately
    what = f"a Variable on {here} and an array on {there}"
    _both_named(s.raises(DeviceMismatch, lambda: x + w.array, what), here, there, what)


@check("E02")
def mixed_devices_without_axes(s: Subject) -> None:
    """A 0-d array of another device is refused as any array is: it counts as no number."""
    here, there = s.pair
    x = Variable(placed(s.values((3, 4), dtype="float32"), here))
    point = Variable(placed(np.asarray(0.75, "float32"), there))
    xp = namespace(here.backend)
    for name, call in BINARY.items():
        what = f"{name} of an array on {here} and a 0-d array on {there}"
        _both_named(s.raises(DeviceMismatch, lambda: call(xp, x, point), what), here, there, what)  # noqa: B023 - as above
        own = lambda: call(here.backend.namespace, x.array, point.array)  # noqa: B023, E731 - as above
        s.raises(REFUSALS, own, f"the library's own {what}")


@check("E03")
def mixed_libraries(s: Subject) -> None:
    """Operations on arrays of two libraries raise an error that names both libraries, and convert no array."""
    host = plugins.host
    there = foreign_device(s.backend)
    values = s.values((3, 4), 0.3, 1.9, "float32")
    x, w = Variable(placed(values, s.device)), Variable(placed(values, there))
    host_first = w if s.backend is not host else x
    for name, call in (BINARY | JOINING).items():
        for one, other in ((x, w), (w, x)):
            if one is host_first and name not in ("add", "matmul"):
                continue  # errors of the host's own functions do not depend on this backend
            what = f"{name} of arrays of {one.device.backend.name} and {other.device.backend.name}"
            xp = namespace(one.device.backend)
            error = s.raises(BackendMismatch, lambda: call(xp, one, other), what)  # noqa: B023 - as above
            _both_named(error, s.device, there, what)


# Shapes and dtypes that do not match


def _refused(s: Subject, calls: dict[str, tuple[str, Call]]) -> None:
    """Raise AssertionError unless each call raises an error of an expected type that names the operation."""
    for what, (name, call) in calls.items():
        _named(s.raises(REFUSALS, call, what), name, what)


@check("E04")
def shapes_that_do_not_fit(s: Subject) -> None:
    """Shapes that do not fit are refused, and the error names the operation."""
    x = s.variable(s.values((3, 4), 0.3, 1.9))
    w = s.variable(s.values((2, 4), 0.3, 1.9))
    xp = s.xp
    calls: dict[str, tuple[str, Call]] = {}
    for name, call in BINARY.items():
        calls[f"{name} of shapes (3, 4) and (2, 4)"] = name, functools.partial(call, xp, x, w)
    calls |= {
        "matmul of shapes (3, 4) and (2, 4)": ("matmul", lambda: xp.matmul(x, w)),
        "matmul of shapes (4,) and (3, 4)": ("matmul", lambda: xp.matmul(x[0, :], x)),
        "concat of shapes (3, 4) and (2, 4), axis=1": ("concat", lambda: xp.concat([x, w], axis=1)),
        "stack of shapes (3, 4) and (2, 4)": ("stack", lambda: xp.stack([x, w])),
        "reshape of (3, 4) to (5, 2)": ("reshape", lambda: xp.reshape(x, (5, 2))),
        "reshape of (3, 4) to (2, 5)": ("reshape", lambda: xp.reshape(x, (2, 5))),
        "reshape of (3, 4) to (-1, 5)": ("reshape", lambda: xp.reshape(x, (-1, 5))),
        "broadcast_to of (3, 4) to (3, 5)": ("broadcast_to", lambda: xp.broadcast_to(x, (3, 5))),
        "broadcast_to of (3, 4) to (4,)": ("broadcast_to", lambda: xp.broadcast_to(x, (4,))),
        "tensordot of shapes (3, 4) and (2, 4), axes=1": ("tensordot", lambda: xp.tensordot(x, w, axes=1)),
        "squeeze of an axis of length 3": ("squeeze", lambda: xp.squeeze(x, axis=0)),
        "permute_dims by (0, 0)": ("permute_dims", lambda: xp.permute_dims(x, (0, 0))),
        "permute_dims by one axis of two": ("permute_dims", lambda: xp.permute_dims(x, (0,))),
    }
    _refused(s, calls)


@check("E05")
def axes_that_are_not_there(s: Subject) -> None:
    """Axes that an array does not have are refused, and the error names the operation."""
    x, xp = s.variable(s.values((3, 4))), s.xp
    calls: dict[str, tuple[str, Call]] = {
        "concat along axis 2 of 2": ("concat", lambda: xp.concat([x, x], axis=2)),
        "expand_dims at 5 of 2": ("expand_dims", lambda: xp.expand_dims(x, axis=5)),
        "sum over the axes (0, 0)": ("sum", lambda: xp.sum(x, axis=(0, 0))),
        "sum over the axes (0, 2) of 2": ("sum", lambda: xp.sum(x, axis=(0, 2))),
    }
    functions = "sum", "mean", "max", "min", "prod", "argmax", "sort", "argsort", "flip", "cumulative_sum", "any", "all"
    for name in functions:
        for axis in (2, -3):
            given = x > 0 if name in ("any", "all") else x
            call = lambda n=name, a=axis, v=given: getattr(xp, n)(v, axis=a)  # noqa: E731 - one of a family
            calls[f"{name} with axis={axis} of an array with 2"] = name, call
    _refused(s, calls)


@check("E06", needs=("checked_index_arrays",))
def positions_out_of_range(s: Subject) -> None:
    """Indices out of range raise IndexError: integers, index arrays, gathers, and too many indices.

    An asynchronous backend may raise the error when the values are read; that need not name the operation.
    """
    x, xp = s.variable(s.values((3, 4))), s.xp
    far, below = (s.variable(np.asarray([0, position])) for position in (7, -9))
    calls: dict[str, Call] = {
        "x[3] of length 3": lambda: x[3, :],
        "x[-4] of length 3": lambda: x[-4, :],
        "x[:, 4] of length 4": lambda: x[:, 4],
        "x[0, 0, 0] of 2 axes": lambda: x[0, 0, 0],
        "take of [0, 7] of length 3": lambda: xp.take(x, far, axis=0),
        "take of [0, 7] of length 4": lambda: xp.take(x, far, axis=1),
        "take_along_axis of [[0, 7]] of length 4": lambda: xp.take_along_axis(x, far[None, :], axis=1),
        "take_along_axis of [[0], [7]] of length 3": lambda: xp.take_along_axis(x, far[:, None], axis=0),
    }
    if s.has("index_arrays"):
        rows, columns = (s.variable(np.asarray(numbers)) for numbers in ([0, 0], [0, 4]))
        calls["x[[0, 0], [0, 4]] of shape (3, 4)"] = lambda: x[rows, columns]
        calls["x[[0, 7]] of length 3"] = lambda: x[far, ...] if s.has("index_arrays_with_slices") else x[far, far]
        if s.has("negative_index_arrays"):
            calls["x[[0, -9]] of length 3"] = lambda: (
                x[below, ...] if s.has("index_arrays_with_slices") else x[below, below]
            )
    for what, call in calls.items():
        try:
            y = call()
        except IndexError as error:
            _named(error, what.partition(" ")[0] if "take" in what else "getitem", what)
        else:
            s.raises(IndexError, functools.partial(on_host, y), what)


@check("E14", needs=("checked_index_arrays",))
def positions_of_the_table(s: Subject) -> None:
    """Indices for which NumPy raises IndexError raise IndexError with the backend, in all cases."""
    numpy = get_device("@numpy")
    beyond = (127, -127) if s.has("negative_index_arrays") else (127,)
    for case in CASES:
        dtype = next((name for name in dtypes_of(case) if s.has(name)), None)
        if dtype is None or not s.has(*case.needs):
            continue
        places = [i for i, x in enumerate(case.inputs) if x.kind == "int"]
        mine = Scenario(case, s.device, dtype, seed=s.seed, capabilities=s.capabilities)
        theirs = Scenario(case, numpy, dtype, seed=s.seed)
        for place, position in product(places, beyond):
            hosts = [np.full_like(x, position) if i == place else x for i, x in enumerate(mine.inputs)]
            if _out_of_range(theirs, hosts):
                what = f"{case.name} with {position} in input {place}"
                s.raises(IndexError, functools.partial(_computed, mine, hosts), what)


def _computed(scenario: Scenario, hosts: Sequence[Any]) -> None:
    """Call the function of a case, and read its results."""
    for y in scenario.call(scenario.variables([scenario.placed(x) for x in hosts])):
        on_host(y)


def _out_of_range(scenario: Scenario, hosts: Sequence[Any]) -> bool:
    """Return whether a call raises an IndexError about positions, not about axes or shapes."""
    try:
        _computed(scenario, hosts)
    except IndexError:
        return True
    except Exception:  # another refusal of the function
        return False
    return False


@check("E07")
def bits_of_floats(s: Subject) -> None:
    """Bits of floating-point numbers are refused, and the error names the operation."""
    x, xp = s.variable(s.values((3, 4), 0.3, 1.9)), s.xp
    names = "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"
    calls: dict[str, tuple[str, Call]] = {
        f"{name} of {s.wide}": (name, functools.partial(getattr(xp, name), x, x)) for name in names
    }
    calls[f"bitwise_invert of {s.wide}"] = "bitwise_invert", lambda: xp.bitwise_invert(x)
    calls[f"x & x of {s.wide}"] = "bitwise_and", lambda: x & x
    _refused(s, calls)


@check("E08")
def what_is_missing_has_a_name(s: Subject) -> None:
    """An unsupported function raises an error that contains its name; no error has an empty message."""
    standard = set(FUNCTIONS)
    known = {name.rpartition(".")[2] for name in (*FUNCTIONS, *table.declared)}
    seen = set[str]()
    for case in CASES:
        function = case.name.partition("-")[0]
        if (
            function in seen
            or not standard & {function, f"linalg.{function}", f"fft.{function}"}
            or not s.has(*case.needs)
        ):
            continue
        seen.add(function)
        dtype = next((name for name in dtypes_of(case) if s.has(name)), None)
        if dtype is None:
            continue
        scenario = Scenario(case, s.device, dtype, seed=s.seed, capabilities=s.capabilities)
        xs = scenario.variables(scenario.arrays())
        try:
            case.call(s.xp, *xs)
        except MissingFunction:
            continue  # the error names backend and function
        except Exception as error:  # any error of the library
            words = set(re.findall(r"\w+", str(error)))
            if not words & (known | {function}):
                raise AssertionError(
                    f"{function} raises {type(error).__name__} with the text {str(error)!r}, which names no function; "
                    f"raise NotImplementedError('{function} ...'), or declare it in Capabilities(missing=...)"
                ) from error


# Nothing is changed


def _failing(s: Subject, x: Variable, w: Variable) -> Iterator[tuple[str, Call]]:
    xp = s.xp
    yield "add of shapes that do not fit", lambda: x + w
    yield "multiply of shapes that do not fit", lambda: xp.multiply(x, w)
    yield "matmul of shapes that do not fit", lambda: xp.matmul(x, w)
    yield "concat of shapes that do not fit", lambda: xp.concat([x, w], axis=1)
    yield "reshape to another size", lambda: xp.reshape(x, (5, 2))
    yield "sum over an axis that is not there", lambda: xp.sum(x, axis=2)
    yield "bits of floats", lambda: xp.bitwise_and(x, x)
    yield "random numbers of an integer dtype", lambda: random.uniform((3,), s.dtype_of("int32"), s.device)


@check("E09")
def failed_calls_change_nothing(s: Subject) -> None:
    """A call that fails does not change values, gradients, graph, current device, configuration or random numbers."""
    values, others, given = (s.values(shape, 0.3, 1.9) for shape in ((3, 4), (2, 4), (3, 4)))
    x, w = s.variable(values), s.variable(others)
    x.grad = grad = s.array(given)
    with using_device(s.device):
        for what, call in _failing(s, x, w):
            state, settings, creator = random.get_state(s.device), dict(config._entries()), x.creator_node
            s.raises(REFUSALS, call, what)
            assert current_device() == s.device, f"{what} left {current_device()} as the current device, not {s.device}"
            assert random.get_state(s.device) == state, f"{what} drew random numbers on {s.device}"
            assert dict(config._entries()) == settings, f"{what} changed the configuration"
            assert x.grad is grad, f"{what} replaced the gradient of its input"
            assert x.creator_node is creator, f"{what} connected its input to another function"
            s.expect(x, values, f"x, after {what}")
            s.expect(w, others, f"w, after {what}")
            s.expect(x.grad, given, f"the gradient of x, after {what}")
            again = s.xp.sum(s.xp.matmul(x + x, s.xp.permute_dims(w, (1, 0))))
            expected = np.asarray(np.sum((2.0 * values) @ others.T))
            s.expect(again, expected, f"sum((x + x) @ w.T), after {what}")


class _Fails(FunctionNode):
    """Twice its input; its backward computation fails within the backend while `failing` is set."""

    failing = False

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return twice the input."""
        return (inputs[0] * 2.0,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Return twice the gradient, or fail in a product of shapes that do not match."""
        (gy,) = grad_outputs
        if self.failing:
            namespace(gy.device.backend).matmul(gy, gy)
        return (gy * 2.0,)


@check("E10")
def failed_sweeps_change_nothing(s: Subject) -> None:
    """An error inside a backward computation changes no gradient, and the next sweep is right."""
    values, given = s.values((3, 4)), s.values((3, 4))
    x, z = s.variable(values), s.variable(values)
    old = s.cotangent(x)
    x.grad = kept = s.array(old)
    function = _Fails()
    y = function.apply((x,))[0] + x + x * z + x + x
    y.grad = seed = s.array(given)
    what = "a sweep in which matmul fails"
    function.failing = True
    s.raises(REFUSALS, y.backward, what)
    function.failing = False
    assert x.grad is kept, f"{what} replaced the gradient of x"
    assert y.grad is seed, f"{what} took away the gradient that it started from"
    assert z.grad is None, f"{what} gave z a gradient"
    s.expect(x, values, f"x, after {what}")
    s.expect(x.grad, old, f"the gradient of x, after {what}")
    s.expect(y.grad, given, f"the gradient of y, after {what}")
    y.backward()
    s.expect(x.grad, old + given * (5.0 + values), f"the gradient of x, from the sweep after {what}")
    s.expect(z.grad, given * values, f"the gradient of z, from the sweep after {what}")


# Gradients


@check("E11")
def gradients_that_do_not_fit(s: Subject) -> None:
    """A gradient of another shape, dtype, device or library than its array is refused, and the old one stays."""
    here, there = s.pair
    values = s.values((3, 4), dtype="float32")
    x = Variable(placed(values, here))
    x.grad = grad = placed(values, here)
    foreign = placed(values, foreign_device(here.backend))
    refused: list[tuple[str, type[Exception], Any]] = [
        ("of shape (4, 3)", ShapeError, placed(values.T, here)),
        ("of shape (12,)", ShapeError, placed(values.ravel(), here)),
        ("of shape (1, 3, 4)", ShapeError, placed(values[None], here)),
        ("of shape ()", ShapeError, placed(values[0, 0], here)),
        ("of int32", DtypeError, placed(values.astype("int32"), here)),
        (f"on {there}", DeviceMismatch, placed(values, there)),
        ("of another library", BackendMismatch, foreign),
    ]
    if s.has("float64"):
        refused.append(("of float64", DtypeError, placed(values.astype("float64"), here)))
    if s.has("complex64"):
        refused.append(("of complex64", DtypeError, placed(values.astype("complex64"), here)))
    for what, kind, given in refused:
        what = f"a gradient {what} for a float32 array of shape (3, 4) on {here}"
        s.raises(kind, lambda: setattr(x, "grad", given), what)  # noqa: B023 - the lambda is called immediately
        assert x.grad is grad, f"{what} raised an error, but replaced the old gradient"


@check("E12")
def integers_have_no_gradient(s: Subject) -> None:
    """Integers and booleans get no gradient, and a sweep from several elements requires an initial gradient."""
    values = s.values((3, 4))
    x, whole = s.variable(values), s.variable(np.asarray([[2, 0, 1, 3]]), "int32")
    truth = s.variable(values > 0, "bool")
    y = s.xp.sum(s.xp.where(truth, x * s.xp.astype(whole, x.dtype), x))
    y.backward()
    expected = np.where(values > 0, np.asarray([[2.0, 0, 1, 3]]), 1.0)
    s.expect(x.grad, expected, "the gradient of sum(where(x > 0, x * n, x)) for x")
    assert whole.grad is None, f"the int32 array n got a gradient: {whole.grad}"
    assert truth.grad is None, f"the bool array x > 0 got a gradient: {truth.grad}"
    for name, result in (("argmax", s.xp.argmax(x)), ("x > 0", x > 0), ("sum of int32", s.xp.sum(whole))):
        node = result.creator_node
        assert node is None, f"{name}, which has no gradient, is connected to its input by {node}"
    s.raises(GradientError, (x * 2.0).backward, "backward() from 12 elements without a gradient")


@check("E13")
def not_a_number(s: Subject) -> None:
    """In debug mode has_nan tests the real and imaginary parts, and same_values treats NaN as equal to NaN."""
    parts = {"float32": (np.nan,), "float64": (np.nan,), "complex64": (np.nan, complex(0.3, np.nan))}
    parts["complex128"] = parts["complex64"]
    for dtype in filter(s.has, parts):
        sound = s.array([0.3, np.inf], dtype)
        assert not s.backend.has_nan(sound), f"has_nan returns True for [0.3, inf] of {dtype}"
        for nan in parts[dtype]:
            values = np.asarray([0.3, nan], dtype)
            x = s.array(values, dtype)
            assert s.backend.has_nan(x), f"has_nan returns False for {values} of {dtype}"
            assert s.backend.same_values(x, s.array(values, dtype)), (
                f"same_values returns False for {values} and {values}"
            )
            for other in (sound, s.array([1.7, nan], dtype)):
                what = f"same_values returns True for {values} and {on_host(other)} of {dtype}"
                assert not s.backend.same_values(x, other), what
    assert not s.backend.has_nan(s.array(np.asarray([2, 3], "int32"))), "has_nan returns True for integers"
