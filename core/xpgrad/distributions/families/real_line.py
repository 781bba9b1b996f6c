"""Families on the whole real line."""

import math
from typing import Any

from xpgrad.array_api import abs as abs_
from xpgrad.array_api import atan2, exp, expm1, log, log1p, ones_like, tan, where, zeros_like
from xpgrad.distributions.families.composed import symmetric
from xpgrad.distributions.families.family import Family
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import betaln
from xpgrad.special.distributions import stdtr, stdtrit
from xpgrad.special.error_functions import log_ndtr, ndtr, ndtri
from xpgrad.special.polygamma import psi

EULER = 0.5772156649015329
LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)
LARGE = 1e8
"""``1 + LARGE**2`` is ``LARGE**2`` in double precision, and does not overflow in single precision."""

NORMAL = symmetric(
    name="normal",
    logpdf=lambda z: -0.5 * (z * z) - LOG_ROOT_2_PI,
    cdf=ndtr,
    logcdf=log_ndtr,
    ppf=ndtri,
    mean=lambda: 0.0,
    variance=lambda: 1.0,
    mode=lambda: 0.0,
    entropy=lambda: LOG_ROOT_2_PI + 0.5,
    sample=lambda draws: draws.normal(),
)


def _laplace_tail(z: Variable, log_it: bool) -> Any:
    """Return the distribution function of the Laplace distribution, or its logarithm."""
    far = exp(-abs_(z))
    if log_it:
        return where(z < 0, z - math.log(2), log1p(-0.5 * far))
    return where(z < 0, 0.5 * far, 1 - 0.5 * far)


def _laplace_quantile(q: Variable) -> Variable:
    low = q < 0.5
    size = log(2 * where(low, q, 1 - q))
    return where(low, size, -size)


LAPLACE = symmetric(
    name="Laplace",
    logpdf=lambda z: -abs_(z) - math.log(2),
    cdf=lambda z: _laplace_tail(z, False),
    logcdf=lambda z: _laplace_tail(z, True),
    ppf=_laplace_quantile,
    mean=lambda: 0.0,
    variance=lambda: 2.0,
    mode=lambda: 0.0,
    entropy=lambda: 1 + math.log(2),
)


def log1p_square(z: Variable) -> Variable:
    """Return ``log(1 + z**2)`` without overflow."""
    large = abs_(z) > LARGE
    near = where(large, 0.0, z)
    return where(large, 2 * log(abs_(where(large, z, 1.0))), log1p(near * near))


def _cauchy_quantile(q: Variable) -> Variable:
    low = q < 0.5
    slope = 1 / tan(math.pi * where(low, q, 1 - q))
    return where(low, -slope, slope)


CAUCHY = symmetric(
    name="Cauchy",
    logpdf=lambda z: -math.log(math.pi) - log1p_square(z),
    cdf=lambda z: atan2(ones_like(z), -z) / math.pi,
    ppf=_cauchy_quantile,
    mean=lambda: math.nan,
    variance=lambda: math.nan,
    mode=lambda: 0.0,
    entropy=lambda: math.log(4 * math.pi),
)

GUMBEL = Family(
    name="Gumbel",
    finite=True,
    logpdf=lambda z: -z - exp(-z),
    cdf=lambda z: exp(-exp(-z)),
    sf=lambda z: -expm1(-exp(-z)),
    logcdf=lambda z: -exp(-z),
    ppf=lambda q: -log(-log(q)),
    isf=lambda q: -log(-log1p(-q)),
    mean=lambda: EULER,
    variance=lambda: math.pi**2 / 6,
    mode=lambda: 0.0,
    entropy=lambda: 1 + EULER,
)


def _student_entropy(df: Variable) -> Variable:
    half = 0.5 * (df + 1)
    return half * (psi(half) - psi(0.5 * df)) + 0.5 * log(df) + betaln(0.5 * df, 0.5)


STUDENT = symmetric(
    name="Student's t",
    logpdf=lambda t, df: -0.5 * (df + 1) * log1p_square(t / df**0.5) - betaln(0.5 * df, 0.5) - 0.5 * log(df),
    cdf=lambda t, df: stdtr(df, t),
    ppf=lambda q, df: stdtrit(df, q),
    mean=lambda df: where(df > 1, zeros_like(df), math.nan),
    variance=lambda df: where(df > 2, df / where(df > 2, df - 2, 1.0), where(df > 1, 0 * df + math.inf, math.nan)),
    mode=zeros_like,
    entropy=_student_entropy,
    sample=lambda draws, df: draws.normal() * exp(0.5 * (log(0.5 * df) - draws.log_gamma(0.5 * df))),
)
