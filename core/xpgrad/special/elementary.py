"""Elementary functions: powers, degrees, and quotients that are smooth where numerator and denominator vanish."""

import functools
import math
from itertools import count
from typing import cast

from xpgrad.array_api.elementwise.exponential import exp, expm1
from xpgrad.array_api.elementwise.magnitude import abs as abs_
from xpgrad.array_api.elementwise.trigonometric import sin
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.gamma_functions import sine, sine_and_cosine
from xpgrad.special.operands import composed, special, where_scalars
from xpgrad.special.quadrature import unit_integral
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "boxcox", "boxcox1p", "cbrt", "cosdg", "cosm1", "cotdg", "exp2", "exp10", "exprel", "exprel_of", "inv_boxcox",
    "inv_boxcox1p", "log1prel_of", "radian", "sinc", "sinc_of", "sindg", "tandg",
]  # fmt: skip

LOG_2, LOG_10 = math.log(2), math.log(10)
DEGREE = math.pi / 180


@special(x=lambda xp, gy, y: gy / (3 * (y * y)))
def cbrt(xp: Namespace, x: AnyArray, /) -> Array:
    """Real cube root, elementwise.

    At 0 the gradient is infinite.
    """
    size = xp.abs(x)
    plain = (size > 0) & ~xp.isinf(size)
    safe = xp.where(plain, size, 1.0)
    y = xp.pow(safe, xp.full_like(safe, 1 / 3))
    y = y - (y - safe / (y * y)) / 3  # 1 / 3 is rounded
    y = xp.where(plain, y, size)
    return xp.where(x < 0, -y, y)


@special(of_complex=lambda x: exp(x * LOG_2), x=lambda xp, gy, y: gy * (y * LOG_2))
def exp2(xp: Namespace, x: AnyArray, /) -> Array:
    """Power of 2, elementwise."""
    return xp.pow(xp.full_like(x, 2.0), x)


@special(x=lambda xp, gy, y: gy * (y * LOG_10))
def exp10(xp: Namespace, x: AnyArray, /) -> Array:
    """Power of 10, elementwise."""
    return xp.pow(xp.full_like(x, 10.0), x)


@special(x=lambda xp, gy, x: gy * -xp.sin(x))
def cosm1(xp: Namespace, x: AnyArray, /) -> Array:
    """``cos(x) - 1``, accurate near 0, elementwise."""
    half = xp.sin(0.5 * x)
    return -2 * half * half


@special(x=lambda xp, gy, x: gy * xp.special.exprel_of(x, n=1))
def exprel(xp: Namespace, x: AnyArray, /) -> Array:
    """``(exp(x) - 1) / x``, and 1 at 0, elementwise."""
    zero = x == 0
    infinite = xp.isinf(x)
    safe = xp.where(zero | infinite, 1.0, x)
    edge = where_scalars(xp, x > 0, math.inf, 0.0, x)
    return xp.where(zero, 1.0, xp.where(infinite, edge, xp.expm1(safe) / safe))


@special(x=lambda xp, gy, x, n: gy * xp.special.exprel_of(x, n=n + 1))
def exprel_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `exprel` of order `n`, the integral of ``u**n * exp(x * u)`` from 0 to 1, elementwise."""
    near = xp.abs(x) < 4
    small = xp.where(near, x, 0.0)[..., None]
    inner = unit_integral(xp, lambda u: u**n * xp.exp(small * u), 24, x)
    large = xp.where(near, 4.0, x)
    outer = xp.expm1(large) / large
    for k in range(1, n + 1):
        outer = (xp.exp(large) - k * outer) / large
    return xp.where(near, inner, outer)


@special(x=lambda xp, gy, x, n: gy * xp.special.log1prel_of(x, n=n + 1))
def log1prel_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of ``log(1 + x) / x`` of order `n`, which is smooth at 0, elementwise, for `x` greater than -1."""
    near = xp.abs(x) < 0.6
    small = xp.where(near, x, 0.0)[..., None]
    inner = (-1) ** n * math.factorial(n) * unit_integral(xp, lambda u: u**n / (1 + small * u) ** (n + 1), 24, x)
    large = xp.where(near, 1.0, x)
    outer = xp.log1p(large) / large
    for k in range(1, n + 1):
        outer = ((-1) ** (k - 1) * math.factorial(k - 1) / (1 + large) ** k - k * outer) / large
    return xp.where(near, inner, outer)


_SINC_COEFFICIENTS = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(9)]


def _complex_sinc(x: Variable) -> Variable:
    """Return `sinc` of complex numbers: near 0 by a power series, so that derivatives are accurate there too."""
    z = x * math.pi
    small = abs_(z) < 0.5
    square = where(small, z * z, 0.0)
    series = square * _SINC_COEFFICIENTS[-1] + _SINC_COEFFICIENTS[-2]
    for term in _SINC_COEFFICIENTS[-3::-1]:
        series = series * square + term
    away = where(small, 1.0, z)
    return where(small, series, sin(away) / away)


@special(of_complex=_complex_sinc, x=lambda xp, gy, x: gy * xp.special.sinc_of(x, n=1))
def sinc(xp: Namespace, x: AnyArray, /) -> Array:
    """Normalised sine ``sin(pi * x) / (pi * x)``, elementwise; 1 at 0, and 0 at the other integers."""
    zero = x == 0
    safe = xp.where(zero, 1.0, x)
    return xp.where(zero, 1.0, sine(xp, safe) / (math.pi * safe))


@functools.lru_cache(16)
def _sinc_series(n: int) -> list[float]:
    """Return the coefficients of the power series of the derivative of order `n` that matter up to 1."""
    coefficients: list[float] = []
    for k in count((n + 1) // 2):
        coefficients.append((-1) ** k * math.pi ** (2 * k) / ((2 * k + 1) * math.factorial(2 * k - n)))
        if abs(coefficients[-1]) < 1e-18 * math.pi**n:
            return coefficients
    raise AssertionError  # the factorial outgrows the power


@special(x=lambda xp, gy, x, n: gy * xp.special.sinc_of(x, n=n + 1))
def sinc_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `sinc` of order `n`, elementwise."""
    near = xp.abs(x) < 1
    small = xp.where(near, x, 0.0)
    square = small * small
    *rest, inner = _sinc_series(n)
    for coefficient in reversed(rest):
        inner = inner * square + coefficient
    large = xp.where(near, 1.0, x)
    sin_large, cos_large = sine_and_cosine(xp, large)
    outer = sin_large / (math.pi * large)
    for k in range(1, n + 1):
        rotated = (sin_large, cos_large, -sin_large, -cos_large)[k % 4]
        outer = (math.pi ** (k - 1) * rotated - k * outer) / large
    return xp.where(near, inner * small if n % 2 else inner, outer)


def _boxcox_by_power(xp: Namespace, x: Array, lmbda: Array) -> Array:
    log, edge = xp.log(xp.where(x == 0, 1.0, x)), 1 / xp.square(xp.where((x == 0) & (lmbda > 0), lmbda, math.nan))
    edge = edge + xp.cornered(xp.zeros_like(edge), (x == 0) & (lmbda < 1), x)
    return xp.where(x == 0, edge, xp.square(log) * xp.special.exprel_of(lmbda * log, n=1))


@special(
    x=lambda xp, gy, x, lmbda: gy * xp.pow(x, lmbda - 1),
    lmbda=lambda xp, gy, x, lmbda: gy * _boxcox_by_power(xp, x, lmbda),
)
def boxcox(xp: Namespace, x: RealOperand, lmbda: RealOperand, /) -> Array:
    """Box–Cox transform ``(x**lmbda - 1) / lmbda``, and ``log(x)`` at ``lmbda == 0``, elementwise.

    `x` must not be negative; otherwise the result is NaN.
    """
    inside = x > 0
    log = xp.log(xp.where(inside, x, 1.0))
    edge = xp.where(lmbda > 0, -1 / xp.where(lmbda > 0, lmbda, 1.0), -math.inf)
    return xp.where(inside, log * xp.special.exprel(lmbda * log), xp.where(x == 0, edge, math.nan))


@special(
    x=lambda xp, gy, x, lmbda: gy * xp.exp((lmbda - 1) * xp.log1p(x)),
    lmbda=lambda xp, gy, x, lmbda: gy * (xp.square(xp.log1p(x)) * xp.special.exprel_of(lmbda * xp.log1p(x), n=1)),
)
def boxcox1p(xp: Namespace, x: RealOperand, lmbda: RealOperand, /) -> Array:
    """Box–Cox transform of ``1 + x``, accurate near 0, elementwise, for `x` greater than -1."""
    log = xp.log1p(x)
    return log * xp.special.exprel(lmbda * log)


@composed
def inv_boxcox1p(y: RealOperand, lmbda: RealOperand, /) -> Variable:
    """Return the inverse of `boxcox1p` in its first argument, elementwise, for ``lmbda * y`` greater than -1."""
    return expm1(y * log1prel_of(cast("Variable", lmbda) * y, n=0))


@composed
def inv_boxcox(y: RealOperand, lmbda: RealOperand, /) -> Variable:
    """Return the inverse of `boxcox` in its first argument, elementwise, for ``lmbda * y`` greater than -1."""
    return exp(y * log1prel_of(cast("Variable", lmbda) * y, n=0))


def _turned(xp: Namespace, x: Array) -> Array:
    """Return angles in degrees without whole turns, which is exact."""
    turn = xp.full_like(x, 360.0)
    return xp.where(x < 0, -xp.remainder(xp.abs(x), turn), xp.remainder(x, turn))


@special(x=lambda xp, gy, x: gy * (DEGREE * xp.special.cosdg(x)))
def sindg(xp: Namespace, x: AnyArray, /) -> Array:
    """Sine of an angle `x` in degrees, exact at right angles, elementwise."""
    return sine(xp, _turned(xp, x) / 180)


@special(x=lambda xp, gy, x: gy * (-DEGREE * xp.special.sindg(x)))
def cosdg(xp: Namespace, x: AnyArray, /) -> Array:
    """Cosine of an angle `x` in degrees, exact at right angles, elementwise."""
    return sine(xp, (_turned(xp, x) + 90) / 180)


@special(x=lambda xp, gy, y: gy * (DEGREE * (1 + y * y)))
def tandg(xp: Namespace, x: AnyArray, /) -> Array:
    """Tangent of an angle `x` in degrees, elementwise."""
    return xp.special.sindg(x) / xp.special.cosdg(x)


@special(x=lambda xp, gy, y: gy * (-DEGREE * (1 + y * y)))
def cotdg(xp: Namespace, x: AnyArray, /) -> Array:
    """Cotangent of an angle `x` in degrees, elementwise."""
    return xp.special.cosdg(x) / xp.special.sindg(x)


@composed
def radian(d: RealOperand, m: RealOperand, s: RealOperand, /) -> Variable:
    """Return an angle of degrees, minutes and seconds in radians, elementwise."""
    return DEGREE * (cast("Variable", d) + m / 60 + s / 3600)
