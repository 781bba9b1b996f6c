"""The gamma function, its logarithm, sign and reciprocal."""

import math
from typing import Any

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.special.complex_functions import complex_loggamma
from xpgrad.special.constants import BERNOULLI, EULER, LOG_GAMMA_2, STIRLING, polynomial
from xpgrad.special.operands import special
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["gamma", "gammaln", "gammasgn", "loggamma", "rgamma", "rgamma_of"]

LOG_ROOT_2_PI = math.log(2 * math.pi) / 2
STIRLING_FROM = 9.0


def stirling_error(xp: Namespace, x: Array) -> Array:
    """Return ``gammaln(x) - (x - 1/2) * log(x) + x - log(2 * pi) / 2`` for positive numbers (DLMF 5.11.1)."""
    large = x >= STIRLING_FROM
    inverse = 1 / xp.where(large, x, STIRLING_FROM)
    series = inverse * polynomial(inverse * inverse, STIRLING)
    small = xp.where(large, 1.0, x)
    return xp.where(large, series, xp.special.gammaln(small) - (small - 0.5) * xp.log(small) + small - LOG_ROOT_2_PI)


def psi_excess(xp: Namespace, x: Array) -> Array:
    """Return ``log(x) - psi(x)`` for positive numbers, without cancellation (DLMF 5.11.2)."""
    shift, total = x < 10, xp.zeros_like(x)
    for k in range(10):
        total = total + 1 / xp.where(shift, x + k, 1.0)
    inverse = 1 / xp.where(shift, x + 10, x)
    series = polynomial(inverse * inverse, tuple(b / (2 * j) for j, b in enumerate(BERNOULLI[:9], 1)))
    return 0.5 * inverse + inverse * inverse * series + xp.where(shift, total + xp.log(x * inverse), 0.0)


def _near_2(x: Array) -> Array:
    """Return ``gammaln(x)`` for x from 1.5 to 2.5."""
    z = x - 2
    return z * polynomial(z, (1 - EULER, *LOG_GAMMA_2))


def _log_gamma(xp: Namespace, x: Array) -> Array:
    """Return ``gammaln(x)`` for ``x > 0``, and NaN for NaN."""
    middle = (x >= 0.5) & (x <= 2.5)
    inner = xp.where(middle, x, 2.0)
    low = inner < 1.5
    near = _near_2(xp.where(low, inner + 1, inner)) - xp.where(low, xp.log(inner), 0.0)
    outer = xp.where(middle, STIRLING_FROM, x)
    shift = outer < STIRLING_FROM
    product = start = xp.where(shift, outer, 1.0)
    for k in range(1, 9):
        product = product * (start + k)
    moved = xp.where(shift, outer + 9, outer)
    inverse = 1 / moved
    large = (moved - 0.5) * xp.log(moved) - moved + LOG_ROOT_2_PI + inverse * polynomial(inverse * inverse, STIRLING)
    return xp.where(middle, near, large - xp.where(shift, xp.log(product), 0.0))


def _reduced(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """Return 1 if the integer nearest to `x` is even, else -1, and ``pi`` times the distance from it."""
    whole = xp.round(x)
    return 1 - 2 * xp.abs(whole - 2 * xp.floor(whole / 2)), (x - whole) * math.pi


def sine(xp: Namespace, x: Array) -> Array:
    """Return ``sin(pi * x)``, exact at integers and halves."""
    sign, rest = _reduced(xp, x)
    return sign * xp.sin(rest)


def sine_and_cosine(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """Return ``sin(pi * x)`` and ``cos(pi * x)``, exact at integers and halves."""
    sign, rest = _reduced(xp, x)
    return sign * xp.sin(rest), sign * xp.cos(rest)


@special(x=lambda xp, gy, x: gy * xp.special.psi(x))
def gammaln(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the absolute value of the gamma function, elementwise.

    At 0 and negative integers the result is infinite.
    """
    infinite = xp.isinf(x)
    pole = (x <= 0) & (x == xp.floor(x)) & ~infinite
    safe = xp.where(pole | infinite, 1.5, x)
    negative = safe < 0
    positive = _log_gamma(xp, xp.where(negative, 1 - safe, safe))
    sine, _ = sine_and_cosine(xp, xp.where(negative, safe, 0.5))
    reflected = xp.log(math.pi / xp.abs(sine)) - positive
    return xp.where(pole | infinite, math.inf, xp.where(negative, reflected, positive))


@special(of_complex=complex_loggamma, x=lambda xp, gy, x: gy * xp.special.psi(x))
def loggamma(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the gamma function, elementwise.

    Below 0, where the gamma function may be negative, the result is NaN; `gammaln` takes its absolute value. Of complex
    numbers it is analytic except on the negative real axis.
    """
    return xp.where(x < 0, math.nan, xp.special.gammaln(xp.where(x < 0, 1.5, x)))


@special()
def gammasgn(xp: Namespace, x: AnyArray, /) -> Array:
    """Sign of the gamma function, elementwise, NaN at negative integers; it has no gradient."""
    whole = xp.floor(x)
    odd = xp.abs(whole - 2 * xp.floor(whole / 2))
    signs = xp.where(x < 0, xp.where(x == whole, math.nan, 1 - 2 * odd), 1.0)
    return xp.where(xp.isnan(x), x, xp.where(x == 0, 1 - 2 * xp.astype(xp.signbit(x), x.dtype), signs))


@special(of_complex=lambda x: exp(complex_loggamma(x)), x=lambda xp, gy, x, y: gy * (y * xp.special.psi(x)))
def gamma(xp: Namespace, x: AnyArray, /) -> Array:
    """Gamma function, elementwise.

    The result overflows to infinity above 171.6 (float32: 35).
    """
    limit = 171.6 if float(xp.finfo(x.dtype).max) > 1e300 else 35.0
    size = xp.where(x < 0, 1 - x, x)
    over = size > limit
    size = xp.where(over, 2.0, size)
    moved, factor = size, xp.ones_like(x)
    for _ in range(10):
        down = (moved > 2.5) & (size < 12)
        moved, factor = xp.where(down, moved - 1, moved), factor * xp.where(down, moved - 1, 1.0)
    up = moved < 1.5
    moved, divisor = xp.where(up, moved + 1, moved), xp.where(up, moved, 1.0)
    up = moved < 1.5
    moved, divisor = xp.where(up, moved + 1, moved), divisor * xp.where(up, moved, 1.0)
    small = xp.exp(_near_2(xp.where(size < 12, moved, 2.0))) * factor / xp.where(divisor == 0, 1.0, divisor)
    large = xp.where(size < 12, 12.0, size)
    power = xp.pow(large, large / 2 - 0.25)
    inverse = 1 / large
    correction = xp.exp(LOG_ROOT_2_PI + inverse * polynomial(inverse * inverse, STIRLING))
    positive = xp.where(size < 12, small, power * xp.exp(-large) * power * correction)
    negative = x < 0
    sine, _ = sine_and_cosine(xp, xp.where(negative, x, 0.5))
    pole = negative & (sine == 0)
    reflected = xp.where(over, 0.0, math.pi / (xp.where(pole, 1.0, sine) * positive))
    plain = xp.where(over & (x > 0), math.inf, xp.where(x == 0, xp.copysign(xp.full_like(x, math.inf), x), positive))
    return xp.where(pole, math.nan, xp.where(negative, reflected, plain))


def _rgamma_slope(xp: Namespace, x: Array, n: int) -> Array:
    """Return the derivative of order `n` of ``1 / gamma(x)``, by the reflection ``gamma(1 - x) * sin(pi * x) / pi``.

    Left of 1/2 it is a sum of products of derivatives of the two factors; right of it of ``1 / gamma(x)`` and psi.
    """
    left = x < 0.5
    low, high = xp.where(left, x, 0.25), xp.where(left, 1.0, x)
    sine, cosine = sine_and_cosine(xp, low)
    turned = (sine, cosine, -sine, -cosine)
    outer, inner = _gamma_over(xp, 1 - low, n, 1), _gamma_over(xp, high, n, -1)
    total: Any = 0.0
    for k in range(n + 1):
        factor = (-1) ** (n - k) * math.comb(n, k) * math.pi ** (k - 1)
        total = total + factor * turned[k % 4] * outer[n - k]
    return xp.where(left, xp.special.gamma(1 - low) * total, xp.special.rgamma(high) * inner[n])


def _gamma_over(xp: Namespace, x: Array, n: int, sign: int) -> list[Any]:
    """Return derivatives up to order `n` of ``gamma(x)**sign``, divided by it."""
    return of_exponential([sign * xp.special.polygamma_of(x, n=j) for j in range(n)])


def of_exponential(slopes: list[Array]) -> list[Array]:
    """Return derivatives of an exponential, divided by it, from those of its logarithm: complete Bell polynomials."""
    found: list[Any] = [1.0]
    for k in range(len(slopes)):
        found.append(sum(math.comb(k, j) * slopes[j] * found[k - j] for j in range(k + 1)))
    return found


@special(x=lambda xp, gy, x, n: gy * xp.special.rgamma_of(x, n=n + 1))
def rgamma_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `rgamma` of order `n`, elementwise; it is finite at the poles of the gamma function."""
    return _rgamma_slope(xp, x, n)


@special(of_complex=lambda x: exp(-complex_loggamma(x)), x=lambda xp, gy, x: gy * xp.special.rgamma_of(x, n=1))
def rgamma(xp: Namespace, x: AnyArray, /) -> Array:
    """Reciprocal of the gamma function, elementwise; 0 at 0 and negative integers."""
    pole = (x <= 0) & (x == xp.floor(x))
    return xp.where(pole, 0.0, 1 / xp.special.gamma(xp.where(pole, 1.0, x)))
