"""Distributions of statistics: Student's t, F, binomial, negative binomial, and Kolmogorov's."""

import math
from typing import Any

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.graph.variable import Variable
from xpgrad.special.incomplete_beta import betainc, betaincinv
from xpgrad.special.operands import either, fitted, special
from xpgrad.types import AnyArray, Array, Namespace, RealOperand


def _student(xp: Namespace, df: Array, t: Array) -> Array:
    """Return the density of Student's distribution."""
    log = -0.5 * (df + 1) * xp.log1p(t * t / df) - xp.special.betaln(0.5 * df, xp.full_like(df, 0.5)) - 0.5 * xp.log(df)
    return xp.exp(log)


def _student_by_df(xp: Namespace, df: Array, t: Array) -> Array:
    """Return the derivative of `stdtr` by its degrees of freedom: that of the beta function's parameter and limit."""
    x = df / (df + t * t)
    by_parameter = 0.25 * xp.sign(t) * xp.special.betainc_moment(0.5 * df, xp.full_like(df, 0.5), x, m=1, n=0)
    return -by_parameter - _student(xp, df, t) * (t / (2 * df))


@special(
    df=lambda xp, gy, df, t: gy * _student_by_df(xp, df, t),
    t=lambda xp, gy, df, t: gy * _student(xp, df, t),
)
def stdtr(xp: Namespace, df: RealOperand, t: RealOperand, /) -> Array:
    """Distribution function of Student's t distribution, elementwise.

    Parameters
    ----------
    df, t : Variable or array, real
        Degrees of freedom, positive, and the quantile. At ``t == 0`` the second derivatives by `df` are NaN.
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

    Parameters
    ----------
    df, p : Variable or array, real
        Degrees of freedom, positive, and a probability; at 0 and 1 the result is infinite.
    """
    tail = xp.minimum(p, 1 - p)
    half = xp.full_like(df + p, 0.5)
    inner = tail > 0
    safe = xp.where(inner, tail, 0.25)
    far = safe < 0.2
    x = xp.special.betaincinv(0.5 * df, half, xp.where(far, 2 * safe, 0.5))
    rest = xp.special.betaincinv(half, 0.5 * df, xp.where(far, 0.5, 1 - 2 * safe))
    size = xp.sqrt(df) * xp.sqrt(xp.where(far, (1 - x) / x, rest / (1 - rest)))
    size = xp.where(inner, size, either(xp, tail == 0, math.inf, math.nan, p))
    return xp.where(p < 0.5, -size, size)


def fdtr(dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Variable:
    """Return the distribution function of the F distribution, elementwise.

    Parameters
    ----------
    dfn, dfd, x : Variable or array, real
        Degrees of freedom of numerator and denominator, positive, and the quantile, not negative.
    """
    dfn, dfd, x = fitted("fdtr", (dfn, dfd, x))
    scaled = dfn * x
    return betainc(dfn / 2, dfd / 2, scaled / (dfd + scaled))


def fdtrc(dfn: RealOperand, dfd: RealOperand, x: RealOperand, /) -> Variable:
    """Return the survival function of the F distribution, elementwise.

    Parameters
    ----------
    dfn, dfd, x : Variable or array, real
        Degrees of freedom of numerator and denominator, positive, and the quantile, not negative.
    """
    dfn, dfd, x = fitted("fdtrc", (dfn, dfd, x))
    return betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


def fdtri(dfn: RealOperand, dfd: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `fdtr` in its third argument, elementwise.

    Parameters
    ----------
    dfn, dfd, p : Variable or array, real
    """
    dfn, dfd, p = fitted("fdtri", (dfn, dfd, p))
    rest = betaincinv(dfd / 2, dfn / 2, 1 - p)
    return dfd * ((1 - rest) / (dfn * rest))


def bdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` successes in `n` trials of probability `p`, elementwise.

    Parameters
    ----------
    k, n, p : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients.
    """
    k, n, p = _counted("bdtr", k, n, p)
    return _where(k == n, p, 1.0, lambda k, n, p: betainc(n - k, k + 1, 1 - p), k, n)


def bdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` successes in `n` trials of probability `p`, elementwise.

    Parameters
    ----------
    k, n, p : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients.
    """
    k, n, p = _counted("bdtrc", k, n, p)
    return _where(k == n, p, 0.0, lambda k, n, p: betainc(k + 1, n - k, p), k, n)


def bdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `bdtr` in its third argument, elementwise.

    Parameters
    ----------
    k, n, y : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients.
    """
    k, n, y = _counted("bdtri", k, n, y)
    return betaincinv(k + 1, n - k, 1 - y)


def nbdtr(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of at most `k` failures before the success number `n`, elementwise.

    Parameters
    ----------
    k, n, p : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients. `p` is the probability of a success.
    """
    k, n, p = _counted("nbdtr", k, n, p)
    return betainc(n, k + 1, p)


def nbdtrc(k: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the probability of more than `k` failures before the success number `n`, elementwise.

    Parameters
    ----------
    k, n, p : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients. `p` is the probability of a success.
    """
    k, n, p = _counted("nbdtrc", k, n, p)
    return betainc(k + 1, n, 1 - p)


def nbdtri(k: RealOperand, n: RealOperand, y: RealOperand, /) -> Variable:
    """Return the inverse of `nbdtr` in its third argument, elementwise.

    Parameters
    ----------
    k, n, y : Variable or array, real
        The fractions of `k` and `n` are dropped; these have no gradients.
    """
    k, n, y = _counted("nbdtri", k, n, y)
    return betaincinv(n, k + 1, y)


def _counted(name: str, k: Any, n: Any, p: Any) -> tuple[Variable, Variable, Variable]:
    k, n, p = fitted(name, (k, n, p))
    floor = p.__array_namespace__().floor
    return floor(k), floor(n), p


def _where(certain: Variable, p: Variable, value: float, f: Any, k: Variable, n: Variable) -> Variable:
    """Return `value` where the outcome is certain, `f` elsewhere."""
    xp = p.__array_namespace__()
    y = f(xp.where(certain, 0.0, k), xp.where(certain, 1.0, n), p)
    return xp.where(certain & (p >= 0) & (p <= 1), value, y)  # type: ignore[no-any-return]  # a primitive


def kolmogorov(x: AnyArray, /) -> Variable:
    """Return the survival function of Kolmogorov's limiting distribution, elementwise.

    Parameters
    ----------
    x : Variable or array, real

    Notes
    -----
    The two theta series of W. Feller: On the Kolmogorov–Smirnov limit theorems, Ann. Math. Stat. 19 (1948).
    """
    (x,) = fitted("kolmogorov", (x,))
    xp = x.__array_namespace__()
    far = x > 0.9
    wide, near = xp.where(far, x, 1.0), xp.where(far | (x < 0.04), 0.5, x)
    tail: Any = 0.0
    for k in range(1, 6):
        tail = tail + 2 * (-1) ** (k - 1) * exp(-2 * k * k * (wide * wide))
    body: Any = 0.0
    for k in range(1, 10, 2):
        body = body + exp(-((k * math.pi) ** 2 / 8) / (near * near))
    body = 1 - math.sqrt(2 * math.pi) * (body / near)
    return xp.where(far, tail, xp.where(x < 0.04, 1.0, body))  # type: ignore[no-any-return]  # a primitive
