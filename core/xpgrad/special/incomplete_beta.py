"""The incomplete beta function, its complement and its inverse.

The default body integrates the beta distribution's density over the difference between the log odds ``log(t / (1 -
t))`` and the log odds of the mean, where the density is not negligible. It has one peak, at 0, for all parameters.
Derivatives of any order with respect to these are integrals of the density times powers of ``log(t)`` and ``log(1 -
t)`` minus their means.
"""

import math
from collections.abc import Callable

from xpgrad.special.beta_functions import beyond_logarithm
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, STIRLING_FROM, stirling_error
from xpgrad.special.incomplete_gamma import DROP, deviance, halley, log_beside_1, width_of_peak
from xpgrad.special.operands import special, where_scalars
from xpgrad.special.quadrature import integral
from xpgrad.types import Array, Namespace, RealOperand

__all__ = ["betainc", "betainc_moment", "betaincc", "betainccinv", "betaincinv"]

NODES = 32
Weight = Callable[[Array, Array], Array]


def _parts(xp: Namespace, mean: Array, rest: Array, w: Array) -> tuple[Array, Array]:
    """Return the logarithms of ``t / mean`` and ``(1 - t) / rest`` for a difference `w` of log odds."""
    near, far, falling = xp.where(w < 0, mean, rest), xp.where(w < 0, rest, mean), xp.exp(-xp.abs(w))
    change = near * xp.expm1(-xp.abs(w))
    mild = change > -0.5
    share = xp.where(mild, xp.log1p(xp.where(mild, change, 0.0)), xp.log(far + near * falling))
    return xp.where(w < 0, w, 0.0) - share, -xp.where(w < 0, 0.0, w) - share


def _integral(xp: Namespace, a: Array, b: Array, edge: Array, weight: Weight | None) -> Array:
    """Return the integral from 0 of the density times ``weight(log(t / mean), log((1 - t) / (1 - mean)))``.

    `edge` is the upper limit, as a difference of log odds from the log odds of the mean.
    """
    total = a + b
    mean, rest = (a / total + 0 * edge)[..., None], (b / total + 0 * edge)[..., None]
    log_factor = _log_factor(xp, a, b)
    columns_of_a, columns_of_b, factor = ((z + 0 * edge)[..., None] for z in (a, b, log_factor))

    def density(w: Array) -> Array:
        left, right = _parts(xp, mean, rest, w)
        value = xp.exp(
            factor - columns_of_a * xp.special.exp_excess(left) - columns_of_b * xp.special.exp_excess(right)
        )
        return value if weight is None else value * weight(left, right)

    peak = width_of_peak(xp, DROP * (total / (a * b)))
    reach = xp.minimum(peak, DROP / a + (total / a) * xp.log1p(a / b))
    high = xp.minimum(edge, xp.minimum(peak, DROP / b + (total / b) * xp.log1p(b / a)))
    top = xp.minimum(high, xp.zeros_like(high))
    left, _ = _parts(xp, a / total, b / total, top)
    slope = a - a * xp.exp(left)
    low = top - xp.where(slope * reach > DROP, DROP / xp.where(slope > 0, slope, 1.0), reach)
    # below `cut`, t is negligible compared with 1, and above `last`, 1 - t
    cut = xp.minimum(high, xp.maximum(low, -DROP - xp.log(a / b) + 0 * high))
    last = xp.minimum(high, xp.maximum(cut, DROP - xp.log(a / b) + 0 * high))
    ends = integral(xp, density, low, cut, NODES, 1) + integral(xp, density, last, high, NODES, 1)
    return integral(xp, density, cut, last, NODES, 4) + ends


def _log_factor(xp: Namespace, a: Array, b: Array) -> Array:
    """Return the logarithm of the density of the log odds at the mean."""
    total = a + b
    log_factor = 0.5 * (xp.log(a) + xp.log(b / total)) - LOG_ROOT_2_PI
    return log_factor + stirling_error(xp, total) - stirling_error(xp, a) - stirling_error(xp, b)


def _sides(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return valid parameters, the limit as log odds, where all are valid, and where it is left of about the median."""
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    a, b = xp.where(valid, a, 1.0), xp.where(valid, b, 1.0)
    inner = valid & (x > 0) & (x < 1)
    safe = xp.where(inner, x, 0.5)
    edge = xp.log(safe / (1 - safe)) - xp.log(a / b)
    edge = xp.where(inner, edge, where_scalars(xp, x > 0.5, 700.0, -700.0, x))
    return a, b, edge, valid, _left_of_median(xp, a, b, edge)


def _left_of_median(xp: Namespace, a: Array, b: Array, edge: Array) -> Array:
    """Return a mask: `edge` is left of the mean, or, for parameters below 1, less than half of the mass is left of it.

    The mass is about ``t**a / (a * beta(a, b))``, right of `edge` correspondingly.
    """
    log_beta, odds = xp.special.betaln(a, b), edge + xp.log(a / b)
    left = a * xp.special.log_expit(odds) < log_beta + xp.log(0.5 * a)
    right = b * xp.special.log_expit(-odds) < log_beta + xp.log(0.5 * b)
    of_a, of_b = (a < 1) & ((b >= 1) | (odds < 0)), (b < 1) & ((a >= 1) | (odds >= 0))
    return xp.where(of_a, left, xp.where(of_b, ~right, edge < 0))


def beta_density(xp: Namespace, a: Array, b: Array, x: Array, rest: Array) -> Array:
    """Return the density of the beta distribution at `x`, which is ``1 - rest``."""
    large = (a >= STIRLING_FROM) & (b >= STIRLING_FROM) & (x > 0) & (rest > 0)
    a1, b1, x1, rest1 = (xp.where(large, z, 0.5) for z in (a, b, x, rest))
    total = a1 + b1
    log = _log_factor(xp, a1, b1) - a1 * deviance(xp, x1, a1 / total) - b1 * deviance(xp, rest1, b1 / total)
    near = xp.exp(log) / (x1 * rest1)
    a, b, x, rest = (xp.where(large, 1.0, z) for z in (a, b, x, rest))
    special = xp.special
    other = xp.exp(special.xlogy(a - 1, x) + special.xlogy(b - 1, rest) - special.betaln(a, b))
    return xp.where(large, near, other)


def beta_tails(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """Return the function and its complement, each accurate where it is small."""
    a, b, edge, valid, left = _sides(xp, a, b, x)
    lower, upper = _tails(xp, a, b, edge, left)
    return xp.where(valid, lower, math.nan), xp.where(valid, upper, math.nan)


def _tails(xp: Namespace, a: Array, b: Array, edge: Array, left: Array) -> tuple[Array, Array]:
    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), xp.where(left, edge, -edge), None)
    small = xp.where(xp.abs(edge) == 700, 0.0, small)
    return xp.where(left, small, 1 - small), xp.where(left, 1 - small, small)


@special(
    a=lambda xp, gy, a, b, x: gy * xp.special.betainc_moment(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: gy * xp.special.betainc_moment(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: gy * beta_density(xp, a, b, x, 1 - x),
)
def betainc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Regularised incomplete beta function, elementwise: the distribution function of the beta distribution.

    The parameters `a` and `b` are positive and the limit `x` from 0 to 1; otherwise the result is NaN.
    Relative errors are up to 1e-9, including derivatives.
    """
    return beta_tails(xp, a, b, x)[0]


@special(
    a=lambda xp, gy, a, b, x: -gy * xp.special.betainc_moment(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: -gy * xp.special.betainc_moment(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: -gy * beta_density(xp, a, b, x, 1 - x),
)
def betaincc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Complement of `betainc`, ``1 - betainc(a, b, x)``, accurate where it is small, elementwise.

    Relative errors are up to 1e-9, including derivatives.
    """
    return beta_tails(xp, a, b, x)[1]


@special(
    a=lambda xp, gy, a, b, x, m, n: gy * _moment_slope(xp, a, b, x, m, n, (1, 0)),
    b=lambda xp, gy, a, b, x, m, n: gy * _moment_slope(xp, a, b, x, m, n, (0, 1)),
    x=lambda xp, gy, a, b, x, m, n: gy * _integrand(xp, a, b, x, m, n),
)
def betainc_moment(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /, m: int, n: int) -> Array:
    """Integral of the beta distribution's density times powers of ``log(t)`` and ``log(1 - t)`` minus their means.

    It is the integral from 0 to `x` left of about the median, otherwise minus the integral from `x` to 1. The powers
    `m` and `n` 1 and 0 give the derivative of `betainc` with respect to `a`, 0 and 1 that to `b`.
    """
    a, b, edge, valid, left = _sides(xp, a, b, x)
    first, second = ((_log_mean_slope(xp, a, b, m) + 0 * edge)[..., None] for m in (1, 0))

    def weight(log_t: Array, log_rest: Array) -> Array:
        return _powers(log_t + first, log_rest + second, m, n)

    swap = left[..., None]

    def swapped(near: Array, far: Array) -> Array:
        return weight(xp.where(swap, near, far), xp.where(swap, far, near))

    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), xp.where(left, edge, -edge), swapped)
    small = xp.where(xp.abs(edge) == 700, 0.0, small)
    return xp.where(valid, xp.where(left, small, -small), math.nan)


def _powers(first: Array, second: Array, m: int, n: int) -> Array:
    if not m:
        return second**n
    return first**m * second**n if n else first**m


def _integrand(xp: Namespace, a: Array, b: Array, x: Array, m: int, n: int) -> Array:
    both = xp.special.psi(a + b)
    first = log_beside_1(xp, a, x) - xp.special.psi(a) + both
    second = log_beside_1(xp, b, 1 - x) - xp.special.psi(b) + both
    return _powers(first, second, m, n) * beta_density(xp, a, b, x, 1 - x)


def _moment_slope(xp: Namespace, a: Array, b: Array, x: Array, m: int, n: int, by: tuple[int, int]) -> Array:
    """Return the derivative of `betainc_moment` with respect to `a` or `b`, on which the means depend too."""

    def lower(m: int, n: int) -> Array:
        if m == n == 0:
            return xp.where(_sides(xp, a, b, x)[4], xp.special.betainc(a, b, x), -xp.special.betaincc(a, b, x))
        return xp.special.betainc_moment(a, b, x, m=m, n=n)

    both = xp.special.polygamma_of(a + b, n=1)
    total = xp.special.betainc_moment(a, b, x, m=m + by[0], n=n + by[1])
    if m:
        change = xp.special.polygamma_of(a, n=1) - both if by[0] else -both
        total = total - m * (change * lower(m - 1, n))
    if n:
        change = xp.special.polygamma_of(b, n=1) - both if by[1] else -both
        total = total - n * (change * lower(m, n - 1))
    return total


def _inverse_slope(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, m: int) -> Array:
    """Return the derivative of the inverse with respect to `a` if `m` is 1, else to `b`, at `x`, ``1 - rest``."""
    low = x <= 0.5
    a1, b1, x1 = xp.where(low, a, b), xp.where(low, b, a), xp.where(low, x, rest)
    first = xp.special.betainc_moment(a1, b1, x1, m=1, n=0)
    second = xp.special.betainc_moment(a1, b1, x1, m=0, n=1)
    by_a, by_b = xp.where(low, first, -second), xp.where(low, second, -first)
    return -(by_a if m else by_b) / beta_density(xp, a, b, x, rest)


def _rest(xp: Namespace, a: Array, b: Array, p: Array) -> Array:
    """Return ``1 - betaincinv(a, b, p)``."""
    return xp.special.betainccinv(b, a, p)


@special(
    a=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, _rest(xp, a, b, p), 1),
    b=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, _rest(xp, a, b, p), 0),
    p=lambda xp, gy, a, b, p, y: gy / beta_density(xp, a, b, y, _rest(xp, a, b, p)),
)
def betaincinv(xp: Namespace, a: RealOperand, b: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `betainc` in its third argument, elementwise.

    `a` and `b` positive, `p` from 0 to 1; otherwise the result is NaN.
    Relative errors are up to 1e-6, including derivatives.
    """
    inner, log_odds = _log_odds(xp, a, b, p)
    return xp.where(inner, xp.special.expit(log_odds), _at_the_ends(xp, a, b, p, p))


@special(
    a=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, xp.special.betaincinv(b, a, p), 1),
    b=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, xp.special.betaincinv(b, a, p), 0),
    p=lambda xp, gy, a, b, p, y: -gy / beta_density(xp, a, b, y, xp.special.betaincinv(b, a, p)),
)
def betainccinv(xp: Namespace, a: RealOperand, b: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `betaincc` in its third argument, elementwise.

    `a` and `b` are positive, and `p` is a probability; otherwise the result is NaN.
    Relative errors are up to 1e-6, including derivatives.
    """
    inner, log_odds = _log_odds(xp, b, a, p)
    return xp.where(inner, xp.special.expit(-log_odds), _at_the_ends(xp, a, b, p, 1 - p))


def _at_the_ends(xp: Namespace, a: Array, b: Array, p: Array, value: Array) -> Array:
    return xp.where((a > 0) & (b > 0) & (p >= 0) & (p <= 1), value + 0 * a * b, math.nan)


def _log_odds(xp: Namespace, a: Array, b: Array, p: Array) -> tuple[Array, Array]:
    """Return a mask of `p` between 0 and 1, and the logarithm of the odds at which `betainc` equals `p`.

    Bracketed Halley iterations on the logarithm of the smaller tail.
    """
    valid = (a > 0) & (b > 0) & (p >= 0) & (p <= 1)
    inner = valid & (p > 0) & (p < 1)
    a, b, safe = xp.where(valid, a, 1.0), xp.where(valid, b, 1.0), xp.where(inner, p, 0.5)
    left = safe < 0.5
    goal = xp.log(xp.where(left, safe, 1 - safe))
    least = xp.log(xp.minimum(safe, 1 - safe)) - 3
    low, high = (
        (least + xp.special.betaln(a, b) + xp.log(a)) / a - 3,
        -(least + xp.special.betaln(a, b) + xp.log(b)) / b + 3,
    )
    low, high = xp.minimum(low, xp.log(a / b)), xp.maximum(high, xp.log(a / b))
    y = xp.log(a / b) + xp.special.ndtri(safe) * xp.sqrt((a + b) / (a * b))
    log_beta = xp.special.betaln(a, b)
    of_a, of_b = (xp.log(safe) + log_beta + xp.log(a)) / a, -(xp.log(1 - safe) + log_beta + xp.log(b)) / b
    y = xp.where((a < 1) & (of_a < -1), of_a, xp.where((b < 1) & (of_b > 1), of_b, y))
    y = xp.minimum(xp.maximum(y, low), high)
    for _ in range(12):
        x, rest, edge = xp.special.expit(y), xp.special.expit(-y), y - xp.log(a / b)
        lower, upper = _tails(xp, a, b, edge, _left_of_median(xp, a, b, edge))
        value = xp.where(left, lower, upper)
        log_density = a * xp.special.log_expit(y) + b * xp.special.log_expit(-y) - xp.special.betaln(a, b)
        y, low, high = halley(xp, left, y, low, high, goal, value, log_density, a * rest - b * x)
    return inner, y


def ratio_slope(xp: Namespace, a: Array, b: Array, log_ratio: Array, m: int) -> Array:
    """Return the derivative of `betainc` with respect to a parameter, at a limit that depends on the parameters.

    The limit has odds ``exp(log_ratio) * a / b``, as in the F distribution. The sum of the derivatives by the parameter
    and by the limit would cancel; the integral of the derivative of the density of the logarithm of the ratio does not.

    Parameters
    ----------
    xp : namespace
    a, b, log_ratio : array
    m : int
        1 for the derivative with respect to `a`, 0 for `b`.
    """
    a, b, edge = xp.broadcast_arrays(a, b, log_ratio)
    valid = (a > 0) & (b > 0) & ~xp.isnan(edge)
    a, b = xp.where(valid, a, 1.0), xp.where(valid, b, 1.0)
    edge = xp.minimum(xp.maximum(xp.where(valid, edge, 0.0), xp.full_like(edge, -700.0)), xp.full_like(edge, 700.0))
    left = _left_of_median(xp, a, b, edge)
    centre, swap = _log_mean_slope(xp, a, b, m)[..., None], left[..., None]

    def weight(near: Array, far: Array) -> Array:
        return centre - xp.special.exp_excess(xp.where(swap, near, far) if m else xp.where(swap, far, near))

    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), xp.where(left, edge, -edge), weight)
    return xp.where(valid, xp.where(xp.abs(edge) == 700, 0.0, xp.where(left, small, -small)), math.nan)


def _log_mean_slope(xp: Namespace, a: Array, b: Array, m: int) -> Array:
    """Return ``log(a / (a + b)) - psi(a) + psi(a + b)`` if `m` is 1, else the same for `b`."""
    return beyond_logarithm(xp, a, b) if m else beyond_logarithm(xp, b, a)


def log_density_slope(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, m: int) -> Array:
    """Return the derivative of the logarithm of the density of the log ratio at a constant ratio, as `ratio_slope`."""
    total = a + b
    near, own = (x, a) if m else (rest, b)
    mean = own / total
    log = xp.log(xp.where(near > 0, near, 1.0))  # at 0 the density is 0, or derivatives by `own` are infinite
    return _log_mean_slope(xp, a, b, m) - (near / mean - 1 - log + xp.log(mean))


def second_ratio_slope(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, w: Array, m: int, n: int) -> Array:
    """Return the derivative of `ratio_slope` for `m` with respect to `a` if `n` is 1, else `b`; `w` is the density.

    It is the sum of the derivatives of `betainc_moment` and of ``w / a`` by the parameter and by the limit.
    """
    of = xp.special
    slope = _moment_slope(xp, a, b, x, m, 1 - m, (n, 1 - n))
    own, sign = (a, 1) if m else (b, -1)
    other, turn = (a, 1) if n else (b, -1)
    near = x if m else rest
    log = xp.log(xp.where(near > 0, near, 1.0)) - of.psi(own) + of.psi(a + b)  # at 0, `w` is 0
    by_density = sign * w * log_density_slope(xp, a, b, x, rest, n) / own - (sign * w / own**2 if m == n else 0.0)
    return slope + turn * w * log / other + by_density
