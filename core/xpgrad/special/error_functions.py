"""The error function and its relatives, and the normal distribution."""

import math

from xpgrad.special.complex_functions import complex_erf, complex_erfc
from xpgrad.special.constants import polynomial
from xpgrad.special.operands import special, where_scalars
from xpgrad.types import AnyArray, Array, Namespace

__all__ = [
    "erf", "erfc", "erfc_quotient_of", "erfcinv", "erfcx", "erfinv", "inverse_mills", "log_ndtr", "mills_excess",
    "ndtr", "ndtri",
]  # fmt: skip

ROOT_2 = math.sqrt(2)
ROOT_PI = math.sqrt(math.pi)
SLOPE = 2 / ROOT_PI
DENSITY = 1 / math.sqrt(2 * math.pi)
LOG_ROOT_2_PI = math.log(2 * math.pi) / 2
STEP = 0.5  # of the trapezoidal rule for erfcx, whose error is exp(-(pi / STEP)**2)
WINITZKI = 0.147
KUMMER = tuple(2.0**k / math.prod(range(3, 2 * k + 2, 2)) for k in range(21))


def _near_zero(xp: Namespace, x: Array) -> Array:
    """Return erf for ``abs(x) <= 1`` by Kummer's series, whose terms have the same sign."""
    square = x * x
    return SLOPE * x * xp.exp(-square) * polynomial(square, KUMMER)


def _scaled(xp: Namespace, x: Array) -> Array:
    """Return erfcx for ``x >= 0.5`` by the trapezoidal rule, minus the residue of the pole.

    F. Matta, A. Reichel: Uniform computation of the error function and other related functions, Math. Comp. 25 (1971).
    """
    total = 0.5 / x
    for k in range(1, 14):
        total = total + math.exp(-((k * STEP) ** 2)) / (x + (k * STEP) ** 2 / x)
    near = xp.where(x < 6, x, 6.0)
    residue = 2 * xp.exp(near * near) / xp.expm1((2 * math.pi / STEP) * near)
    return (2 * STEP / math.pi) * total - xp.where(x < 6, residue, 0.0)


def _gauss(xp: Namespace, x: Array, factor: float = 1.0) -> Array:
    """Return ``exp(-factor * x * x)``, accurate for large `x`: part of the square is exact."""
    x = xp.minimum(xp.abs(x), xp.full_like(x, 60.0))
    coarse = xp.floor(16 * x) / 16
    return xp.exp(-factor * coarse * coarse) * xp.exp(-factor * (x - coarse) * (x + coarse))


@special(of_complex=complex_erf, x=lambda xp, gy, x: gy * (SLOPE * xp.exp(-x * x)))
def erf(xp: Namespace, x: AnyArray, /) -> Array:
    """Error function, ``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to `x`, elementwise."""
    size = xp.abs(x)
    small = size <= 1
    wide = xp.where(small, 1.0, size)
    tail = 1 - _gauss(xp, wide) * _scaled(xp, wide)
    return xp.where(small, _near_zero(xp, xp.where(small, x, 0.0)), xp.where(x < 0, -tail, tail))


@special(of_complex=complex_erfc, x=lambda xp, gy, x: gy * (-SLOPE * xp.exp(-x * x)))
def erfc(xp: Namespace, x: AnyArray, /) -> Array:
    """Complementary error function, ``1 - erf(x)``, accurate where it is small, elementwise."""
    size = xp.abs(x)
    small = size < 0.5
    wide = xp.where(small, 0.5, size)
    tail = _gauss(xp, wide) * _scaled(xp, wide)
    return xp.where(small, 1 - _near_zero(xp, xp.where(small, x, 0.0)), xp.where(x < 0, 2 - tail, tail))


@special(x=lambda xp, gy, x, y: gy * (-ROOT_2 * (y * xp.special.mills_excess(-ROOT_2 * x))))
def erfcx(xp: Namespace, x: AnyArray, /) -> Array:
    """Scaled complementary error function, ``exp(x**2) * erfc(x)``, elementwise.

    The result overflows to infinity below about -26 (float32: -9).
    """
    largest = math.log(float(xp.finfo(x.dtype).max)) - 1
    size = xp.abs(x)
    small = size < 0.5
    scaled = _scaled(xp, xp.where(small, 0.5, size))
    overflows = (x < 0) & (size > math.sqrt(largest))
    square = xp.where(overflows | ~(x < 0.5), 0.0, x * xp.where(overflows, 0.0, x))
    growing = xp.exp(square)
    middle = growing * (1 - _near_zero(xp, xp.where(small, x, 0.0)))
    return xp.where(small, middle, xp.where(overflows, math.inf, xp.where(x < 0, 2 * growing - scaled, scaled)))


@special(x=lambda xp, gy, y: gy * (ROOT_PI / 2 * xp.exp(y * y)))
def erfinv(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse of the error function, elementwise.

    From -1 to 1; at these the result and its gradient are infinite, outside it is NaN.
    """
    size = xp.abs(x)
    central = size < 0.5
    inner = xp.where(central, x, 0.0)
    y = _start(xp, inner, 1 - inner * inner)
    y = _central(xp, y, inner)
    tail = _inverse_tail(xp, xp.where(central, 0.5, 1 - size))
    return xp.where(central, y, xp.where(x < 0, -tail, tail))


def _erfcinv_slope(xp: Namespace, x: Array, y: Array) -> Array:
    """Return the derivative; in the tails from `x`, which has more digits of ``exp(y * y)`` than `y`."""
    tail = xp.where(x < 1, x, 2 - x)
    far = (xp.abs(y) > 3) & (tail > 0)
    quotient = xp.special.erfcx(xp.abs(xp.where(far, y, 3.0))) / xp.where(far, tail, 1.0)
    return -ROOT_PI / 2 * xp.where(far, quotient, xp.exp(y * y))


@special(x=lambda xp, gy, x, y: gy * _erfcinv_slope(xp, x, y))
def erfcinv(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse of the complementary error function, elementwise.

    From 0 to 2; at these the result and its gradient are infinite, outside it is NaN.
    """
    central = (x > 0.5) & (x < 1.5)
    inner = xp.where(central, 1 - x, 0.0)
    y = _start(xp, inner, 1 - inner * inner)
    y = _central(xp, y, inner)
    upper = x > 1
    tail = _inverse_tail(xp, xp.where(central, 0.5, xp.where(upper, 2 - x, x)))
    return xp.where(central, y, xp.where(upper, -tail, tail))


def _start(xp: Namespace, x: Array, product: Array) -> Array:
    """Return the inverse of erf to 3 digits; `product` is ``(1 - x) * (1 + x)``.

    S. Winitzki: A handy approximation for the error function and its inverse, 2008.
    """
    log = xp.log(product)
    half = 2 / (math.pi * WINITZKI) + log / 2
    square = (-log / WINITZKI) / (xp.sqrt(half * half - log / WINITZKI) + half)
    root = xp.sqrt(xp.maximum(square, xp.zeros_like(square)))
    return xp.where(x < 0, -root, root)


def _central(xp: Namespace, y: Array, x: Array) -> Array:
    """Return the inverse of erf at small numbers from an approximation `y`, by Halley's method."""
    for _ in range(2):
        step = (_near_zero(xp, y) - x) / (SLOPE * xp.exp(-y * y))
        y = y - step / (1 + y * step)
    return y


def _inverse_tail(xp: Namespace, q: Array) -> Array:
    """Return the inverse of erfc for ``q <= 0.5`` by Halley's method for its logarithm."""
    inside = q > 0
    safe = xp.where(inside, q, 0.5)
    goal = xp.log(safe)
    y = _start(xp, safe, safe * (2 - safe))
    for _ in range(3):
        scaled = _scaled(xp, xp.where(y < 0.5, 0.5, y))
        scaled = xp.where(y < 0.5, xp.exp(y * y) * (1 - _near_zero(xp, xp.where(y < 0.5, y, 0.0))), scaled)
        off, step = xp.log(scaled) - y * y - goal, scaled / SLOPE
        y = y + off * step / (1 - off * (y * step - 0.5))
    return xp.where(inside, y, where_scalars(xp, q == 0, math.inf, math.nan, y))


@special(x=lambda xp, gy, x: gy * (DENSITY * xp.exp(-0.5 * (x * x))))
def ndtr(xp: Namespace, x: AnyArray, /) -> Array:
    """Distribution function of the standard normal distribution, elementwise."""
    low = x < -1
    left = xp.where(low, x, -1.0)
    tail = 0.5 * _scaled(xp, left * (-1 / ROOT_2)) * _gauss(xp, left, 0.5)
    return xp.where(low, tail, 0.5 * xp.special.erfc(xp.where(low, 0.0, x) * (-1 / ROOT_2)))


@special(x=lambda xp, gy, x: gy * xp.special.inverse_mills(x))
def log_ndtr(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the distribution function of the standard normal distribution, elementwise.

    The result and its derivatives are finite for large negative `x` too, where it is about ``-x**2 / 2``.
    """
    low = x < -1
    left, right = xp.where(low, x, -1.0), xp.where(low, 0.0, x)
    tail = xp.log(0.5 * xp.special.erfcx(left * (-1 / ROOT_2))) - 0.5 * (left * left)
    return xp.where(low, tail, xp.log1p(-0.5 * xp.special.erfc(right * (1 / ROOT_2))))


def _ndtri_slope(xp: Namespace, x: Array, y: Array) -> Array:
    """Return the derivative; in the tails from `x`, which has more digits of the density than `y`."""
    tail = xp.where(x < 0.5, x, 1 - x)
    far = (xp.abs(y) > 4) & (tail > 0)
    density = xp.where(far, tail, 1.0) * xp.special.inverse_mills(-xp.abs(xp.where(far, y, 4.0)))
    return xp.where(far, 1 / density, xp.exp(0.5 * (y * y) + LOG_ROOT_2_PI))


@special(x=lambda xp, gy, x, y: gy * _ndtri_slope(xp, x, y))
def ndtri(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse of `ndtr`: the quantile of the standard normal distribution, elementwise.

    From 0 to 1; at these the result and its gradient are infinite, outside it is NaN.
    """
    return -ROOT_2 * xp.special.erfcinv(2 * x)


@special(x=lambda xp, gy, x, y: gy * (-y * xp.special.mills_excess(x)))
def inverse_mills(xp: Namespace, x: AnyArray, /) -> Array:
    """Density of the standard normal distribution divided by its distribution function, elementwise.

    It is about ``-x`` for large negative `x`.
    """
    low = x < 0
    left, right = xp.where(low, x, 0.0), xp.where(low, 0.0, x)
    tail = math.sqrt(2 / math.pi) / xp.special.erfcx(left * (-1 / ROOT_2))
    return xp.where(low, tail, DENSITY * _gauss(xp, right, 0.5) / xp.special.ndtr(right))


def _excess_slope(xp: Namespace, x: Array, y: Array) -> Array:
    low = x < 0
    quotient = xp.special.erfc_quotient_of(xp.where(low, x, 0.0) * (-1 / ROOT_2), n=2)
    right = 1 - xp.special.inverse_mills(xp.where(low, 0.0, x)) * y
    return xp.where(low, y * (2 * ROOT_2 * quotient - y), right)


@special(x=lambda xp, gy, x, y: gy * _excess_slope(xp, x, y))
def mills_excess(xp: Namespace, x: AnyArray, /) -> Array:
    """Difference of `inverse_mills` from its asymptote ``-x``, elementwise: about ``-1 / x`` for large negative `x`."""
    low = x < 0
    quotient = xp.special.erfc_quotient_of(xp.where(low, x, 0.0) * (-1 / ROOT_2), n=1)
    return xp.where(low, ROOT_2 * quotient, x + xp.special.inverse_mills(xp.where(low, 0.0, x)))


@special(z=lambda xp, gy, z, y, n: gy * (2 * y * (n * y - (n + 1) * xp.special.erfc_quotient_of(z, n=n + 1))))
def erfc_quotient_of(xp: Namespace, z: AnyArray, /, n: int) -> Array:
    """Quotient of the repeated integrals of erfc of order `n` and ``n - 1``, elementwise; for order 0, over erfc.

    Notes
    -----
    A continued fraction for large arguments, its inverse for small ones (NIST DLMF 7.18).
    """
    far = z > 1.2
    large, small = xp.where(far, z, 1.2), xp.where(far, 0.0, z)
    outer = xp.zeros_like(large)
    for k in range((140 if xp.finfo(z.dtype).eps < 1e-9 else 60) + n, n - 1, -1):
        outer = 1 / (2 * large + 2 * (k + 1) * outer)
    inner = ROOT_PI / 2 * xp.special.erfcx(small)
    for k in range(1, n + 1):
        inner = (1 / inner - 2 * small) / (2 * k)
    return xp.where(far, outer, inner)
