"""Families on a half line or an interval."""

import math
from typing import Any

from xpgrad.array_api import exp, expm1, log, log1p, where
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.real_line import LOG_ROOT_2_PI
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import betaln
from xpgrad.special.distributions import fdtr, fdtrc, fdtri
from xpgrad.special.entropy import xlog1py, xlogy
from xpgrad.special.error_functions import log_ndtr, ndtr, ndtri
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.incomplete_beta import betainc, betaincc, betainccinv, betaincinv
from xpgrad.special.incomplete_gamma import gammainc, gammaincc, gammainccinv, gammaincinv
from xpgrad.special.logistic import expit
from xpgrad.special.polygamma import psi

UNIT: dict[str, Any] = {"low": 0.0, "high": 1.0, "inner": 0.5}


def if_above(x: Variable, bound: float, value: Any, otherwise: float) -> Variable:
    """Return ``value(x)`` where `x` exceeds `bound`, else `otherwise`, without NaN in gradients."""
    above = x > bound
    return where(above, value(where(above, x, bound + 1.0)), otherwise)


UNIFORM = Family(
    name="uniform",
    **UNIT,
    logpdf=lambda z: 0.0 * z,
    cdf=lambda z: z,
    ppf=lambda q: q,
    mean=lambda: 0.5,
    variance=lambda: 1 / 12,
    mode=lambda: 0.5,
    entropy=lambda: 0.0,
)

EXPONENTIAL = Family(
    name="exponential",
    low=0.0,
    inner=1.0,
    logpdf=lambda z: -z,
    cdf=lambda z: -expm1(-z),
    sf=lambda z: exp(-z),
    logsf=lambda z: -z,
    ppf=lambda q: -log1p(-q),
    isf=lambda q: -log(q),
    mean=lambda: 1.0,
    variance=lambda: 1.0,
    mode=lambda: 0.0,
    entropy=lambda: 1.0,
    sample=lambda draws: -log(draws.uniform()),
)

GAMMA = Family(
    name="gamma",
    finite=True,
    low=0.0,
    inner=1.0,
    logpdf=lambda z, a: xlogy(a - 1, z) - z - gammaln(a),
    cdf=lambda z, a: gammainc(a, z),
    sf=lambda z, a: gammaincc(a, z),
    ppf=lambda q, a: gammaincinv(a, q),
    isf=lambda q, a: gammainccinv(a, q),
    mean=lambda a: a,
    variance=lambda a: a,
    mode=lambda a: where(a > 1, a - 1, 0.0),
    entropy=lambda a: a + gammaln(a) + (1 - a) * psi(a),
    sample=lambda draws, a: exp(draws.log_gamma(a)),
)


def _beta_mode(a: Variable, b: Variable) -> Variable:
    """Return the mode: inside if both shapes are above 1, else at the end of the smaller shape."""
    inside = (a > 1) & (b > 1)
    middle = (where(inside, a, 2.0) - 1) / (where(inside, a + b, 4.0) - 2)
    return where(inside, middle, where(a > b, 1.0 + 0 * a, 0.0))


BETA = Family(
    name="beta",
    **UNIT,
    logpdf=lambda z, a, b: xlogy(a - 1, z) + xlog1py(b - 1, -z) - betaln(a, b),
    cdf=lambda z, a, b: betainc(a, b, z),
    sf=lambda z, a, b: betaincc(a, b, z),
    ppf=lambda q, a, b: betaincinv(a, b, q),
    isf=lambda q, a, b: betainccinv(a, b, q),
    mean=lambda a, b: a / (a + b),
    variance=lambda a, b: a * b / (a + b) ** 2 / (a + b + 1),
    mode=_beta_mode,
    entropy=lambda a, b: betaln(a, b) - (a - 1) * psi(a) - (b - 1) * psi(b) + (a + b - 2) * psi(a + b),
    sample=lambda draws, a, b: expit(draws.log_gamma(a) - draws.log_gamma(b)),
)

PARETO = Family(
    name="Pareto",
    low=1.0,
    inner=2.0,
    logpdf=lambda z, a: log(a) - (a + 1) * log(z),
    logsf=lambda z, a: -a * log(z),
    ppf=lambda q, a: exp(-log1p(-q) / a),
    isf=lambda q, a: exp(-log(q) / a),
    mean=lambda a: if_above(a, 1.0, lambda a: a / (a - 1), math.inf),
    variance=lambda a: if_above(a, 2.0, lambda a: a / (a - 1) ** 2 / (a - 2), math.inf),
    mode=lambda a: 1.0 + 0 * a,
    entropy=lambda a: 1 / a + 1 - log(a),
    sample=lambda draws, a: exp(-log(draws.uniform()) / a),
)


def _log_normal_density(x: Variable, mu: Variable, sigma: Variable) -> Variable:
    log_x = log(x)
    z = (log_x - mu) / sigma
    return -0.5 * (z * z) - LOG_ROOT_2_PI - log(sigma) - log_x


LOG_NORMAL = Family(
    name="log-normal",
    low=0.0,
    open=True,
    inner=1.0,
    logpdf=_log_normal_density,
    cdf=lambda x, mu, sigma: ndtr((log(x) - mu) / sigma),
    sf=lambda x, mu, sigma: ndtr((mu - log(x)) / sigma),
    logcdf=lambda x, mu, sigma: log_ndtr((log(x) - mu) / sigma),
    logsf=lambda x, mu, sigma: log_ndtr((mu - log(x)) / sigma),
    ppf=lambda q, mu, sigma: exp(mu + sigma * ndtri(q)),
    isf=lambda q, mu, sigma: exp(mu - sigma * ndtri(q)),
    mean=lambda mu, sigma: exp(mu + 0.5 * sigma**2),
    variance=lambda mu, sigma: exp(2 * mu + sigma**2) * expm1(sigma**2),
    mode=lambda mu, sigma: exp(mu - sigma**2),
    entropy=lambda mu, sigma: mu + log(sigma) + (LOG_ROOT_2_PI + 0.5),
    sample=lambda draws, mu, sigma: exp(mu + sigma * draws.normal()),
)


def _ratio_log_density(x: Variable, d1: Variable, d2: Variable) -> Variable:
    a, b, ratio = 0.5 * d1, 0.5 * d2, d1 / d2
    return a * log(ratio) + xlogy(a - 1, x) - (a + b) * log1p(ratio * x) - betaln(a, b)


def _ratio_variance(d1: Variable, d2: Variable) -> Variable:
    return if_above(d2, 4.0, lambda d2: 2 * d2**2 * (d1 + d2 - 2) / (d1 * (d2 - 2) ** 2 * (d2 - 4)), math.inf)


def _ratio_entropy(d1: Variable, d2: Variable) -> Variable:
    a, b = 0.5 * d1, 0.5 * d2
    return log(d2 / d1) + betaln(a, b) + (1 - a) * psi(a) - (1 + b) * psi(b) + (a + b) * psi(a + b)


F_RATIO = Family(
    name="F",
    finite=True,
    low=0.0,
    inner=1.0,
    logpdf=_ratio_log_density,
    cdf=lambda x, d1, d2: fdtr(d1, d2, x),
    sf=lambda x, d1, d2: fdtrc(d1, d2, x),
    ppf=lambda q, d1, d2: fdtri(d1, d2, q),
    isf=lambda q, d1, d2: 1 / fdtri(d2, d1, q),
    mean=lambda d1, d2: if_above(d2, 2.0, lambda d2: d2 / (d2 - 2), math.inf),
    variance=_ratio_variance,
    mode=lambda d1, d2: if_above(d1, 2.0, lambda d1: (d1 - 2) / d1 * (d2 / (d2 + 2)), 0.0),
    entropy=_ratio_entropy,
    sample=lambda draws, d1, d2: exp(draws.log_gamma(0.5 * d1) - draws.log_gamma(0.5 * d2)) * (d2 / d1),
)
