"""Binds the operators and methods that `Variable` declares to the functions of this package."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api import arithmetic, bitwise, comparison, linear, magnitude, methods
from xpgrad.graph.primitive import operators
from xpgrad.graph.variable import Variable

_REFLECTED = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floor_divide,
    "mod": arithmetic.remainder,
    "and": bitwise.bitwise_and,
    "or": bitwise.bitwise_or,
    "xor": bitwise.bitwise_xor,
    "lshift": bitwise.bitwise_left_shift,
    "rshift": bitwise.bitwise_right_shift,
    "matmul": linear.matmul,
}
_COMPARISONS = {
    "eq": comparison.equal,
    "ne": comparison.not_equal,
    "lt": comparison.less,
    "le": comparison.less_equal,
    "gt": comparison.greater,
    "ge": comparison.greater_equal,
}
_UNARY: dict[str, Callable[..., Any]] = {
    "abs": magnitude.abs,
    "invert": bitwise.bitwise_invert,
    "neg": arithmetic.negative,
    "pos": arithmetic.positive,
}


def bind() -> None:
    """Give Variable its operators and methods."""
    for name, function in _REFLECTED.items():
        operator, reflected = operators(function)
        _set(f"__{name}__", operator)
        _set(f"__r{name}__", reflected)
    operator, reflected = arithmetic.power_operators
    _set("__pow__", operator)
    _set("__rpow__", reflected)
    for name, function in _COMPARISONS.items():
        _set(f"__{name}__", operators(function)[0])
    for name, function in _UNARY.items():
        _set(f"__{name}__", function)
    for name, function in methods.METHODS.items():
        _set(name, function)


def _set(name: str, function: Callable[..., Any]) -> None:
    setattr(Variable, name, function)
