"""Checks of the inputs of this package's functions, which raise `InvalidType` or `AxisError`."""

import functools
from collections.abc import Callable
from numbers import Rational, Real
from typing import Any, ParamSpec, cast

from xpgrad.backend.backend import MAX_SPECS, Backend
from xpgrad.backend.checks import spec_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import AxisError, InvalidType, UnknownArray
from xpgrad.graph.variable import Variable, as_array, inside
from xpgrad.types import WHOLE, Array, Namespace

P = ParamSpec("P")


def invalid(function: str, expect: str, actual: str) -> InvalidType:
    """Return the error of `function` for an input of a wrong shape or dtype."""
    text = f"Invalid operation is performed in: {function} (Forward)\n\nExpect: {expect}\nActual: {actual}"
    return InvalidType(expect, actual, text)


def known_spec(x: Any, function: str) -> Spec:
    """Return the spec of a Variable or array, or raise a TypeError that names `function`."""
    if isinstance(x, Variable) and x._node.spec is not None:
        return x._node.spec
    if isinstance(x, Variable) and (x := inside(x))._array is None:
        raise UnknownArray(f"{function}: the Variable is uninitialised; give it data first")
    return spec_of(x if type(x) in plugins.by_type else plugins.array_of(as_array(x)), function)


def require_real_floating(spec: Spec, function: str, name: str = "x") -> Spec:
    """Return `spec`, or raise `InvalidType` if its dtype is not real floating-point."""
    if spec.complex or not spec.differentiable:
        raise invalid(function, f"{name} of a real floating-point dtype", f"{name} is {spec!r}")
    return spec


def real_floating(x: Any, function: str, name: str = "x") -> Spec:
    """Return the spec of `x`, or raise `InvalidType` if its dtype is not real floating-point."""
    return require_real_floating(known_spec(x, function), function, name)


def real_number(value: Any, function: str, name: str) -> None:
    """Raise a TypeError if `value` is neither a real number nor a 0-d array."""
    if not isinstance(value, Real) and getattr(value, "shape", None) != ():
        raise TypeError(
            f"{function}: expected {name} to be a real number, got an object of type {type(value).__name__}"
        )


def require_integral(spec: Spec, function: str, name: str = "t") -> Spec:
    """Return `spec`, or raise `InvalidType` if its dtype is not an integer dtype."""
    if not spec.backend.is_kind(spec.dtype, "integral"):
        raise invalid(function, f"{name} of an integer dtype", f"{name} is {spec!r}")
    return spec


def integral(x: Any, function: str, name: str = "t") -> Spec:
    """Return the spec of `x`, or raise `InvalidType` if its dtype is not an integer dtype."""
    return require_integral(known_spec(x, function), function, name)


def require_axis(spec: Spec, axis: int, function: str) -> int:
    """Return an axis counted from the front, or raise `AxisError` if it is out of range."""
    if not -spec.ndim <= axis < spec.ndim:
        raise AxisError(str(invalid(function, f"x with an axis {axis}", f"x is {spec!r}")))
    return axis % spec.ndim


def require_option(function: str, option: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise a ValueError unless the value of an option is one of `choices`."""
    if value not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{function}: {option} must be {', '.join(first)} or {last}, got {value!r}")


def all_labels(t: Array, backend: Backend, classes: int, ignore_label: int | None) -> bool:
    """Return whether all elements of `t` are numbers of classes or `ignore_label`."""

    def known(xp: Namespace, t: Array) -> bool:
        inside = (t >= 0) & (t < classes)
        return not xp.backend.any_true(~(inside if ignore_label is None else inside | (t == ignore_label)))

    return backend.follow(known)(backend.xp, t)  # type: ignore[no-any-return]  # a function of a library


PYTHON_TYPES = frozenset((bool, int, float, str, tuple, type(None)))


def _as_real(option: Any, function: str) -> Any:
    """Return an option as `_as_python` does, or raise a TypeError if it is complex or a Variable."""
    if isinstance(option, (complex, Variable)):
        got = option if isinstance(option, complex) else f"a Variable of {option.node.spec!r}; use numbers or operators"
        raise TypeError(f"{function}: expected real options, got {got}")
    return _as_python(option)


def _as_python(option: Any) -> Any:
    """Convert a scalar of an array library to a Python scalar, which never widens an array; other options stay."""
    if type(option) in PYTHON_TYPES:
        return option
    return float(option) if isinstance(option, Rational) and not isinstance(option, WHOLE) else plugins.plain(option)


def floating(function: Callable[P, Variable]) -> Callable[P, Variable]:
    """Make a function of one array reject dtypes that are not real floating-point, in 0.1 microseconds a call."""
    return real(function, function.__name__)


def real(function: Callable[P, Variable], name: str) -> Callable[P, Variable]:
    """Return `function` of one array under Chainer's name; it rejects dtypes that are not real floating-point."""
    call = cast("Callable[..., Variable]", function)

    @functools.wraps(function)
    def checked(x: Any, *args: Any, **kwargs: Any) -> Variable:
        if type(x) is not Variable or (spec := x._node.spec) is None or spec.complex or not spec.differentiable:
            real_floating(x, name)
        return (
            call(x, *[_as_real(v, name) for v in args], **{k: _as_real(v, name) for k, v in kwargs.items()})
            if args or kwargs
            else call(x)
        )

    checked.__name__ = checked.__qualname__ = name
    checked.__module__ = "xpgrad.functions"  # where pickle finds it
    vars(checked)["bounded"] = True  # all its errors already name it
    return cast("Callable[P, Variable]", checked)


def inexact(function: Callable[P, Variable], name: str) -> Callable[P, Variable]:
    """Return `function` of one array under Chainer's name; it rejects dtypes that are not floating-point."""
    call = cast("Callable[..., Variable]", function)

    @functools.wraps(function)
    def checked(x: Any, *args: Any, **kwargs: Any) -> Variable:
        spec = known_spec(x, name)
        if not spec.differentiable:
            raise invalid(name, "x of a floating-point dtype", f"x is {spec!r}")
        return call(x, *map(_as_python, args), **{k: _as_python(v) for k, v in kwargs.items()})

    checked.__name__ = checked.__qualname__ = name
    checked.__module__ = "xpgrad.functions"  # where pickle finds it
    vars(checked)["bounded"] = True  # all its errors already name it
    return cast("Callable[P, Variable]", checked)


class KnownCombinations:
    """Combinations of specs that a function has checked and accepted; a look-up costs less than another check."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[Any] = set()

    def __contains__(self, combination: Any) -> bool:
        return combination in self._known

    def add(self, combination: Any) -> None:
        """Add a combination of specs, which are compared by identity."""
        if len(self._known) >= MAX_SPECS:
            self._known.clear()
        self._known.add(combination)
