"""The beta function, binomial coefficients, and other quotients of gamma functions."""

import math
from typing import Any, SupportsIndex

from xpgrad.graph.variable import Variable
from xpgrad.special.constants import BERNOULLI
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, STIRLING_FROM, gammaln, stirling_error
from xpgrad.special.operands import as_floating, special
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["beta", "betaln", "binom", "multigammaln", "poch", "psi_rise"]

MAX_DIMENSION = 10_000
"""Terms of `multigammaln`."""


@special(
    a=lambda xp, gy, a, b, n: gy * xp.special.psi_rise(a, b, n=n + 1),
    b=lambda xp, gy, a, b, n: gy * xp.special.polygamma_of(a + b, n=n + 1),
)
def psi_rise(xp: Namespace, a: RealOperand, b: RealOperand, /, n: int) -> Array:
    """Difference of the derivative `n` of `psi` at ``a + b`` and at `a`, elementwise, accurate for small `b` too."""
    positive = (a > 0) & (a + b > 0)
    low, step = xp.where(positive, a, 1.0), xp.where(positive, b, 1.0)
    near = beyond_logarithm(xp, low, step, n) + _log_rise(xp, low, step, n)
    of = xp.special.polygamma_of
    other = of(xp.where(positive, 1.5, a + b), n=n) - of(xp.where(positive, 1.5, a), n=n)
    return xp.where(positive, near, other)


def beyond_logarithm(xp: Namespace, a: Array, b: Array, n: int = 0) -> Array:
    """Return `psi_rise` without ``log(1 + b / a)``, or its derivative `n` by `a`, for positive numbers.

    Notes
    -----
    The differences of the terms of the recurrence and of the asymptotic series (NIST DLMF 5.5, 5.11, 5.15).
    """
    shift = xp.minimum(a, a + b) < 10
    sign, total = (-1) ** (n + 1), xp.zeros_like(a + b)
    for k in range(10):
        total = total + sign * math.factorial(n) * _power_rise(xp, a + k, b, n + 1)
    moved = xp.where(shift, a + 10, a)
    terms = [(sign * math.factorial(n) / 2, n + 1)]
    for j, number in enumerate(BERNOULLI[:9], 1):
        terms.append((sign * number * math.factorial(2 * j + n - 1) / math.factorial(2 * j), 2 * j + n))
    series: Any = sum(c * _power_rise(xp, moved, b, power) for c, power in terms)
    total = total + _log_rise(xp, moved, b, n) - _log_rise(xp, a, b, n)
    return series + xp.where(shift, total, 0.0)


def _log_rise(xp: Namespace, x: Array, b: Array, n: int) -> Array:
    return (-1) ** (n - 1) * math.factorial(n - 1) * _power_rise(xp, x, b, n) if n else xp.log1p(b / x)


def _power_rise(xp: Namespace, x: Array, b: Array, power: int) -> Array:
    """Return the difference of the power ``-power`` at ``x + b`` and at `x`."""
    if power == 1:
        return -(b / x) / (x + b)
    return xp.pow(x, -float(power)) * xp.expm1(-power * xp.log1p(b / x))


@special(
    a=lambda xp, gy, a, b: gy * -xp.special.psi_rise(a, b, n=0),
    b=lambda xp, gy, a, b: gy * -xp.special.psi_rise(b, a, n=0),
)
def betaln(xp: Namespace, a: RealOperand, b: RealOperand, /) -> Array:
    """Logarithm of the absolute value of the beta function, elementwise."""
    positive = (a > 0) & (b > 0)
    p, q = xp.where(positive, a, 1.0), xp.where(positive, b, 1.0)
    small, large = xp.minimum(p, q), xp.maximum(p, q)
    both = (
        LOG_ROOT_2_PI - 0.5 * xp.log(small) - small * xp.log1p(large / small) - (large - 0.5) * xp.log1p(small / large)
    )
    both = both + stirling_error(xp, small) + stirling_error(xp, large) - stirling_error(xp, p + q)
    near = xp.where(
        large < STIRLING_FROM, xp.special.gammaln(p) + xp.special.gammaln(q) - xp.special.gammaln(p + q), both
    )
    a, b = xp.where(positive, 1.5, a), xp.where(positive, 1.5, b)
    return xp.where(positive, near, xp.special.gammaln(a) + xp.special.gammaln(b) - xp.special.gammaln(a + b))


@special(
    a=lambda xp, gy, a, b, y: gy * (-y * xp.special.psi_rise(a, b, n=0)),
    b=lambda xp, gy, a, b, y: gy * (-y * xp.special.psi_rise(b, a, n=0)),
)
def beta(xp: Namespace, a: RealOperand, b: RealOperand, /) -> Array:
    """Beta function, ``gamma(a) * gamma(b) / gamma(a + b)``, elementwise."""
    return (
        xp.special.gammasgn(a) * xp.special.gammasgn(b) * xp.special.gammasgn(a + b) * xp.exp(xp.special.betaln(a, b))
    )


def _reciprocal(xp: Namespace, n: Array, k: Array) -> Array:
    """Return a mask of elements with derivatives by reciprocals of gamma functions, which are smooth at their poles."""
    low, rest = k + 1, n - (k - 1)  # exact for small n and k near 1
    pole = ((low <= 0) & (low == xp.round(low))) | ((rest <= 0) & (rest == xp.round(rest)))
    return pole | (((low < 0.5) | (rest < 0.5)) & (xp.abs(n) + xp.abs(k) < 150))


def _by_n(xp: Namespace, n: Array, k: Array, y: Array) -> Array:
    outside = _reciprocal(xp, n, k)
    near, low, rest = (xp.where(outside, z, 1.0) for z in (n, k + 1, n - (k - 1)))
    slope = xp.special.rgamma_of(rest, n=1) + xp.special.psi(near + 1) * xp.special.rgamma(rest)
    outer = xp.special.gamma(near + 1) * xp.special.rgamma(low) * slope
    inner = xp.special.psi_rise(xp.where(outside, 1.0, n - (k - 1)), xp.where(outside, 1.0, k), n=0)
    return xp.where(outside, outer, y * inner)


def _by_k(xp: Namespace, n: Array, k: Array, y: Array) -> Array:
    outside = _reciprocal(xp, n, k)
    near, low, rest = (xp.where(outside, z, 1.0) for z in (n, k + 1, n - (k - 1)))
    rgamma, slope = xp.special.rgamma, xp.special.rgamma_of
    outer = slope(low, n=1) * rgamma(rest) - rgamma(low) * slope(rest, n=1)
    inner = xp.special.psi_rise(xp.where(outside, 1.0, k + 1), xp.where(outside, 0.0, n - 2 * k), n=0)
    return xp.where(outside, xp.special.gamma(near + 1) * outer, y * inner)


@special(
    n=lambda xp, gy, n, k, y: gy * _by_n(xp, n, k, y),
    k=lambda xp, gy, n, k, y: gy * _by_k(xp, n, k, y),
)
def binom(xp: Namespace, n: RealOperand, k: RealOperand, /) -> Array:
    """Binomial coefficient of real numbers, elementwise.

    For negative integers `n` the result is NaN, and at integers `k` below -150 the gradient.
    For `n` above -1, relative errors are up to 1e-12, including derivatives.
    """
    original = n
    mirrored = (n == xp.round(n)) & (k == xp.round(k)) & (2 * k > n) & (k <= n)
    k = xp.where(mirrored, n - k, k)
    whole = xp.round(xp.clip(k, 0.0, 20.0))
    exact = k == whole
    product = xp.ones_like(n + k)
    for i in range(1, 21):
        product = product * xp.where(i <= whole, (n - whole + i) / i, 1.0)
    n, k = xp.where(exact, 1.0, n), xp.where(exact, 0.5, k)
    positive = (n > -1) & (k > -1) & (n - k > -1)
    low, rest = xp.where(positive, k + 1, 1.0), xp.where(positive, n - (k - 1), 1.0)
    by_beta = xp.exp(-xp.special.betaln(rest, low)) / xp.where(positive, n + 1, 1.0)
    n, low, rest = (xp.where(positive, 1.0, z) for z in (n, k + 1, n - (k - 1)))
    pole = ((low <= 0) & (low == xp.round(low))) | ((rest <= 0) & (rest == xp.round(rest)))
    low, rest = xp.where(pole, 1.0, low), xp.where(pole, 1.0, rest)
    sign = xp.special.gammasgn(n + 1) * xp.special.gammasgn(low) * xp.special.gammasgn(rest)
    outside = sign * xp.exp(xp.special.gammaln(n + 1) - xp.special.gammaln(low) - xp.special.gammaln(rest))
    outside = xp.where(pole & ~xp.isnan(sign), 0.0, outside)
    y = xp.where(exact, product, xp.where(positive, by_beta, outside))
    return xp.where((original < 0) & (original == xp.round(original)), math.nan, y)


def _poch_slope(xp: Namespace, z: Array, m: Array, y: Array) -> Array:
    """Return the derivative by `z`, near 0 that of the product of `z` and a smooth function."""
    near, of = (xp.abs(z) < 0.5) & (xp.abs(z) < xp.abs(m)), xp.special
    low, step = xp.where(near, z + 1, 1.0), xp.where(near, m - 1, 0.0)
    inner = of.poch(low, step) * (1 + xp.where(near, z, 0.0) * of.psi_rise(low, step, n=0))
    return xp.where(near, inner, y * of.psi_rise(xp.where(near, 1.0, z), m, n=0))


@special(
    z=lambda xp, gy, z, m, y: gy * _poch_slope(xp, z, m, y),
    m=lambda xp, gy, z, m, y: gy * (y * xp.special.psi(z + m)),
)
def poch(xp: Namespace, z: RealOperand, m: RealOperand, /) -> Array:
    """Pochhammer symbol, ``gamma(z + m) / gamma(z)``, elementwise."""
    whole = xp.round(xp.clip(m, 0.0, 20.0))
    exact, zero = m == whole, (z <= 0) & (z == xp.floor(z))
    product = divisor = xp.ones_like(z + m)
    for i in range(20):
        product = product * xp.where(i < whole, z + i, 1.0)
        divisor = divisor * xp.where(m < -i, z - (i + 1), 1.0)
    falling = zero & (m < 0) & (m == xp.round(m)) & (m >= -20)
    large = (z >= STIRLING_FROM) & (z + m >= STIRLING_FROM)
    low, step = xp.where(large, z, STIRLING_FROM), xp.where(large, m, 0.0)
    log = step * (xp.log(low + step) - 1) + (low - 0.5) * xp.log1p(step / low)
    log = log + stirling_error(xp, low + step) - stirling_error(xp, low)
    z, m = xp.where(large | zero, 1.0, z), xp.where(large | zero, 0.0, m)
    sign = xp.special.gammasgn(z + m) * xp.special.gammasgn(z)
    y = sign * xp.exp(xp.where(large, log, xp.special.gammaln(z + m) - xp.special.gammaln(z)))
    return xp.where(exact, product, xp.where(falling, 1 / divisor, xp.where(zero, 0.0, y)))


def multigammaln(a: AnyArray, d: SupportsIndex, /) -> Variable:
    """Return the logarithm of the multivariate gamma function of dimension `d`, elementwise.

    Parameters
    ----------
    a : Variable or array, real
        Greater than ``(d - 1) / 2``.
    d : int
        At most 10,000.

    Raises
    ------
    ValueError
        `d` is larger.
    """
    (a,), count = as_floating("multigammaln", (a,)), int(d)
    if count > MAX_DIMENSION:
        raise ValueError(f"multigammaln: expected a dimension of at most {MAX_DIMENSION:,}, got {count}")
    total: Any = count * (count - 1) / 4 * math.log(math.pi)
    for j in range(count):
        total = gammaln(a - j / 2) + total
    y: Variable = total
    return y
