"""Bitwise functions of integers and booleans, elementwise; without gradients."""

from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


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
