"""Airy functions and their derivatives, by Bessel functions of the orders 1/3 and 2/3, and by series (NIST DLMF 9)."""

import math
from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.special.operands import composed, special
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["airy", "airy_of"]

AT_0, SLOPE_AT_0 = 0.355028053887817239, 0.258819403792806798
"""Ai at 0, and minus its derivative there."""
ROOT_3 = math.sqrt(3)


def _near(xp: Namespace, x: Array, n: int) -> Array:
    """Return the power series around 0 (NIST DLMF 9.4)."""
    cube, slope = x * x * x, n % 2
    first: Any = xp.zeros_like(x) if slope else xp.ones_like(x)
    second: Any = xp.ones_like(x) if slope else x
    one, two = xp.ones_like(x), x
    for k in range(1, 13):
        one, two = one * (cube / ((3 * k - 1) * 3 * k)), two * (cube / (3 * k * (3 * k + 1)))
        if slope:  # divided by x after the factor, so that 0 is no exception
            first = first + 3 * k * _over(xp, one, x)
            second = second + (3 * k + 1) * _over(xp, two, x)
        else:
            first, second = first + one, second + two
    if n < 2:
        return AT_0 * first - SLOPE_AT_0 * second
    return ROOT_3 * (AT_0 * first + SLOPE_AT_0 * second)


def _over(xp: Namespace, y: Array, x: Array) -> Array:
    origin = x == 0
    return xp.where(origin, 0.0, y / xp.where(origin, 1.0, x))


def _right(xp: Namespace, x: Array, n: int) -> Array:
    zeta, root = 2 / 3 * x * xp.sqrt(x), xp.sqrt(x / 3)
    order = xp.full_like(x, (1 + n % 2) / 3)
    falling = xp.special.kve(order, zeta) * xp.exp(-zeta)
    if n < 2:
        return (-x / (math.pi * ROOT_3) if n else root / math.pi) * falling
    growing = 2 * xp.special.ive(order, zeta) * xp.exp(zeta) + ROOT_3 / math.pi * falling
    return (x / ROOT_3 if n == 3 else root) * growing


def _left(xp: Namespace, z: Array, n: int) -> Array:
    zeta, root = 2 / 3 * z * xp.sqrt(z), xp.sqrt(z)
    order = xp.full_like(z, (1 + n % 2) / 3)
    j, y = xp.special.jv(order, zeta), xp.special.yv(order, zeta)
    if n % 2 == 0:
        return root / 2 * (j - y / ROOT_3) if n == 0 else -root / 2 * (j / ROOT_3 + y)
    return z / 2 * (j + y / ROOT_3) if n == 1 else z / 2 * (j / ROOT_3 - y)


@special(
    x=lambda xp, gy, x, n: gy * (x * xp.special.airy_of(x, n=n - 1)) if n % 2 else gy * xp.special.airy_of(x, n=n + 1)
)
def airy_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Ai, its derivative, Bi or its derivative, for `n` from 0 to 3, elementwise.

    The default body is for `x` from about -25 to 100.
    """
    near = xp.abs(x) < 1
    high, low = x >= 1, x <= -1
    right = _right(xp, xp.where(high, x, 1.0), n)
    left = _left(xp, xp.where(low, xp.negative(x), 1.0), n)
    return xp.where(near, _near(xp, xp.where(near, x, 0.0), n), xp.where(high, right, left))


@composed
def airy(x: AnyArray, /) -> tuple[Variable, ...]:
    """Return the Airy functions Ai and Bi with their derivatives: Ai, Ai', Bi, Bi', elementwise."""
    return tuple(airy_of(x, n=n) for n in range(4))
