"""Incomplete gamma functions, their inverses, and the distributions that they define.

Default bodies integrate the gamma distribution's density over ``s = log(t / a)``, where it is not negligible. It is
``exp(-a * (exp(s) - 1 - s))`` times a constant, with one peak, at 0, for every `a`. Derivatives of any order with
respect to `a` are integrals of the derivatives of the density.
"""

import math
from collections.abc import Callable
from typing import cast

from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.constants import polynomial
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, STIRLING_FROM, of_exponential, psi_excess, stirling_error
from xpgrad.special.operands import composed, composed_of_counts, special, where_scalars
from xpgrad.special.quadrature import integral
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "chdtr", "chdtrc", "chdtri", "gammainc", "gammainc_slope", "gammaincc", "gammainccinv", "gammaincinv", "gdtr",
    "gdtrc", "pdtr", "pdtrc", "pdtri",
]  # fmt: skip

DROP = 38.0  # exp(-DROP) times the high density is negligible
NODES = 32


def width_of_peak(xp: Namespace, k: Array) -> Array:
    """Return a `u` with ``exp(-u) - 1 + u >= k``, not much too large: the left side is at least ``u**2 / (2 + u)``."""
    return 0.5 * (k + xp.sqrt(k * (k + 8)))


@special(s=lambda xp, gy, s: gy * xp.expm1(s))
def exp_excess(xp: Namespace, s: AnyArray, /) -> Array:
    """``exp(s) - 1 - s``, without cancellation, elementwise."""
    near = xp.abs(s) < 0.5
    small = xp.where(near, s, 0.0)
    inner = small * small * polynomial(small, tuple(1 / math.factorial(k) for k in range(2, 17)))
    return xp.where(near, inner, xp.expm1(s) - s)


def log_excess(xp: Namespace, r: Array) -> Array:
    """Return ``r - log(1 + r)``, without cancellation."""
    near = xp.abs(r) < 0.5
    small = xp.where(near, r, 0.0)
    inner = small * small * (xp.special.log1prel_of(small, n=1) + 1 / (1 + small))
    return xp.where(near, inner, r - xp.log1p(xp.where(near, 1.0, r)))


def deviance(xp: Namespace, x: Array, mean: Array) -> Array:
    """Return ``r - log(1 + r)`` of ``r = x / mean - 1``, without cancellation."""
    r = (x - mean) / mean
    near = xp.abs(r) < 0.5
    outer = r - xp.log(xp.where(near, 1.0, x)) + xp.log(xp.where(near, 1.0, mean))
    return xp.where(near, log_excess(xp, xp.where(near, r, 0.0)), outer)


def _integral(xp: Namespace, a: Array, x: Array, weight: Callable[[Array], Array] | None, left: Array) -> Array:
    """Return the integral of the density times ``weight(log(t / a))`` from 0 to `x` where `left`, else from `x` on."""
    k = DROP / a
    inside = (x > 0) & ~xp.isinf(x)
    edge = log_ratio(xp, xp.where(inside, x, 1.0), a, a)
    edge = xp.where(x <= 0, -700.0, xp.where(xp.isinf(x), 0.0, edge))
    log_factor = 0.5 * xp.log(a) - LOG_ROOT_2_PI - stirling_error(xp, a)
    columns_of_a, columns_of_factor = (a + 0 * x)[..., None], (log_factor + 0 * edge)[..., None]

    def density(s: Array) -> Array:
        value = xp.exp(columns_of_factor - columns_of_a * xp.special.exp_excess(s))
        return value if weight is None else value * weight(s)

    below, above = xp.minimum(edge, xp.zeros_like(edge)), xp.maximum(edge, xp.zeros_like(edge))
    lowest = _left_end(xp, k, xp.where(left, below, 0.0))
    ahead = xp.where(left, k, k + xp.special.exp_excess(above))
    right = xp.minimum(xp.sqrt(2 * ahead), xp.log(2 * ahead + 2))  # where exp(s) - 1 - s is at least `ahead`
    slope = xp.expm1(above)
    bound = k / xp.where(slope > 0, slope, 1.0)
    reach = xp.where(slope * right > k, bound, right)
    highest = xp.minimum(right, xp.where(edge > 0, edge + reach, right))
    low = xp.where(left, lowest, xp.where(edge < 0, xp.maximum(edge, lowest), edge))
    high = xp.where(left, xp.minimum(edge, right), highest)
    cut = xp.minimum(high, xp.maximum(low, -DROP - xp.log(a) + 0 * high))  # below it, t is negligible compared with 1
    total = integral(xp, density, cut, high, NODES, 4) + integral(xp, density, low, cut, NODES, 1)
    return xp.where(xp.isinf(x), 0.0, total)


def _left_end(xp: Namespace, k: Array, top: Array) -> Array:
    """Return a point below which the density is negligible compared with that at `top`, which is not positive."""
    slope = -xp.expm1(top)
    reach = width_of_peak(xp, k)
    bound = k / xp.where(slope > 0, slope, 1.0)
    return top - xp.where(slope * reach > k, bound, reach)


def _sides(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return parameters and limits replaced where invalid, where they are valid, and where left of the median."""
    valid = (a > 0) & (x >= 0)
    a, x = xp.where(valid, a, 1.0), xp.where(valid, x, 1.0)
    low = xp.minimum(a, xp.ones_like(a))
    median = xp.exp((xp.special.gammaln(low + 1) - math.log(2)) / low)  # for small `a`, which makes it small
    return a, x, valid, x < xp.where(a < 1, median, a)


def _lower_and_upper(xp: Namespace, a: Array, x: Array) -> tuple[Array, Array]:
    """Return both incomplete gamma functions, each accurate where it is small."""
    degenerate = (a == 0) & (x >= 0)
    a, x, valid, left = _sides(xp, a, x)
    small = _integral(xp, a, x, None, left)
    p = xp.where(valid, xp.where(left, small, 1 - small), where_scalars(xp, degenerate, 1.0, math.nan, x))
    q = xp.where(valid, xp.where(left, 1 - small, small), where_scalars(xp, degenerate, 0.0, math.nan, x))
    return p, q


def gamma_density(xp: Namespace, a: Array, x: Array) -> Array:
    """Return the density of the gamma distribution of shape `a` at `x`."""
    large = (a >= STIRLING_FROM) & (x > 0)
    shape, at = xp.where(large, a, STIRLING_FROM), xp.where(large, x, STIRLING_FROM)
    log = 0.5 * xp.log(shape) - LOG_ROOT_2_PI - stirling_error(xp, shape)
    near = xp.exp(log - shape * deviance(xp, at, shape)) / at
    shape, at = xp.where(large, 1.0, a), xp.where(large, 1.0, x)
    return xp.where(large, near, xp.exp(xp.special.xlogy(shape - 1, at) - at - xp.special.gammaln(shape)))


@special(
    a=lambda xp, gy, a, x: gy * xp.special.gammainc_slope(a, x, n=1),
    x=lambda xp, gy, a, x: gy * gamma_density(xp, a, x),
)
def gammainc(xp: Namespace, a: RealOperand, x: RealOperand, /) -> Array:
    """Regularised lower incomplete gamma function, elementwise: the distribution function of the gamma distribution.

    The parameter `a` is positive and the limit `x` not negative; otherwise the result is NaN.
    Relative errors are up to 1e-11, including derivatives.
    """
    return _lower_and_upper(xp, a, x)[0]


@special(
    a=lambda xp, gy, a, x: -gy * xp.special.gammainc_slope(a, x, n=1),
    x=lambda xp, gy, a, x: -gy * gamma_density(xp, a, x),
)
def gammaincc(xp: Namespace, a: RealOperand, x: RealOperand, /) -> Array:
    """Regularised upper incomplete gamma function, ``1 - gammainc(a, x)``, accurate where it is small, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return _lower_and_upper(xp, a, x)[1]


@special(
    a=lambda xp, gy, a, x, n: gy * xp.special.gammainc_slope(a, x, n=n + 1),
    x=lambda xp, gy, a, x, n: gy * (_density_change(xp, a, n)(log_ratio(xp, x, a, a)) * gamma_density(xp, a, x)),
)
def gammainc_slope(xp: Namespace, a: RealOperand, x: RealOperand, /, n: int) -> Array:
    """Derivative of `gammainc` of order `n`, at least 1, with respect to `a`, elementwise.

    It is an integral from 0 to `x` left of about the median, otherwise one from `x` to infinity, so that it is accurate
    in both tails.
    """
    a, x, valid, left = _sides(xp, a, x)
    small = _integral(xp, a, x, _density_change(xp, xp.expand_dims(a + 0 * x, axis=-1), n), left)
    return xp.where(valid, xp.where(x > 0, xp.where(left, small, -small), 0.0), math.nan)


def _density_change(xp: Namespace, a: Array, n: int) -> Callable[[Array], Array]:
    """Return the derivative of order `n` of the density by `a`, divided by it, as a function of ``log(t / a)``.

    The reciprocal gamma function is ``a / gamma(a + 1)``, whose second factor is smooth where `a` is small.
    """
    base, falls = psi_excess(xp, a + 1) - xp.log1p(1 / a), [-xp.special.polygamma_of(a + 1, n=j) for j in range(1, n)]

    def change(s: Array) -> Array:
        found = of_exponential([s + base, *falls])
        return found[n] + n / a * found[n - 1]

    return change


def log_ratio(xp: Namespace, x: Array, mean: Array, a: Array) -> Array:
    """Return ``log(x / mean)``, without cancellation; for ``a == 1`` with 0 for ``log(0)``, as ``xlogy(a - 1, x)``."""
    near = xp.abs(x - mean) < 0.5 * mean
    log = xp.log(xp.where((x == 0) & (a == 1), 1.0, x)) - xp.log(mean)
    return xp.where(near, xp.log1p(xp.where(near, (x - mean) / mean, 0.0)), log)


def _inverse(xp: Namespace, a: Array, p: Array, q: Array) -> Array:
    """Return the `x` at which the two functions are `p` and `q`, by bracketed Halley iterations on logarithms."""
    valid = (a > 0) & (p >= 0) & (q >= 0)
    inner = valid & (p > 0) & (q > 0)
    a, p, q = xp.where(valid, a, 1.0), xp.where(inner, p, 0.5), xp.where(inner, q, 0.5)
    left = p < q
    goal = xp.log(xp.where(left, p, q))
    high = xp.log(-xp.log(xp.minimum(p, q)) + 2) + xp.log(4 * a + 4)
    low, high = (xp.log(p) + xp.special.gammaln(a + 1)) / a - 1e-9, high + 0 * p
    low = xp.minimum(low, high)
    deviation = 1 / (3 * xp.sqrt(a))
    cube = 1 - deviation * deviation + xp.special.ndtri(p) * deviation  # Wilson and Hilferty
    start = xp.where(cube > 0.1, xp.log(a) + 3 * xp.log(xp.where(cube > 0.1, cube, 1.0)), low)
    y = xp.minimum(xp.maximum(start, low), high)
    for _ in range(9):
        x = xp.exp(y)
        value = xp.where(left, xp.special.gammainc(a, x), xp.special.gammaincc(a, x))
        log_density = a * y - x - xp.special.gammaln(a)
        y, low, high = halley(xp, left, y, low, high, goal, value, log_density, a - x)
    return xp.where(inner, xp.exp(y), where_scalars(xp, valid, 0.0, math.nan, y))


def halley(
    xp: Namespace, left: Array, y: Array, low: Array, high: Array, goal: Array, value: Array, log_density: Array,
    slope: Array,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return the next approximation of the `y` at which the logarithm of a tail is `goal`, and its bounds.

    The tail at the last approximation is `value`, the left one where `left`. `log_density` is the logarithm of the
    density in `y`, and `slope` its derivative.
    """
    value = xp.where(value > 0, value, float(xp.finfo(y.dtype).smallest_normal))
    off = xp.log(value) - goal
    beyond = xp.where(left, off > 0, off < 0)
    low, high = xp.where(beyond, low, y), xp.where(beyond, y, high)
    hazard = xp.exp(log_density - xp.log(value))
    usable = hazard > 0
    hazard = xp.where(usable, hazard, 1.0)
    sign = xp.where(left, 1 + 0 * y, -1.0)
    bend = 1 - 0.5 * sign * off * (slope / hazard - sign)
    step = y - sign * off / (hazard * xp.minimum(xp.maximum(bend, 0.3 + 0 * y), 3 + 0 * y))
    return xp.where(usable & (step >= low) & (step <= high), step, 0.5 * (low + high)), low, high


@special(
    a=lambda xp, gy, a, y: gy * (-xp.special.gammainc_slope(a, y, n=1) / gamma_density(xp, a, y)),
    p=lambda xp, gy, a, y: gy / gamma_density(xp, a, y),
)
def gammaincinv(xp: Namespace, a: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `gammainc` in its second argument, elementwise.

    `a` is positive and `p` from 0 to 1; otherwise the result is NaN.
    Relative errors are up to 1e-11, including derivatives; the second by `a` loses a factor of about `a`.
    """
    return xp.where((p == 1) & (a > 0), math.inf, _inverse(xp, a, p, 1 - p))


@special(
    a=lambda xp, gy, a, y: gy * (-xp.special.gammainc_slope(a, y, n=1) / gamma_density(xp, a, y)),
    q=lambda xp, gy, a, y: -gy / gamma_density(xp, a, y),
)
def gammainccinv(xp: Namespace, a: RealOperand, q: RealOperand, /) -> Array:
    """Inverse of `gammaincc` in its second argument, elementwise.

    `a` is positive and `q` from 0 to 1; otherwise the result is NaN.
    Relative errors are up to 1e-11, including derivatives; the second by `a` loses a factor of about `a`.
    """
    return xp.where((q == 0) & (a > 0), math.inf, _inverse(xp, a, 1 - q, q))


@composed
def chdtr(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return the distribution function of the chi-square distribution of `v` degrees of freedom, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return gammainc(v / 2, x / 2)


@composed
def chdtrc(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return the survival function of the chi-square distribution of `v` degrees of freedom, elementwise.

    For a negative `x` the result is 1.
    Relative errors are up to 1e-11, including derivatives.
    """
    x = cast("Variable", x)
    return where(x < 0, 1.0, gammaincc(v / 2, where(x < 0, 1.0, x) / 2))


@composed
def chdtri(v: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `chdtrc` in its second argument, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return 2 * gammainccinv(v / 2, p)


@composed
def gdtr(a: RealOperand, b: RealOperand, x: RealOperand, /) -> Variable:
    """Return the distribution function of the gamma distribution of rate `a` and shape `b`, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return gammainc(b, a * x)


@composed
def gdtrc(a: RealOperand, b: RealOperand, x: RealOperand, /) -> Variable:
    """Return the survival function of the gamma distribution of rate `a` and shape `b`, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return gammaincc(b, a * x)


@composed_of_counts(1)
def pdtr(k: RealOperand, m: RealOperand, /) -> Variable:
    """Return the probability of at most `k` events of a Poisson distribution of mean `m`, elementwise.

    Relative errors are up to 1e-12, including derivatives.
    """
    return gammaincc(k + 1, m)


@composed_of_counts(1)
def pdtrc(k: RealOperand, m: RealOperand, /) -> Variable:
    """Return the probability of more than `k` events of a Poisson distribution of mean `m`, elementwise.

    Relative errors are up to 1e-12, including derivatives.
    """
    return gammainc(k + 1, m)


@composed_of_counts(1)
def pdtri(k: RealOperand, p: RealOperand, /) -> Variable:
    """Return the mean of the Poisson distribution for which `pdtr` of `k` is `p`, elementwise.

    Relative errors are up to 1e-12, including derivatives.
    """
    return gammainccinv(k + 1, p)
