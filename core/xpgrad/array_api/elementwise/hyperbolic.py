"""Hyperbolic functions and their inverses, elementwise."""

from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace


@elementwise(x=lambda xp, gy, x: gy * xp.cosh(x))
def sinh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic sine, elementwise."""
    return xp.sinh(x)


@elementwise(x=lambda xp, gy, x: gy * xp.sinh(x))
def cosh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic cosine, elementwise."""
    return xp.cosh(x)


@elementwise(x=lambda xp, gy, y: gy * (1 - y * y))
def tanh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic tangent, elementwise."""
    return xp.tanh(x)


@elementwise(x=lambda xp, gy, x: gy / xp.sqrt(1 + x * x))
def asinh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic sine, elementwise."""
    return xp.asinh(x)


# Two roots: that of the product has the wrong sign in the left half of the complex plane.
@elementwise(x=lambda xp, gy, x: gy / xp.multiply(xp.sqrt(x - 1), xp.sqrt(x + 1)))
def acosh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic cosine, elementwise. The derivative at 1 is infinite."""
    return xp.acosh(x)


@elementwise(x=lambda xp, gy, x: gy / xp.multiply(1 - x, 1 + x))
def atanh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic tangent, elementwise. The derivative at -1 and 1 is infinite."""
    return xp.atanh(x)
