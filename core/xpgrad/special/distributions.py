"""Distributions of statistics: Student's t, F, binomial, negative binomial, and Kolmogorov's."""

import math
from typing import Any

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.incomplete_beta import betainc, betaincinv
from xpgrad.special.operands import composed, composed_of_counts, special, where_scalars
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "bdtr", "bdtrc", "bdtri", "fdtr", "fdtrc", "fdtri", "kolmogorov", "nbdtr", "nbdtrc", "nbdtri", "stdtr", "stdtrit",
]  # fmt: skip


def _student(xp: Namespace, df: Array, t: Array) -> Array:
    """Return the density of Student's distribution."""
    log = -0.5 * (df + 1) * xp.log1p(t * t / df) - xp.special.betaln(0.5 * df, xp.full_like(df, 0.5)) - 0.5 * xp.log(df)
    return xp.exp(log)


def _student_by_df(xp: Namespace, df: Array, t: Array) -> Array:
    """Return the derivative of `stdtr` with respect to `df`, which is in a parameter and the limit of `betainc`."""
    x = df / (df + t * t)
    by_parameter = 0.25 * xp.sign(t) * xp.special.betainc_moment(0.5 * df, xp.full_like(df, 0.5), x, m=1, n=0)
    return -by_parameter - _student(xp, df, t) * (t / (2 * df))


@special(
    df=lambda xp, gy, df, t: gy * _student_by_df(xp, df, t),
    t=lambda xp, gy, df, t: gy * _student(xp, df, t),
)
def stdtr(xp: Namespace, df: RealOperand, t: RealOperand, /) -> Array:
    """Distribution function of Student's t distribution, elementwise.

    The number of degrees of freedom `df` is positive. At ``t == 0`` the second derivatives with respect to it are NaN.
    """
    square = t * t
    far = square > df
    half = xp.full_like(df + t, 0.5)
    tail = xp.special.betainc(0.5 * df, half, df / (df + square))
    upper = 0.5 * xp.where(far, tail, xp.special.betaincc(half, 0.5 * df, square / (df + square)))
    return xp.where(t < 0, upper, 1 - upper)


@special(
    df=lambda xp, gy, df, y: gy * (-_student_by_df(xp, df, y) / _student(xp, df, y)),
    p=lambda xp, gy, df, y: gy / _student(xp, df, y),
)
def stdtrit(xp: Namespace, df: RealOperand, p: RealOperand, /) -> Array:
    """Inverse of `stdtr` in its second argument: the quantile of Student's t distribution, elementwise.

    The number of degrees of freedom `df` is positive. At the probabilities 0 and 1 the result is infinite.
    """
    tail = xp.minimum(p, 1 - p)
    half = xp.full_like(df + p, 0.5)
    inner = tail > 0
    safe = xp.where(inner, tail, 0.25)
    far = safe < 0.2
    x = xp.special.betaincinv(0.5 * df, half, xp.where(far, 2 * safe, 0.5))
    rest = xp.special.betaincinv(half, 0.5 * df, xp.where(far, 0.5, 1 - 2 * safe))
    size = xp.sqrt(df) * xp.sqrt(xp.where(far, (1 - x) / x, rest / (1 - rest)))
    size = xp.where(inner, size, where_scalars(xp, tail == 0, math.inf, math.nan, p))
    return xp.where(p < 0.5, -size, size)


@composed
def fdtr(dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Variable:
    """Return the distribution function of the F distribution, elementwise.

    `dfn` and `dfd` are the degrees of freedom of numerator and denominator, positive; `x` is not negative.
    """
    scaled = dfn * x
    return betainc(dfn / 2, dfd / 2, scaled / (dfd + scaled))


@composed
def fdtrc(dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Variable:
    """Return the survival function of the F distribution, elementwise.

    `dfn` and `dfd` are the degrees of freedom of numerator and denominator, positive; `x` is not negative.
    """
    return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


@composed
def fdtri(dfn: RealOperand, dfd: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `fdtr` in its third argument, elementwise."""
    rest = betaincinv(dfd / 2, dfn / 2, 1 - p)
    return dfd * ((1 - rest) / (dfn * rest))


@composed_of_counts(2)
def bdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` successes in `n` trials of probability `p`, elementwise."""
    return _unless_certain(k == n, p, 1.0, lambda k, n: betainc(n - k, k + 1, 1 - p), k, n)


@composed_of_counts(2)
def bdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` successes in `n` trials of probability `p`, elementwise."""
    return _unless_certain(k == n, p, 0.0, lambda k, n: betainc(k + 1, n - k, p), k, n)


@composed_of_counts(2)
def bdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `bdtr` in its third argument, elementwise."""
    return betaincinv(k + 1, n - k, 1 - y)


@composed_of_counts(2)
def nbdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` failures before success `n`, each of probability `p`, elementwise."""
    return betainc(n, k + 1, p)


@composed_of_counts(2)
def nbdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` failures before success `n`, each of probability `p`, elementwise."""
    return betainc(k + 1, n, 1 - p)


@composed_of_counts(2)
def nbdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `nbdtr` in its third argument, elementwise."""
    return betaincinv(n, k + 1, y)


def _unless_certain(certain: Any, p: Any, value: float, f: Any, k: Any, n: Any) -> Variable:
    """Return `value` where the outcome is certain, `f` elsewhere."""
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
