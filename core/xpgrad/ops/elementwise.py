"""Elementwise functions of two arrays that NumPy has and the standard lacks."""

from xpgrad.array_api.elementwise.exponential import LOG_2, weighted
from xpgrad.graph.primitive import elementwise
from xpgrad.special.operands import promoted
from xpgrad.types import Array, Namespace


@elementwise(x1=lambda xp, gy: gy, x2=lambda xp, gy, x1, x2, y: -gy * xp.round((x1 - y) / x2))
def fmod(xp: Namespace, x1: Array, x2: Array, /) -> Array:
    """Remainder of the division, with the sign of `x1`, elementwise; it is exact.

    Parameters
    ----------
    x1, x2 : Variable or array, real
        The gradient of `x2` is minus the truncated quotient.
    """
    remainder, negative = abs(x1) % abs(x2), x1 < 0
    if isinstance(negative, bool):  # of a scalar
        return -remainder if negative else remainder
    return xp.where(negative, -remainder, remainder)


@promoted
@elementwise(
    x1=lambda xp, gy, x1, x2: weighted(xp, gy, x1, x2, LOG_2),
    x2=lambda xp, gy, x1, x2: weighted(xp, gy, x2, x1, LOG_2),
)
def logaddexp2(xp: Namespace, x1: Array, x2: Array, /) -> Array:
    """Logarithm to base 2 of ``2**x1 + 2**x2``, without overflow, elementwise.

    Where both inputs are minus infinity the gradient is 0.
    """
    larger = xp.maximum(x1, x2)
    more = xp.log1p(xp.exp(abs(x1 - x2) * -LOG_2)) / LOG_2
    return larger + xp.where(x1 == x2, 1.0, more)  # the difference of equal infinities is NaN
