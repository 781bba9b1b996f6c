"""Modified Bessel functions of integer order: power series, integrals of NIST DLMF 10.32, and Hankel's expansions."""

import math

from xpgrad.special.bessel import angles, hankel, logarithmic_series, power_series
from xpgrad.special.constants import polynomial
from xpgrad.special.operands import special, where_scalars
from xpgrad.special.quadrature import trapezoids, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["i0", "i0e", "i1", "i1e", "iv_of", "ive_of", "k0", "k0e", "k1", "k1e"]


SUBTRACTED = 18.0  # above this, derivatives of scaled functions are not differences of such functions


def _i_slope(xp: Namespace, x: Array, n: int) -> Array:
    of = xp.special.iv_of
    return of(x, n=1) if n == 0 else 0.5 * (of(x, n=n - 1) + of(x, n=n + 1))


def _slope_by_hankel(xp: Namespace, x: Array, n: int, sign: int) -> Array:
    """Return the derivative of ``x**-0.5`` times Hankel's expansion, without cancellation, for large `x`."""
    inverse = 1 / x
    coefficients = tuple(-(k + 0.5) * sign**k * c for k, c in enumerate(hankel(n, 40)))
    return polynomial(inverse, coefficients) * (inverse * xp.sqrt(inverse))


def _ie_slope(xp: Namespace, x: Array, y: Array, n: int) -> Array:
    of, limit = xp.special.ive_of, SUBTRACTED + 0.25 * n * n
    far = xp.abs(x) > limit
    near, large = xp.where(far, 0.0, x), xp.where(far, xp.abs(x), limit)
    slope = of(near, n=1) if n == 0 else 0.5 * (of(near, n=n - 1) + of(near, n=n + 1))
    outer = _slope_by_hankel(xp, large, n, -1) / math.sqrt(2 * math.pi)
    outer = outer if n % 2 else xp.where(x < 0, -outer, outer)
    return xp.where(far, outer, slope - xp.sign(near) * y)


def _ke_slope(xp: Namespace, x: Array, near: Array, n: int) -> Array:
    """Return the derivative for large `x`, otherwise `near`."""
    far = x > SUBTRACTED
    outer = math.sqrt(math.pi / 2) * _slope_by_hankel(xp, xp.where(far, x, SUBTRACTED), n, 1)
    return xp.where(far, outer, near)


@special(x=lambda xp, gy, x, y, n: gy * _ie_slope(xp, x, y, n))
def ive_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Modified Bessel function of the first kind of order `n`, times ``exp(-abs(x))``, elementwise.

    The default body is for orders up to about 8.
    """
    size = xp.abs(x)
    near, far = size < 8, size > 40
    small = xp.where(near, size, 0.0)
    small = xp.exp(-small) * power_series(small, n, 1, 34)
    middle = xp.where(near | far, 1.0, size)[..., None]
    inner = weighted_sum(xp, lambda u: xp.exp(middle * (xp.cos(u) - 1)) * xp.cos(n * u), *angles(), size)
    large = xp.where(far, size, 41.0)
    alternating = tuple((-1) ** k * c for k, c in enumerate(hankel(n)))
    outer = polynomial(1 / large, alternating) / xp.sqrt(2 * math.pi * large)
    y = xp.where(near, small, xp.where(far, outer, inner))
    return xp.where(x < 0, -y, y) if n % 2 else y


@special(x=lambda xp, gy, x, n: gy * _i_slope(xp, x, n))
def iv_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Modified Bessel function of the first kind of order `n`, elementwise."""
    limit = math.log(float(xp.finfo(x.dtype).max))
    overflows = xp.abs(x) > limit
    value = xp.exp(xp.where(overflows, 0.0, xp.abs(x))) * xp.special.ive_of(x, n=n)
    return xp.where(overflows, where_scalars(xp, (x < 0) & (n % 2 == 1), -math.inf, math.inf, x), value)


@special(x=lambda xp, gy, x: gy * xp.special.i1(x))
def i0(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the first kind of order 0, elementwise."""
    return xp.special.iv_of(x, n=0)


@special(x=lambda xp, gy, x: gy * (0.5 * (xp.special.i0(x) + xp.special.iv_of(x, n=2))))
def i1(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the first kind of order 1, elementwise."""
    return xp.special.iv_of(x, n=1)


@special(x=lambda xp, gy, x, y: gy * _ie_slope(xp, x, y, 0))
def i0e(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the first kind of order 0, times ``exp(-abs(x))``, elementwise."""
    return xp.special.ive_of(x, n=0)


@special(x=lambda xp, gy, x, y: gy * _ie_slope(xp, x, y, 1))
def i1e(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the first kind of order 1, times ``exp(-abs(x))``, elementwise."""
    return xp.special.ive_of(x, n=1)


def _second_kind(xp: Namespace, x: Array, n: int) -> Array:
    """Return the modified Bessel function of the second kind of order 0 or 1, times ``exp(x)``."""
    inside, near = (x > 0) & ~xp.isinf(x), x < 1
    smooth, pole = logarithmic_series(xp, xp.where(inside & near, x, 1.0), n, 1, 14)
    small = (smooth + pole if n else -smooth) * xp.exp(xp.where(near, x, 0.0))
    safe = xp.where(inside & ~near, x, 1.0)
    top, count = xp.acosh(1 + 60 / safe), 120
    column = safe[..., None]

    def f(u: Array) -> Array:
        t = top[..., None] * u
        half = xp.sinh(0.5 * t)
        falling = xp.exp(-2 * column * half * half)
        return falling * xp.cosh(t) if n else falling

    y = xp.where(near, small, top * weighted_sum(xp, f, *trapezoids(count), safe))
    return xp.where(inside, y, xp.where(x == 0, math.inf, where_scalars(xp, x > 0, 0.0, math.nan, x)))


@special(x=lambda xp, gy, x, y: gy * _ke_slope(xp, x, y - xp.special.k1e(x), 0))
def k0e(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the second kind of order 0, times ``exp(x)``, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return _second_kind(xp, x, 0)


@special(x=lambda xp, gy, x, y: gy * _ke_slope(xp, x, y - xp.special.k0e(x) - y / x, 1))
def k1e(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the second kind of order 1, times ``exp(x)``, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return _second_kind(xp, x, 1)


@special(x=lambda xp, gy, x: gy * -xp.special.k1(x))
def k0(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the second kind of order 0, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return xp.special.k0e(x) * xp.exp(xp.negative(x))


@special(x=lambda xp, gy, x, y: gy * (-xp.special.k0(x) - y / x))
def k1(xp: Namespace, x: AnyArray, /) -> Array:
    """Modified Bessel function of the second kind of order 1, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return xp.special.k1e(x) * xp.exp(xp.negative(x))
