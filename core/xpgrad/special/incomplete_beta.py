"""The incomplete beta function, its complement and its inverse.

The default body integrates the beta distribution's density over the difference between the log odds ``log(t / (1 -
t))`` and the log odds of the mean, where the density is not negligible. It has one peak, at 0, for all parameters.
Derivatives of any order with respect to these are integrals of the density times powers of ``log(t)`` and ``log(1 -
t)`` minus their means.
"""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.special.beta_functions import beyond_logarithm
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, STIRLING_FROM, stirling_error
from xpgrad.special.incomplete_gamma import DROP, deviance, halley, log_ratio, width_of_peak
from xpgrad.special.operands import special, where_scalars
from xpgrad.special.quadrature import integral
from xpgrad.types import Array, Namespace, RealOperand

__all__ = ["betainc", "betainc_slope", "betaincc", "betainccinv", "betaincinv"]

NODES = 32
Weight = Callable[[Array, Array], Array]


def _parts(xp: Namespace, mean: Array, rest: Array, w: Array) -> tuple[Array, Array]:
    """Return the logarithms of ``t / mean`` and ``(1 - t) / rest`` for a difference `w` of log odds."""
    falling, zero = xp.exp(-xp.abs(w)), xp.zeros_like(w)
    far = xp.log(xp.where(w < 0, rest + mean * falling, mean + rest * falling))

    def part(share: Array, away: Array) -> Array:
        change = share * xp.expm1(xp.where(away < 80, away, 80.0))
        mild = (change > -0.5) & (change < 1) & (away < 80)
        return -xp.where(mild, xp.log1p(xp.where(mild, change, 0.0)), far + xp.maximum(away, zero))

    return part(rest, -w), part(mean, w)


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
    a=lambda xp, gy, a, b, x: gy * xp.special.betainc_slope(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: gy * xp.special.betainc_slope(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: gy * beta_density(xp, a, b, x, 1 - x),
)
def betainc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Regularised incomplete beta function, elementwise: the distribution function of the beta distribution.

    The parameters `a` and `b` are positive and the limit `x` from 0 to 1; otherwise the result is NaN. Second
    derivatives by them are integrals of 192 nodes, which take up to 70 times as long as the function on NumPy.
    Relative errors are up to 1e-9, including derivatives.
    """
    return beta_tails(xp, a, b, x)[0]


@special(
    a=lambda xp, gy, a, b, x: -gy * xp.special.betainc_slope(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: -gy * xp.special.betainc_slope(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: -gy * beta_density(xp, a, b, x, 1 - x),
)
def betaincc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Complement of `betainc`, ``1 - betainc(a, b, x)``, accurate where it is small, elementwise.

    Relative errors are up to 1e-9, including derivatives.
    """
    return beta_tails(xp, a, b, x)[1]


@special(
    a=lambda xp, gy, a, b, x, m, n: gy * xp.special.betainc_slope(a, b, x, m=m + 1, n=n),
    b=lambda xp, gy, a, b, x, m, n: gy * xp.special.betainc_slope(a, b, x, m=m, n=n + 1),
    x=lambda xp, gy, a, b, x, m, n: (
        gy * (_change(xp, a, b, m, n)(*_ends(xp, a, b, x)) * beta_density(xp, a, b, x, 1 - x))
    ),
)
def betainc_slope(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /, m: int, n: int) -> Array:
    """Derivative of `betainc` of orders `m` and `n`, not both 0, with respect to `a` and `b`, elementwise.

    It is an integral from 0 to `x` left of about the median, otherwise one from `x` to 1.
    """
    a, b, edge, valid, left = _sides(xp, a, b, x)
    first, second = (xp.expand_dims(z + 0 * edge, axis=-1) for z in (a, b))
    return xp.where(valid, _derivative(xp, a, b, edge, left, _change(xp, first, second, m, n)), math.nan)


def _derivative(xp: Namespace, a: Array, b: Array, edge: Array, left: Array, change: Weight) -> Array:
    """Return the integral of the density times `change` up to `edge` where `left`, else minus the one from it on."""
    swap = left[..., None]

    def weight(near: Array, far: Array) -> Array:
        return change(xp.where(swap, near, far), xp.where(swap, far, near))

    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), xp.where(left, edge, -edge), weight)
    return xp.where(xp.abs(edge) == 700, 0.0, xp.where(left, small, -small))


def _ends(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """Return the arguments of `_change` at `x`."""
    return log_ratio(xp, x, a / (a + b), a), log_ratio(xp, 1 - x, b / (a + b), b)


def _change(xp: Namespace, a: Array, b: Array, m: int, n: int) -> Weight:
    """Return the derivative of orders `m` and `n` of the density by the parameters, divided by it.

    It is a function of ``log(t / mean)`` and ``log((1 - t) / (1 - mean))``. The density is the product of the
    parameters by which it is differentiated and a factor that is smooth where they are small.
    """
    psi_rise, slopes = xp.special.psi_rise, {}
    for i, j in _orders(m, n):
        own, other = (a, b) if i else (b, a)
        if i + j == 1:
            slopes[i, j] = beyond_logarithm(xp, own + 1, other - 1) - xp.log1p(1 / own)
        else:
            both = i and j
            slopes[i, j] = (
                xp.special.polygamma_of(a + b, n=i + j - 1) if both else psi_rise(own + 1, other - 1, n=i + j - 1)
            )

    def weight(first: Array, second: Array) -> Array:
        logs = {(1, 0): first, (0, 1): second}
        found = _products({key: y + logs.get(key, 0.0) for key, y in slopes.items()}, m, n)
        factors = [(p, q) for p in range(min(m, 1) + 1) for q in range(min(n, 1) + 1)]
        return sum(found[m - p, n - q] * ((m / a) ** p * (n / b) ** q) for p, q in factors)

    return weight


def _orders(m: int, n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(m + 1) for j in range(n + 1) if i + j]


def _products(slopes: dict[tuple[int, int], Array], m: int, n: int) -> dict[tuple[int, int], Array]:
    """Return derivatives of a function up to orders `m` and `n`, divided by it, from those of its logarithm."""
    found: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for i, j in _orders(m, n):
        k, h = (i - 1, j) if i else (i, j - 1)
        lower = [(p, q) for p in range(k + 1) for q in range(h + 1)]
        found[i, j] = sum(math.comb(k, p) * math.comb(h, q) * slopes[i - p, j - q] * found[p, q] for p, q in lower)
    return found


def _inverse_slope(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, m: int) -> Array:
    """Return the derivative of the inverse with respect to `a` if `m` is 1, else to `b`, at `x`, ``1 - rest``."""
    low = x <= 0.5
    a1, b1, x1 = xp.where(low, a, b), xp.where(low, b, a), xp.where(low, x, rest)
    first = xp.special.betainc_slope(a1, b1, x1, m=1, n=0)
    second = xp.special.betainc_slope(a1, b1, x1, m=0, n=1)
    by_a, by_b = xp.where(low, first, -second), xp.where(low, second, -first)
    return -(by_a if m else by_b) / beta_density(xp, a, b, x, rest)


@special(
    a=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, xp.special.betainccinv(b, a, p), 1),
    b=lambda xp, gy, a, b, p, y: gy * _inverse_slope(xp, a, b, y, xp.special.betainccinv(b, a, p), 0),
    p=lambda xp, gy, a, b, p, y: gy / beta_density(xp, a, b, y, xp.special.betainccinv(b, a, p)),
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


def ratio_slope(xp: Namespace, a: Array, b: Array, ratio: Array, m: int, n: int) -> Array:
    """Return the derivative of `betainc` of orders `m` by `a` and `n` by `b`, at a limit that depends on them.

    The limit has odds ``ratio * a / b``, as in the F distribution. The sum of the derivatives by the parameter and by
    the limit would cancel; the integral of the derivative of the density of the logarithm of the ratio does not.
    """
    a, b, ratio = xp.broadcast_arrays(a, b, ratio)
    valid = (a > 0) & (b > 0) & (ratio >= 0)
    a, b = xp.where(valid, a, 1.0), xp.where(valid, b, 1.0)
    edge = xp.where(ratio == 0, -700.0, xp.log(xp.where(ratio > 0, ratio, 1.0)))
    edge = xp.minimum(xp.maximum(edge, xp.full_like(edge, -700.0)), xp.full_like(edge, 700.0))
    left, change = _left_of_median(xp, a, b, edge), _ratio_change(xp, a[..., None], b[..., None], m, n)
    return xp.where(valid, _derivative(xp, a, b, edge, left, change), math.nan)


def ratio_density_change(xp: Namespace, a: Array, b: Array, ratio: Array, m: int, n: int) -> Array:
    """Return the derivative of the density of the ratio, of orders as for `ratio_slope`, divided by the density."""
    a, b, ratio = xp.broadcast_arrays(a, b, ratio)
    limits, zero = xp.finfo(ratio.dtype), ratio == 0
    ratio = xp.clip(ratio, float(limits.smallest_normal) if m else 0.0, 0.25 * float(limits.max))

    def part(share: Array, other: Array, ratio: Array) -> Array:
        change = share * (ratio - 1)
        mild = change > -0.5
        return -xp.where(
            mild, xp.log1p(xp.where(mild, change, 0.0)), xp.log(xp.where(mild, 1.0, other + share * ratio))
        )

    mean, rest = a / (a + b), b / (a + b)
    first = part(rest, mean, 1 / ratio) if m else ratio
    y = _ratio_change(xp, a, b, m, n)(first, part(mean, rest, ratio))
    return xp.where(zero, y - first - xp.log(mean), y) if (m, n) == (1, 0) else y  # with 0 for log(0), as `xlogy`


def _ratio_change(xp: Namespace, a: Array, b: Array, m: int, n: int) -> Weight:
    """Return the function of ``log(t / mean)`` and ``log((1 - t) / (1 - mean))`` that `ratio_slope` integrates.

    Derivatives of the logarithm of the density are `centres` plus polynomials of ``t / mean`` and ``(1 - t) / (1 -
    mean)``; sums of their products are those of the density.
    """
    centres = {(i, j): _centre(xp, a, b, i, j) for i, j in _orders(m, n)}

    def weight(first: Array, second: Array) -> Array:
        slopes = dict(centres)
        for i, j in centres:
            total = i + j
            if total == 1:
                slopes[i, j] = slopes[i, j] - xp.special.exp_excess(first if i else second)
            elif total == 2:
                bends = [xp.expm1(z) for z, power in ((first, i), (second, j)) for _ in range(power)]
                slopes[i, j] = slopes[i, j] + bends[0] * bends[1] / (a + b)
            else:
                p, q = xp.exp(first) if i else 1.0, xp.exp(second) if j else 1.0
                bend = (total - 1) * p**i * q**j - (i * p ** max(i - 1, 0) * q**j + j * p**i * q ** max(j - 1, 0))
                scale = (-1) ** total * math.factorial(total - 2) / (a + b) ** (total - 1)
                slopes[i, j] = slopes[i, j] + scale * (1 + bend)
        return _products(slopes, m, n)[m, n]

    return weight


def _centre(xp: Namespace, a: Array, b: Array, i: int, j: int) -> Array:
    """Return the derivative, of orders `i` by `a` and `j` by `b`, of the logarithm of the density at the mean."""
    if i and j:
        return -beyond_logarithm(xp, a + b, xp.full_like(a, 1e30), i + j - 1)
    return beyond_logarithm(xp, a, b, i - 1) if i else beyond_logarithm(xp, b, a, j - 1)
