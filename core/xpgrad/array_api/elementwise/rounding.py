"""Rounding, and the sign of real numbers, elementwise: piecewise constant, so without a gradient.

Only the step to the next number has one.
"""

from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise()
def ceil(xp: Namespace, x: AnyArray, /) -> Array:
    """Least integer that is not less, elementwise."""
    return xp.ceil(x)


@elementwise()
def floor(xp: Namespace, x: AnyArray, /) -> Array:
    """Greatest integer that is not greater, elementwise."""
    return xp.floor(x)


@elementwise()
def round(xp: Namespace, x: AnyArray, /) -> Array:
    """Nearest integer, the even one of two, elementwise; real and imaginary part are rounded each."""
    return xp.round(x)


@elementwise()
def trunc(xp: Namespace, x: AnyArray, /) -> Array:
    """Nearest integer towards 0, elementwise."""
    return xp.trunc(x)


@elementwise()
def sign(xp: Namespace, x: AnyArray, /) -> Array:
    """Sign of real numbers, elementwise: -1, 0 or 1. `magnitude.sign` is the one for all numbers."""
    return xp.sign(x)


@elementwise(x1=identity)
def nextafter(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Next representable number after `x1` towards `x2`, elementwise.

    It follows `x1` at the distance of one rounding error, so the derivative is 1 for `x1`, and `x2` has none.
    """
    return xp.nextafter(x1, x2)
