"""Bessel functions of integer order.

Their power series near 0, then the integrals of NIST DLMF 10.9 by rules that converge exponentially, then
Hankel's expansions for large arguments.
"""

import math
from typing import Any

from xpgrad.errors import DtypeError
from xpgrad.graph.variable import Variable
from xpgrad.special.constants import polynomial
from xpgrad.special.operands import either, fitted, special
from xpgrad.special.quadrature import integral, summed
from xpgrad.types import WHOLE, AnyArray, Array, Namespace

FAR = 25.0  # from here on Hankel's expansion
ANGLES = 48


def hankel(n: int, count: int = 22) -> tuple[float, ...]:
    """Return the coefficients of Hankel's expansion in ``1 / x``."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
    return tuple(found)


def power_series(x: Array, n: int, sign: int, count: int) -> Array:
    """Return the sum of ``sign**k * (x / 2)**(2 * k + n) / (k! * (k + n)!)``."""
    half = 0.5 * x
    coefficients = tuple(sign**k / (math.factorial(k) * math.factorial(k + n)) for k in range(count))
    return (half**n if n else 1.0) * polynomial(half * half, coefficients)


def _waves(xp: Namespace, x: Array, n: int) -> tuple[Array, Array]:
    """Return both Bessel functions of large numbers."""
    inverse = 1 / x
    square = inverse * inverse
    found = hankel(n)
    p = polynomial(square, tuple((-1) ** k * c for k, c in enumerate(found[::2])))
    q = inverse * polynomial(square, tuple((-1) ** k * c for k, c in enumerate(found[1::2])))
    turn = (0.5 * n + 0.25) * math.pi
    sine, cosine = xp.sin(x), xp.cos(x)
    real = cosine * math.cos(turn) + sine * math.sin(turn)
    imaginary = sine * math.cos(turn) - cosine * math.sin(turn)
    scale = xp.sqrt(2 / math.pi * inverse)
    return scale * (p * real - q * imaginary), scale * (p * imaginary + q * real)


def angles(count: int = ANGLES) -> tuple[list[float], list[float]]:
    """Return the places and shares of the midpoint rule on half a turn, exact for waves up to twice `count`."""
    return [(k + 0.5) * math.pi / count for k in range(count)], [1 / count] * count


def _j_slope(xp: Namespace, x: Array, n: int) -> Array:
    if n == 0:
        return -xp.special.j1(x)
    return 0.5 * (xp.special.jn_of(x, n=n - 1) - xp.special.jn_of(x, n=n + 1))


@special(x=lambda xp, gy, x, n: gy * _j_slope(xp, x, n))
def jn_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Bessel function of the first kind of order `n`, elementwise.

    Parameters
    ----------
    x : Variable or array, real
    n : int
        From 0 on; without a kernel of the backend's own up to about 8.
    """
    size = xp.abs(x)
    near, far = size < 2, size > FAR
    small = power_series(xp.where(near, size, 0.0), n, -1, 16)
    middle = xp.where(near | far, 1.0, size)[..., None]
    inner = summed(xp, lambda u: xp.cos(n * u - middle * xp.sin(u)), *angles(), size)
    outer, _ = _waves(xp, xp.where(far, size, FAR), n)
    y = xp.where(near, small, xp.where(far, outer, inner))
    return xp.where(x < 0, -y, y) if n % 2 else y


@special(x=lambda xp, gy, x: gy * -xp.special.j1(x))
def j0(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the first kind of order 0, elementwise.

    Parameters
    ----------
    x : Variable or array, real
    """
    return xp.special.jn_of(x, n=0)


@special(x=lambda xp, gy, x: gy * _j_slope(xp, x, 1))
def j1(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the first kind of order 1, elementwise.

    Parameters
    ----------
    x : Variable or array, real
    """
    return xp.special.jn_of(x, n=1)


def jn(n: int, x: AnyArray, /) -> Variable:
    """Return the Bessel function of the first kind of order `n`, elementwise.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
    """
    return jn_of(x, n=_order("jn", n))


def _order(name: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, WHOLE) or n < 0:
        raise DtypeError(f"{name}: expected an int from 0 on as the order, got {n!r}")
    return int(n)


def _second(xp: Namespace, x: Array, n: int) -> Array:
    """Return the Bessel function of the second kind of order 0 or 1, by Schläfli's integrals."""
    valid = x > 0
    far = x > FAR
    safe = xp.where(valid & ~far, x, 1.0)
    each = safe[..., None]
    zero = xp.zeros_like(safe)
    waves = integral(xp, lambda u: xp.sin(each * xp.sin(u) - n * u), zero, zero + math.pi, 64)
    top = xp.asinh(45 / safe)

    def falling(t: Array) -> Array:
        return (2.0 if n == 0 else 2 * xp.sinh(t)) * xp.exp(-each * xp.sinh(t))

    inner = (waves - integral(xp, falling, zero, top, 32, 3)) / math.pi
    _, outer = _waves(xp, xp.where(far, x, FAR), n)
    return xp.where(valid, xp.where(far, outer, inner), either(xp, x == 0, -math.inf, math.nan, x))


@special(x=lambda xp, gy, x: gy * -xp.special.y1(x))
def y0(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the second kind of order 0, elementwise.

    Parameters
    ----------
    x : Variable or array, real
        At 0 the result is minus infinity, below it NaN.
    """
    return _second(xp, x, 0)


@special(x=lambda xp, gy, x, y: gy * (xp.special.y0(x) - y / x))
def y1(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the second kind of order 1, elementwise.

    Parameters
    ----------
    x : Variable or array, real
        At 0 the result is minus infinity, below it NaN.
    """
    return _second(xp, x, 1)


def yn(n: int, x: AnyArray, /) -> Variable:
    """Return the Bessel function of the second kind of order `n`, elementwise, by its recurrence.

    Parameters
    ----------
    n : int
        From 0 on.
    x : Variable or array, real
        At 0 the result is minus infinity, below it NaN.
    """
    order = _order("yn", n)
    (x,) = fitted("yn", (x,))
    before, y = y0(x), y1(x)
    if not order:
        return before
    for k in range(1, order):
        before, y = y, (2 * k / x) * y - before
    return y
