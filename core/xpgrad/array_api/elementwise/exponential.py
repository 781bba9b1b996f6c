"""Exponentials and logarithms, elementwise."""

import math

from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand

LOG_2 = math.log(2)
LOG_10 = math.log(10)


@elementwise(x=lambda xp, gy, y: gy * y)
def exp(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential, elementwise."""
    return xp.exp(x)


@elementwise(x=lambda xp, gy, y: gy * (y + 1))
def expm1(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential minus 1, accurate near 0, elementwise."""
    return xp.expm1(x)


@elementwise(x=lambda xp, gy, x: gy / x)
def log(xp: Namespace, x: AnyArray, /) -> Array:
    """Natural logarithm, elementwise."""
    return xp.log(x)


@elementwise(x=lambda xp, gy, x: gy / (x + 1))
def log1p(xp: Namespace, x: AnyArray, /) -> Array:
    """Natural logarithm of ``1 + x``, accurate near 0, elementwise."""
    return xp.log1p(x)


@elementwise(x=lambda xp, gy, x: gy / (x * LOG_2))
def log2(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm to base 2, elementwise."""
    return xp.log2(x)


@elementwise(x=lambda xp, gy, x: gy / (x * LOG_10))
def log10(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm to base 10, elementwise."""
    return xp.log10(x)


def _weighted(xp: Namespace, gy: Array, x: Array, y: Array) -> Array:
    """Return `gy` times the softmax weight of `x`; 0 where both exponentials are 0."""
    return gy * xp.exp(x - xp.where(y == -math.inf, 0.0, y))


@elementwise(
    x1=lambda xp, gy, x1, y: _weighted(xp, gy, x1, y),
    x2=lambda xp, gy, x2, y: _weighted(xp, gy, x2, y),
)
def logaddexp(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Logarithm of ``exp(x1) + exp(x2)``, without overflow, elementwise.

    Where both inputs are minus infinity the gradient is 0.
    """
    return xp.logaddexp(x1, x2)
