"""Logical functions and tests of numbers, elementwise: boolean Variables, without gradients."""

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
