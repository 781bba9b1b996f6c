"""Comparisons, logical and bitwise functions, and tests for special numbers."""

from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise(same_dtype=False)
def logical_and(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether both elements are true."""
    return xp.logical_and(x1, x2)


@elementwise(same_dtype=False)
def logical_or(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether at least one of the elements is true."""
    return xp.logical_or(x1, x2)


@elementwise(same_dtype=False)
def logical_xor(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether exactly one of the elements is true."""
    return xp.logical_xor(x1, x2)


@elementwise(same_dtype=False)
def logical_not(xp: Namespace, x: AnyArray, /) -> Array:
    """Whether elements are false."""
    return xp.logical_not(x)


@elementwise(same_dtype=False)
def isfinite(xp: Namespace, x: AnyArray, /) -> Array:
    """Whether elements are finite."""
    return xp.isfinite(x)


@elementwise(same_dtype=False)
def isinf(xp: Namespace, x: AnyArray, /) -> Array:
    """Whether elements are infinite."""
    return xp.isinf(x)


@elementwise(same_dtype=False)
def isnan(xp: Namespace, x: AnyArray, /) -> Array:
    """Whether elements are not a number."""
    return xp.isnan(x)


@elementwise(label="_ & _")
def bitwise_and(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bitwise and."""
    return xp.bitwise_and(x1, x2)


@elementwise(label="_ | _")
def bitwise_or(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bitwise or."""
    return xp.bitwise_or(x1, x2)


@elementwise(label="_ ^ _")
def bitwise_xor(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bitwise exclusive or."""
    return xp.bitwise_xor(x1, x2)


@elementwise(label="__invert__")
def bitwise_invert(xp: Namespace, x: AnyArray, /) -> Array:
    """Bitwise not; the logical one for booleans."""
    return xp.bitwise_invert(x)


@elementwise(label="_ << _")
def bitwise_left_shift(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits of `x1` shifted left by `x2` places, filled with zeros."""
    return xp.bitwise_left_shift(x1, x2)


@elementwise(label="_ >> _")
def bitwise_right_shift(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits of `x1` shifted right by `x2` places, filled with the sign bit."""
    return xp.bitwise_right_shift(x1, x2)


@elementwise(label="_ == _", same_dtype=False)
def equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements are equal."""
    return xp.equal(x1, x2)


@elementwise(label="_ != _", same_dtype=False)
def not_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether elements differ."""
    return xp.not_equal(x1, x2)


@elementwise(label="_ < _", same_dtype=False)
def less(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 < x2``, elementwise."""
    return xp.less(x1, x2)


@elementwise(label="_ <= _", same_dtype=False)
def less_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 <= x2``, elementwise."""
    return xp.less_equal(x1, x2)


@elementwise(label="_ > _", same_dtype=False)
def greater(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 > x2``, elementwise."""
    return xp.greater(x1, x2)


@elementwise(label="_ >= _", same_dtype=False)
def greater_equal(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Whether ``x1 >= x2``, elementwise."""
    return xp.greater_equal(x1, x2)
