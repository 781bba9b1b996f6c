"""Bits of integers, and truth values, elementwise; without gradients."""

from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise(label="_ & _")
def bitwise_and(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits that are set in both."""
    return xp.bitwise_and(x1, x2)


@elementwise(label="_ | _")
def bitwise_or(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits that are set in at least one."""
    return xp.bitwise_or(x1, x2)


@elementwise(label="_ ^ _")
def bitwise_xor(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits that are set in exactly one."""
    return xp.bitwise_xor(x1, x2)


@elementwise(label="__invert__")
def bitwise_invert(xp: Namespace, x: AnyArray, /) -> Array:
    """Every bit flipped; of truth values the opposite."""
    return xp.bitwise_invert(x)


@elementwise(label="_ << _")
def bitwise_left_shift(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits of `x1` moved to the left by `x2` places, with zeros from the right."""
    return xp.bitwise_left_shift(x1, x2)


@elementwise(label="_ >> _")
def bitwise_right_shift(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Bits of `x1` moved to the right by `x2` places, with the sign bit from the left."""
    return xp.bitwise_right_shift(x1, x2)
