"""Rounding, and the sign of real numbers, elementwise: piecewise constant, so without a gradient.

Only `nextafter` has a gradient.
"""

from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise()
def ceil(xp: Namespace, x: AnyArray, /) -> Array:
    """Least integer not less than the element."""
    return xp.ceil(x)


@elementwise()
def floor(xp: Namespace, x: AnyArray, /) -> Array:
    """Greatest integer not greater than the element."""
    return xp.floor(x)


@elementwise()
def round(xp: Namespace, x: AnyArray, /) -> Array:
    """Nearest integer, elementwise; ties round to even. Real and imaginary parts are rounded separately."""
    return xp.round(x)


@elementwise()
def trunc(xp: Namespace, x: AnyArray, /) -> Array:
    """Nearest integer towards 0, elementwise."""
    return xp.trunc(x)


@elementwise()
def sign(xp: Namespace, x: AnyArray, /) -> Array:
    """Sign of real numbers, elementwise: -1, 0 or 1. `magnitude.sign` also accepts complex numbers."""
    return xp.sign(x)


@elementwise(x1=identity)
def nextafter(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Next representable number after `x1` towards `x2`, elementwise.

    It differs from `x1` by one rounding error, so the derivative with respect to `x1` is 1; `x2` has no gradient.
    """
    return xp.nextafter(x1, x2)
