"""Distributions of statistics: Student's t, F, binomial, negative binomial and Kolmogorov distributions."""

import math
from typing import Any

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special import incomplete_beta
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, stirling_error
from xpgrad.special.incomplete_gamma import log_excess
from xpgrad.special.operands import composed, composed_of_counts, special, where_scalars
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "bdtr", "bdtrc", "bdtri", "fdtr", "fdtr_slope", "fdtrc", "fdtri", "kolmogorov", "nbdtr", "nbdtrc", "nbdtri",
    "stdtr", "stdtr_slope", "stdtrit",
]  # fmt: skip


def student_density(xp: Namespace, df: Array, t: Array) -> Array:
    """Return the density of Student's distribution."""
    square = t * t / df
    near = square < 1  # there, terms of logarithms are small if there are many degrees, and so are their derivatives
    log = 0.5 * (df + 1) * log_excess(xp, xp.where(near, square, 0.0)) - 0.5 * (1 + 1 / df) * xp.where(near, t * t, 0.0)
    log = log + stirling_error(xp, 0.5 * df + 0.5) - stirling_error(xp, 0.5 * df) - LOG_ROOT_2_PI
    shape = xp.exp(log - 0.5 * df * log_excess(xp, 1 / df))
    power = xp.pow(1 + xp.where(near, 0.0, square), -0.5 * (df + 1))  # whose exponent is not rounded
    return shape * power


@special(
    df=lambda xp, gy, df, t, n: gy * xp.special.stdtr_slope(df, t, n=n + 1),
    t=lambda xp, gy, df, t, n: gy * (student_density(xp, df, t) * _change(xp, xp.ones_like(df + t), df, t * t, 0, n)),
)
def stdtr_slope(xp: Namespace, df: RealOperand, t: RealOperand, /, n: int) -> Array:
    """Derivative of `stdtr` of order `n`, at least 1, with respect to `df`, elementwise."""
    slope = incomplete_beta.ratio_slope(xp, xp.full_like(df + t, 0.5), 0.5 * df, t * t, 0, n)
    return 0.5 ** (n + 1) * xp.sign(t) * slope


def _change(xp: Namespace, dfn: Array, dfd: Array, x: Array, m: int, n: int) -> Array:
    """Return the derivative of the density of orders `m` by `dfn` and `n` by `dfd`, divided by the density."""
    return 0.5 ** (m + n) * incomplete_beta.ratio_density_change(xp, 0.5 * dfn, 0.5 * dfd, x, m, n)


@special(
    df=lambda xp, gy, df, t: gy * xp.special.stdtr_slope(df, t, n=1),
    t=lambda xp, gy, df, t: gy * student_density(xp, df, t),
)
def stdtr(xp: Namespace, df: RealOperand, t: RealOperand, /) -> Array:
    """Distribution function of Student's t distribution, elementwise.

    The number of degrees of freedom `df` is positive; below 0.001, second derivatives by it have fewer digits.
    Relative errors are up to 1e-11, including derivatives.
    """
    square = t * t
    far = square > df
    half = xp.full_like(df + t, 0.5)
    tail = xp.special.betainc(0.5 * df, half, df / (df + square))
    upper = 0.5 * xp.where(far, tail, xp.special.betaincc(half, 0.5 * df, square / (df + square)))
    return xp.where(t < 0, upper, 1 - upper)


def _quantile_by_df(xp: Namespace, df: Array, p: Array, y: Array) -> Array:
    """Return the derivative of a quantile by `df`; far out in the tail, of the first term of its power series."""
    log_tail, log_size = xp.log(2 * xp.minimum(p, 1 - p)), xp.log(xp.abs(y))
    far = (log_tail < -600) & (2 * log_size - xp.log(df) > 40)
    half = 0.5 * df
    psi, constant = xp.special.psi, xp.log(half) + xp.special.betaln(half, xp.full_like(half, 0.5))
    slope = (log_tail + constant) / (df * df) - (1 / df + 0.5 * (psi(half) - psi(half + 0.5))) / df
    first = y * (0.5 / df + slope)
    near = xp.where(far, 1.0, y)
    return xp.where(far, first, -xp.special.stdtr_slope(df, near, n=1) / student_density(xp, df, near))


@special(
    df=lambda xp, gy, df, p, y: gy * _quantile_by_df(xp, df, p, y),
    p=lambda xp, gy, df, y: gy / student_density(xp, df, y),
)
def stdtrit(xp: Namespace, df: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `stdtr` in its second argument: the quantile of Student's t distribution, elementwise.

    The number of degrees of freedom `df` is positive. At the probabilities 0 and 1 the result is infinite.
    Relative errors are up to 1e-10, including derivatives.
    """
    tail = xp.minimum(p, 1 - p)
    half = xp.full_like(df + p, 0.5)
    inner = tail > 0
    safe = xp.where(inner, tail, 0.25)
    far = safe < 0.2
    x = xp.special.betaincinv(0.5 * df, half, xp.where(far, 2 * safe, 0.5))
    rest = xp.special.betaincinv(half, 0.5 * df, xp.where(far, 0.5, 1 - 2 * safe))
    size = xp.sqrt(xp.where(far, (1 - x) / xp.where(x > 0, x, 1.0), rest / (1 - rest)))
    beyond = far & (x < 1e-290)  # where x is not a normal number, only the first term of its power series counts
    log = xp.log(2 * safe) / df + (xp.log(0.5 * df) + xp.special.betaln(0.5 * df, half)) / df
    size = xp.sqrt(df) * xp.where(beyond, xp.exp(-xp.where(beyond, log, 0.0)), size)
    size = xp.where(inner, size, where_scalars(xp, tail == 0, math.inf, math.nan, p))
    return xp.where(p < 0.5, -size, size)


def _ratio_parts(xp: Namespace, dfn: Array, dfd: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return the parameters of the beta distribution of ``dfn * x / (dfd + dfn * x)``, this, and 1 minus this."""
    dfn, dfd, x = xp.broadcast_arrays(dfn, dfd, x)
    infinite = xp.isinf(dfn * x)
    scaled = xp.where(infinite, 1.0, dfn * x)
    total = xp.where(infinite, 1.0, dfd + scaled)
    return 0.5 * dfn, 0.5 * dfd, scaled / total, xp.where(infinite, 0.0, dfd / total)


def _ratio_density(xp: Namespace, dfn: Array, dfd: Array, x: Array) -> Array:
    """Return the density of the F distribution."""
    zero = (x == 0) & (dfn > 2)
    a, b, at, rest = _ratio_parts(xp, dfn, dfd, xp.where(zero, 1.0, x))
    return xp.where(zero, 0.0, incomplete_beta.beta_density(xp, a, b, at, rest) * rest * (dfn / dfd) * rest)


@special(
    dfn=lambda xp, gy, dfn, dfd, x, m, n: gy * xp.special.fdtr_slope(dfn, dfd, x, m=m + 1, n=n),
    dfd=lambda xp, gy, dfn, dfd, x, m, n: gy * xp.special.fdtr_slope(dfn, dfd, x, m=m, n=n + 1),
    x=lambda xp, gy, dfn, dfd, x, m, n: gy * (_ratio_density(xp, dfn, dfd, x) * _change(xp, dfn, dfd, x, m, n)),
)
def fdtr_slope(xp: Namespace, dfn: RealOperand, dfd: RealOperand, x: RealOperand, /, m: int, n: int) -> Array:
    """Derivative of `fdtr` of orders `m` and `n`, not both 0, with respect to `dfn` and `dfd`, elementwise."""
    return 0.5 ** (m + n) * incomplete_beta.ratio_slope(xp, 0.5 * dfn, 0.5 * dfd, x, m, n)


def _ratio_tail(xp: Namespace, dfn: Array, dfd: Array, x: Array, upper: bool) -> Array:
    a, b, at, rest = _ratio_parts(xp, dfn, dfd, x)
    low = at <= 0.5
    a1, b1, x1 = xp.where(low, a, b), xp.where(low, b, a), xp.where(low, at, rest)
    lower, complement = xp.special.betainc(a1, b1, x1), xp.special.betaincc(a1, b1, x1)
    return xp.where(low, complement, lower) if upper else xp.where(low, lower, complement)


@special(
    dfn=lambda xp, gy, dfn, dfd, x: gy * xp.special.fdtr_slope(dfn, dfd, x, m=1, n=0),
    dfd=lambda xp, gy, dfn, dfd, x: gy * xp.special.fdtr_slope(dfn, dfd, x, m=0, n=1),
    x=lambda xp, gy, dfn, dfd, x: gy * _ratio_density(xp, dfn, dfd, x),
)
def fdtr(xp: Namespace, dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Array:
    """Distribution function of the F distribution, elementwise.

    `dfn` and `dfd` are the degrees of freedom of numerator and denominator, positive; `x` is not negative.
    Relative errors are up to 1e-9, including derivatives.
    """
    return _ratio_tail(xp, dfn, dfd, x, False)


@special(
    dfn=lambda xp, gy, dfn, dfd, x: -gy * xp.special.fdtr_slope(dfn, dfd, x, m=1, n=0),
    dfd=lambda xp, gy, dfn, dfd, x: -gy * xp.special.fdtr_slope(dfn, dfd, x, m=0, n=1),
    x=lambda xp, gy, dfn, dfd, x: -gy * _ratio_density(xp, dfn, dfd, x),
)
def fdtrc(xp: Namespace, dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Array:
    """Survival function of the F distribution, elementwise.

    `dfn` and `dfd` are the degrees of freedom of numerator and denominator, positive; `x` is not negative.
    Relative errors are up to 1e-9, including derivatives.
    """
    return _ratio_tail(xp, dfn, dfd, x, True)


@special(
    dfn=lambda xp, gy, dfn, dfd, y: (
        gy * (-xp.special.fdtr_slope(dfn, dfd, y, m=1, n=0) / _ratio_density(xp, dfn, dfd, y))
    ),
    dfd=lambda xp, gy, dfn, dfd, y: (
        gy * (-xp.special.fdtr_slope(dfn, dfd, y, m=0, n=1) / _ratio_density(xp, dfn, dfd, y))
    ),
    p=lambda xp, gy, dfn, dfd, y: gy / _ratio_density(xp, dfn, dfd, y),
)
def fdtri(xp: Namespace, dfn: RealOperand, dfd: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `fdtr` in its third argument, elementwise.

    Relative errors are up to 1e-6, including derivatives.
    """
    a, b = 0.5 * dfn, 0.5 * dfd
    return (dfd / dfn) * (xp.special.betaincinv(a, b, p) / xp.special.betainccinv(b, a, p))


@composed_of_counts(2)
def bdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` successes in `n` trials of probability `p`, elementwise."""
    return _unless_certain(k == n, p, 1.0, lambda k, n: incomplete_beta.betaincc(k + 1, n - k, p), k, n)


@composed_of_counts(2)
def bdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` successes in `n` trials of probability `p`, elementwise."""
    return _unless_certain(k == n, p, 0.0, lambda k, n: incomplete_beta.betainc(k + 1, n - k, p), k, n)


@composed_of_counts(2)
def bdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `bdtr` in its third argument, elementwise.

    Relative errors are up to 1e-6, including derivatives.
    """
    return incomplete_beta.betainccinv(k + 1, n - k, y)


@composed_of_counts(2)
def nbdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` failures before success `n`, each of probability `p`, elementwise."""
    return incomplete_beta.betainc(n, k + 1, p)


@composed_of_counts(2)
def nbdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` failures before success `n`, each of probability `p`, elementwise."""
    return incomplete_beta.betaincc(n, k + 1, p)


@composed_of_counts(2)
def nbdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `nbdtr` in its third argument, elementwise.

    Relative errors are up to 1e-12, including derivatives.
    """
    return incomplete_beta.betaincinv(n, k + 1, y)


def _unless_certain(certain: Any, p: Any, value: float, f: Any, k: Any, n: Any) -> Variable:
    """Return `value` if the outcome is certain, otherwise `f`."""
    y = f(where(certain, 0.0, k), where(certain, 1.0, n))
    return where(certain & (p >= 0) & (p <= 1), value, y)


@composed
def kolmogorov(x: AnyArray, /) -> Variable:
    """Return the survival function of Kolmogorov's limiting distribution, elementwise.

    Notes
    -----
    The two theta series of W. Feller: On the Kolmogorov–Smirnov limit theorems, Ann. Math. Stat. 19 (1948).
    """
    far = x > 0.9
    large, small = where(far, x, 1.0), where(far | (x < 0.04), 0.5, x)
    tail: Any = 0.0
    for k in range(1, 6):
        tail = tail + 2 * (-1) ** (k - 1) * exp(-2 * k * k * (large * large))
    body: Any = 0.0
    for k in range(1, 10, 2):
        body = body + exp(-((k * math.pi) ** 2 / 8) / (small * small))
    body = 1 - math.sqrt(2 * math.pi) * (body / small)
    return where(far, tail, where(x < 0.04, 1.0, body))
