"""Further families on the whole real line, under SciPy's parametrisation."""

import math
from typing import Any

from xpgrad.array_api import abs as abs_
from xpgrad.array_api import asinh, atan, exp, expm1, log, log1p, sinh, tan, where
from xpgrad.distributions.families.composed import mirrored, reflected, transformed
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.half_line import GAMMA
from xpgrad.distributions.families.lifetimes import GENERALIZED_HALF_NORMAL, WEIBULL, unscaled
from xpgrad.distributions.families.real_line import GUMBEL, NORMAL, log1p_square
from xpgrad.graph.variable import Variable
from xpgrad.special import expit, log_expit, logit
from xpgrad.special.elementary import log1prel_of
from xpgrad.special.error_functions import log_ndtr, ndtr, ndtri
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.oscillating import owens_t

LOGISTIC = Family(
    name="logistic",
    logpdf=lambda x: log_expit(x) + log_expit(-x),
    cdf=expit,
    sf=lambda x: expit(-x),
    logcdf=log_expit,
    logsf=lambda x: log_expit(-x),
    ppf=logit,
    isf=lambda q: -logit(q),
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 3,
    mode=lambda: 0.0,
    entropy=lambda: 2.0,
)

GENERALIZED_LOGISTIC = Family(
    name="generalized logistic",
    logpdf=lambda x, c: log(c) + log_expit(-x) + c * log_expit(x),
    cdf=lambda x, c: exp(c * log_expit(x)),
    sf=lambda x, c: -expm1(c * log_expit(x)),
    logcdf=lambda x, c: c * log_expit(x),
    ppf=lambda q, c: -log(expm1(-log(q) / c)),
)

HYPERBOLIC_SECANT = Family(
    name="hyperbolic secant",
    logpdf=lambda x: math.log(2 / math.pi) - abs_(x) - log1p(exp(-2 * abs_(x))),
    cdf=lambda x: (2 / math.pi) * atan(exp(x)),
    sf=lambda x: (2 / math.pi) * atan(exp(-x)),
    ppf=lambda q: _secant_quantile(q),
    isf=lambda q: -_secant_quantile(q),
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 4,
    mode=lambda: 0.0,
)


def _secant_quantile(q: Variable) -> Variable:
    left = q < 0.5
    size = log(tan((math.pi / 2) * where(left, q, 1 - q)))
    return where(left, size, -size)


GUMBEL_OF_MINIMA = reflected("Gumbel of minima", GUMBEL)
GENERALIZED_NORMAL = mirrored("generalized normal", GENERALIZED_HALF_NORMAL)
DOUBLE_GAMMA = mirrored("double gamma", GAMMA)
DOUBLE_WEIBULL = mirrored("double Weibull", WEIBULL)

LOG_GAMMA = transformed(
    "log-gamma", GAMMA, lambda x, c: exp(x), lambda x, c: x, lambda y, c: log(y), shapes=lambda c: (c,),
    logpdf=lambda x, c: c * x - exp(x) - gammaln(c),
)  # fmt: skip

MOYAL = transformed(
    "Moyal", GAMMA, lambda x: 0.5 * exp(-x), lambda x: -x - math.log(2), lambda y: -log(2 * y), decreasing=True,
    shapes=lambda: (0.5,), logpdf=lambda x: -0.5 * (x + exp(-x) + math.log(2 * math.pi)),
)  # fmt: skip

JOHNSON_UNBOUNDED = transformed(
    "Johnson's SU", NORMAL, lambda x, a, b: a + b * asinh(x), lambda x, a, b: log(b) - 0.5 * log1p_square(x),
    lambda y, a, b: sinh((y - a) / b),
)  # fmt: skip


def _scaled(x: Variable, c: Variable) -> Variable:
    """Return ``log(1 + c * x) / c``, and `x` where `c` is 0."""
    return x * log1prel_of(c * x, n=0)


def generalized_high(c: Variable) -> Variable:
    """Return the upper end ``1 / c`` for a positive `c`, else infinity."""
    positive = c > 0
    return where(positive, 1 / where(positive, c, 1.0), math.inf)


GENERALIZED_EXTREME = transformed(
    "generalized extreme value", GUMBEL, lambda x, c: _scaled(x, -c), lambda x, c: -log1p(-c * x),
    lambda y, c: unscaled(y, -c), shapes=lambda c: (), low=lambda c: -generalized_high(-c), high=generalized_high,
    open=True,
)  # fmt: skip

POWER_NORMAL = Family(
    name="power normal",
    logpdf=lambda x, c: log(c) + NORMAL.logpdf(x) + (c - 1) * log_ndtr(-x),
    cdf=lambda x, c: -expm1(c * log_ndtr(-x)),
    sf=lambda x, c: exp(c * log_ndtr(-x)),
    logsf=lambda x, c: c * log_ndtr(-x),
    isf=lambda q, c: -ndtri(exp(log(q) / c)),
)

SKEW_NORMAL = Family(
    name="skew normal",
    logpdf=lambda x, a: math.log(2) + NORMAL.logpdf(x) + log_ndtr(a * x),
    cdf=lambda x, a: ndtr(x) - 2 * owens_t(x, a),
    sf=lambda x, a: ndtr(-x) + 2 * owens_t(x, a),
    sample=lambda draws, a: _skewed(draws.normal(), abs_(draws.normal()), a),
)


def _skewed(first: Variable, half: Variable, a: Variable) -> Variable:
    """Combine a normal and a half normal number to a skew normal number."""
    return (a * half + first) / (1 + a * a) ** 0.5


def _modified_tail(x: Variable, k: Variable) -> Any:
    return exp(0.5 / k**2 - x / k + log_ndtr(x - 1 / k))


EXPONENTIALLY_MODIFIED_NORMAL = Family(
    name="exponentially modified normal",
    finite=True,
    logpdf=lambda x, k: -log(k) + 0.5 / k**2 - x / k + log_ndtr(x - 1 / k),
    cdf=lambda x, k: ndtr(x) - _modified_tail(x, k),
    sf=lambda x, k: ndtr(-x) + _modified_tail(x, k),
    mean=lambda k: k,
    variance=lambda k: 1 + k * k,
    sample=lambda draws, k: draws.normal() - k * log(draws.uniform()),
)
