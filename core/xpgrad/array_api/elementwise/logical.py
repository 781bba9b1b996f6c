"""Comparisons, logical and bitwise functions, and tests for special numbers: the functions of the library."""

from collections.abc import Callable
from typing import Any

from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


def _of_one(name: str, summary: str, **kind: Any) -> Callable[[AnyArray], Variable]:
    """Return the primitive that calls the function `name` of the library, without a gradient."""

    def function(xp: Namespace, x: AnyArray, /) -> Array:
        return getattr(xp, name)(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return elementwise(**kind)(function)


def _of_two(name: str, summary: str, **kind: Any) -> Callable[[Operand, Operand], Variable]:
    """Return the primitive of two arguments that calls the function `name` of the library, without a gradient."""

    def function(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
        return getattr(xp, name)(x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return elementwise(**kind)(function)


logical_and = _of_two("logical_and", "Whether both elements are true.", same_dtype=False)
logical_or = _of_two("logical_or", "Whether at least one of the elements is true.", same_dtype=False)
logical_xor = _of_two("logical_xor", "Whether exactly one of the elements is true.", same_dtype=False)
logical_not = _of_one("logical_not", "Whether elements are false.", same_dtype=False)
isfinite = _of_one("isfinite", "Whether elements are finite.", same_dtype=False)
isinf = _of_one("isinf", "Whether elements are infinite.", same_dtype=False)
isnan = _of_one("isnan", "Whether elements are not a number.", same_dtype=False)
bitwise_and = _of_two("bitwise_and", "Bitwise and.", label="_ & _")
bitwise_or = _of_two("bitwise_or", "Bitwise or.", label="_ | _")
bitwise_xor = _of_two("bitwise_xor", "Bitwise exclusive or.", label="_ ^ _")
bitwise_invert = _of_one("bitwise_invert", "Bitwise not; the logical one for booleans.", label="__invert__")
bitwise_left_shift = _of_two(
    "bitwise_left_shift", "Bits of `x1` shifted left by `x2` places, filled with zeros.", label="_ << _"
)
bitwise_right_shift = _of_two(
    "bitwise_right_shift", "Bits of `x1` shifted right by `x2` places, filled with the sign bit.", label="_ >> _"
)
equal = _of_two("equal", "Whether elements are equal.", label="_ == _", same_dtype=False)
not_equal = _of_two("not_equal", "Whether elements differ.", label="_ != _", same_dtype=False)
less = _of_two("less", "Whether ``x1 < x2``, elementwise.", label="_ < _", same_dtype=False)
less_equal = _of_two("less_equal", "Whether ``x1 <= x2``, elementwise.", label="_ <= _", same_dtype=False)
greater = _of_two("greater", "Whether ``x1 > x2``, elementwise.", label="_ > _", same_dtype=False)
greater_equal = _of_two("greater_equal", "Whether ``x1 >= x2``, elementwise.", label="_ >= _", same_dtype=False)
