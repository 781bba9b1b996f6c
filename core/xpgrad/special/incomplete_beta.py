"""The incomplete beta function, its complement and its inverse.

The default body integrates the beta distribution's density over the difference of the log odds ``log(t / (1 - t))``
from those of the mean, where it is not negligible. It has one peak, at 0, for all parameters. Derivatives of any order
with respect to these are integrals of the density times powers of ``log(t)`` and ``log(1 - t)`` minus their means.
"""

import math
from collections.abc import Callable

from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, stirling_error
from xpgrad.special.incomplete_gamma import DROP, halley, width_of_peak
from xpgrad.special.operands import special, where_scalars
from xpgrad.special.quadrature import integral
from xpgrad.types import Array, Namespace, RealOperand

__all__ = ["betainc", "betainc_moment", "betaincc", "betaincinv"]

NODES = 32
Weight = Callable[[Array, Array], Array]


def _parts(xp: Namespace, mean: Array, rest: Array, w: Array) -> tuple[Array, Array]:
    """Return the logarithms of ``t / mean`` and ``(1 - t) / rest`` for a difference `w` of log odds."""
    near, far, falling = xp.where(w < 0, mean, rest), xp.where(w < 0, rest, mean), xp.expm1(-xp.abs(w))
    change = near * falling
    mild = change > -0.5
    share = xp.where(mild, xp.log1p(xp.where(mild, change, 0.0)), xp.log(far + near * (1 + falling)))
    return xp.where(w < 0, w, 0.0) - share, -xp.where(w < 0, 0.0, w) - share


def _integral(xp: Namespace, a: Array, b: Array, edge: Array, weight: Weight | None) -> Array:
    """Return the integral from 0 of the density times ``weight(log(t / mean), log((1 - t) / (1 - mean)))``.

    `edge` is the upper limit, as a difference of log odds from those of the mean.
    """
    total = a + b
    mean, rest = (a / total + 0 * edge)[..., None], (b / total + 0 * edge)[..., None]
    log_factor = 0.5 * (xp.log(a) + xp.log(b / total)) - LOG_ROOT_2_PI
    log_factor = log_factor + stirling_error(xp, total) - stirling_error(xp, a) - stirling_error(xp, b)
    columns_of_a, columns_of_b, factor = ((z + 0 * edge)[..., None] for z in (a, b, log_factor))

    def density(w: Array) -> Array:
        left, right = _parts(xp, mean, rest, w)
        value = xp.exp(factor + columns_of_a * left + columns_of_b * right)
        return value if weight is None else value * weight(left, right)

    peak = width_of_peak(xp, DROP * (total / (a * b)))
    reach = xp.minimum(peak, DROP / a + (total / a) * xp.log1p(a / b))
    high = xp.minimum(edge, xp.minimum(peak, DROP / b + (total / b) * xp.log1p(b / a)))
    top = xp.minimum(high, xp.zeros_like(high))
    left, _ = _parts(xp, a / total, b / total, top)
    slope = a - a * xp.exp(left)
    low = top - xp.where(slope * reach > DROP, DROP / xp.where(slope > 0, slope, 1.0), reach)
    # below `cut`, t is negligible compared with 1
    cut = xp.minimum(high, xp.maximum(low, -DROP - xp.log(a / b) + 0 * high))
    return integral(xp, density, cut, high, NODES, 4) + integral(xp, density, low, cut, NODES, 1)


def _sides(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Return valid parameters, the limit as log odds, where all are valid, and where the limit is left of the mean."""
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    a, b = xp.where(valid, a, 1.0), xp.where(valid, b, 1.0)
    inner = valid & (x > 0) & (x < 1)
    safe = xp.where(inner, x, 0.5)
    edge = xp.log(safe / (1 - safe)) - xp.log(a / b)
    edge = xp.where(inner, edge, where_scalars(xp, x > 0.5, 700.0, -700.0, x))
    return a, b, edge, valid, edge < 0


def _density(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    """Return the density of the beta distribution at `x`."""
    special = xp.special
    return xp.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def _lower_and_upper(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """Return the function and its complement, each accurate where it is small."""
    a, b, edge, valid, left = _sides(xp, a, b, x)
    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), -xp.abs(edge), None)
    small = xp.where(edge == -700, 0.0, xp.where(edge == 700, 0.0, small))
    return (
        xp.where(valid, xp.where(left, small, 1 - small), math.nan),
        xp.where(valid, xp.where(left, 1 - small, small), math.nan),
    )


@special(
    a=lambda xp, gy, a, b, x: gy * xp.special.betainc_moment(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: gy * xp.special.betainc_moment(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: gy * _density(xp, a, b, x),
)
def betainc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Regularised incomplete beta function, elementwise: the distribution function of the beta distribution.

    The parameters `a` and `b` are positive and the limit `x` from 0 to 1; elsewhere the result is NaN.
    """
    return _lower_and_upper(xp, a, b, x)[0]


@special(
    a=lambda xp, gy, a, b, x: -gy * xp.special.betainc_moment(a, b, x, m=1, n=0),
    b=lambda xp, gy, a, b, x: -gy * xp.special.betainc_moment(a, b, x, m=0, n=1),
    x=lambda xp, gy, a, b, x: -gy * _density(xp, a, b, x),
)
def betaincc(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Complement of `betainc`, ``1 - betainc(a, b, x)``, accurate where it is small, elementwise."""
    return _lower_and_upper(xp, a, b, x)[1]


@special(
    a=lambda xp, gy, a, b, x, m, n: gy * _moment_slope(xp, a, b, x, m, n, (1, 0)),
    b=lambda xp, gy, a, b, x, m, n: gy * _moment_slope(xp, a, b, x, m, n, (0, 1)),
    x=lambda xp, gy, a, b, x, m, n: gy * _integrand(xp, a, b, x, m, n),
)
def betainc_moment(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /, m: int, n: int) -> Array:
    """Integral from 0 to `x` of the beta density times powers of ``log(t)`` and ``log(1 - t)`` minus their means.

    The powers `m` and `n` 1 and 0 give the derivative of `betainc` with respect to `a`, 0 and 1 that to `b`.
    """
    a, b, edge, valid, left = _sides(xp, a, b, x)
    both = xp.special.psi(a + b)
    first = (xp.log(a / (a + b)) - xp.special.psi(a) + both + 0 * edge)[..., None]
    second = (xp.log(b / (a + b)) - xp.special.psi(b) + both + 0 * edge)[..., None]

    def weight(log_t: Array, log_rest: Array) -> Array:
        return _powers(log_t + first, log_rest + second, m, n)

    if m + n > 1:
        return xp.where(valid, _integral(xp, a, b, edge, weight), math.nan)
    swap = left[..., None]

    def swapped(near: Array, far: Array) -> Array:
        return weight(xp.where(swap, near, far), xp.where(swap, far, near))

    small = _integral(xp, xp.where(left, a, b), xp.where(left, b, a), -xp.abs(edge), swapped)
    small = xp.where(xp.abs(edge) == 700, 0.0, small)
    return xp.where(valid, xp.where(left, small, -small), math.nan)


def _powers(first: Array, second: Array, m: int, n: int) -> Array:
    if not m:
        return second**n
    return first**m * second**n if n else first**m


def _integrand(xp: Namespace, a: Array, b: Array, x: Array, m: int, n: int) -> Array:
    both = xp.special.psi(a + b)
    first, second = xp.log(x) - xp.special.psi(a) + both, xp.log1p(-x) - xp.special.psi(b) + both
    return _powers(first, second, m, n) * _density(xp, a, b, x)


def _moment_slope(xp: Namespace, a: Array, b: Array, x: Array, m: int, n: int, by: tuple[int, int]) -> Array:
    """Return the derivative of `betainc_moment` with respect to `a` or `b`, on which the means depend too."""

    def lower(m: int, n: int) -> Array:
        if m == n == 0:
            return xp.special.betainc(a, b, x)
        return xp.special.betainc_moment(a, b, x, m=m, n=n)

    both = xp.special.polygamma_of(a + b, n=1)
    total = xp.special.betainc_moment(a, b, x, m=m + by[0], n=n + by[1])
    if m:
        change = xp.special.polygamma_of(a, n=1) - both if by[0] else -both
        total = total - m * (change * lower(m - 1, n))
    if n:
        change = xp.special.polygamma_of(b, n=1) - both if by[1] else -both
        total = total - n * (change * lower(m, n - 1))
    return xp.where(x == 1, 0.0, total) if m + n == 1 else total  # betainc is 1 there for all parameters


@special(
    a=lambda xp, gy, a, b, y: gy * (-xp.special.betainc_moment(a, b, y, m=1, n=0) / _density(xp, a, b, y)),
    b=lambda xp, gy, a, b, y: gy * (-xp.special.betainc_moment(a, b, y, m=0, n=1) / _density(xp, a, b, y)),
    p=lambda xp, gy, a, b, y: gy / _density(xp, a, b, y),
)
def betaincinv(xp: Namespace, a: RealOperand, b: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `betainc` in its third argument, elementwise.

    `a` and `b` positive, `p` from 0 to 1; elsewhere the result is NaN.

    Notes
    -----
    Bracketed Halley iterations on the logarithms of the smaller tail and of the odds.
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
    y = xp.minimum(xp.maximum(y, low), high)
    for _ in range(12):
        x, rest = xp.special.expit(y), xp.special.expit(-y)
        value = xp.where(left, xp.special.betainc(a, b, x), xp.special.betainc(b, a, rest))
        log_density = a * xp.special.log_expit(y) + b * xp.special.log_expit(-y) - xp.special.betaln(a, b)
        y, low, high = halley(xp, left, y, low, high, goal, value, log_density, a * rest - b * x)
    return xp.where(inner, xp.special.expit(y), xp.where(valid, p + 0 * a * b, math.nan))
