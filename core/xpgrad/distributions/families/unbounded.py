"""Further families on the whole real line, under SciPy's parametrisation."""

import math
from dataclasses import replace
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.distributions.families.composed import mirrored, reflected, symmetric, transformed
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.half_line import GAMMA
from xpgrad.distributions.families.lifetimes import GENERALIZED_HALF_NORMAL, HALF_NORMAL, WEIBULL, log1m_exp, unscaled
from xpgrad.distributions.families.real_line import GUMBEL, NORMAL, log1p_square
from xpgrad.distributions.sampling import none_known_true, points
from xpgrad.graph.variable import Variable
from xpgrad.special import expit, log_expit, logit
from xpgrad.special.elementary import log1prel_of
from xpgrad.special.error_functions import log_ndtr, ndtr, ndtri
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.incomplete_gamma import gammainc, gammaincc, gammaincinv
from xpgrad.special.inverses import ndtri_exp
from xpgrad.special.oscillating import owens_t

LOGISTIC = symmetric(
    name="logistic",
    logpdf=lambda x: log_expit(x) + log_expit(-x),
    cdf=expit,
    logcdf=log_expit,
    ppf=logit,
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 3,
    entropy=lambda: 2.0,
)

GENERALIZED_LOGISTIC = Family(
    name="generalized logistic",
    logpdf=lambda x, c: xpa.log(c) + log_expit(-x) + c * log_expit(x),
    logcdf=lambda x, c: c * log_expit(x),
    ppf=lambda q, c: _generalized_logit(-xpa.log(q) / c),
    isf=lambda q, c: _generalized_logit(-xpa.log1p(-q) / c),
)


def _generalized_logit(y: Variable) -> Variable:
    """Return ``-xpa.log(xpa.exp(y) - 1)`` without overflow."""
    return -y - log1m_exp(y)


HYPERBOLIC_SECANT = symmetric(
    name="hyperbolic secant",
    logpdf=lambda x: math.log(2 / math.pi) - xpa.abs(x) - xpa.log1p(xpa.exp(-2 * xpa.abs(x))),
    cdf=lambda x: (2 / math.pi) * xpa.atan(xpa.exp(x)),
    ppf=lambda q: _secant_quantile(q),
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 4,
)


def _secant_quantile(q: Variable) -> Variable:
    left = q < 0.5
    size = xpa.log(xpa.tan((math.pi / 2) * xpa.where(left, q, 1 - q)))
    return xpa.where(left, size, -size)


GUMBEL_OF_MINIMA = reflected("Gumbel of minima", GUMBEL)
GENERALIZED_NORMAL = mirrored("generalized normal", GENERALIZED_HALF_NORMAL)
DOUBLE_GAMMA = mirrored("double gamma", GAMMA)
DOUBLE_WEIBULL = mirrored("double Weibull", WEIBULL)


FAR = -50.0


def _log_gamma_tail(x: Variable, c: Variable, upper: bool) -> Variable:
    """Return a tail, whose first term is enough where the exponential of `x` may be 0."""
    far = x < FAR
    first = xpa.exp(c * xpa.where(far, x, FAR) - gammaln(c + 1))
    tail = (gammaincc if upper else gammainc)(c, xpa.exp(xpa.where(far, 0.0, x)))
    return xpa.where(far, 1 - first if upper else first, tail)


def _log_gamma_quantile(q: Variable, c: Variable) -> Variable:
    x = (xpa.log(q) + gammaln(c + 1)) / c
    far = x < FAR
    return xpa.where(far, x, xpa.log(gammaincinv(c, xpa.where(far, 0.5, q))))


LOG_GAMMA = transformed(
    "log-gamma", GAMMA, lambda x, c: xpa.exp(x), lambda x, c: x, lambda y, c: xpa.log(y), shapes=lambda c: (c,),
    logpdf=lambda x, c: c * x - xpa.exp(x) - gammaln(c),
)  # fmt: skip
LOG_GAMMA = replace(
    LOG_GAMMA, ppf=_log_gamma_quantile,
    cdf=lambda x, c: _log_gamma_tail(x, c, False), sf=lambda x, c: _log_gamma_tail(x, c, True),
)  # fmt: skip

MOYAL = transformed(
    "Moyal", HALF_NORMAL, lambda x: xpa.exp(-0.5 * x), lambda x: -0.5 * x - math.log(2), lambda y: -2 * xpa.log(y),
    decreasing=True, logpdf=lambda x: -0.5 * (x + xpa.exp(-x) + math.log(2 * math.pi)),
)  # fmt: skip

JOHNSON_UNBOUNDED = transformed(
    "Johnson's SU", NORMAL, lambda x, a, b: a + b * xpa.asinh(x), lambda x, a, b: xpa.log(b) - 0.5 * log1p_square(x),
    lambda y, a, b: xpa.sinh((y - a) / b),
)  # fmt: skip


def _scaled(x: Variable, c: Variable) -> Variable:
    """Return ``log(1 + c * x) / c``, and `x` where `c` is 0."""
    return x * log1prel_of(c * x, n=0)


def generalized_high(c: Variable) -> Variable:
    """Return the upper end ``1 / c`` for a positive `c`, else infinity."""
    positive = c > 0
    return xpa.where(positive, 1 / xpa.where(positive, c, 1.0), math.inf)


GENERALIZED_EXTREME = transformed(
    "generalized extreme value", GUMBEL, lambda x, c: _scaled(x, -c), lambda x, c: -xpa.log1p(-c * x),
    lambda y, c: unscaled(y, -c), shapes=lambda c: (), low=lambda c: -generalized_high(-c), high=generalized_high,
    open=True,
)  # fmt: skip


def _power_normal_quantile(y: Variable) -> Variable:
    """Return the point where the logarithm of the normal survival function is `y`."""
    near = y > -0.7
    return xpa.where(near, ndtri(-xpa.expm1(xpa.where(near, y, -1.0))), -ndtri_exp(y))


POWER_NORMAL = Family(
    name="power normal",
    finite=True,
    logpdf=lambda x, c: xpa.log(c) + NORMAL.logpdf(x) + (c - 1) * log_ndtr(-x),
    logsf=lambda x, c: c * log_ndtr(-x),
    ppf=lambda q, c: _power_normal_quantile(xpa.log1p(-q) / c),
    isf=lambda q, c: _power_normal_quantile(xpa.log(q) / c),
)


def _skewed_tail(x: Variable, a: Variable) -> Variable:
    """Return the distribution function of the skew normal distribution; far from the mean, differences lose digits."""
    y, far = ndtr(x) - 2 * owens_t(x, a), (x < 0) & (a * x < -3)
    if none_known_true(far):
        return y
    return xpa.where(far, _far_tail(xpa.where(far, -x, 1.0), xpa.where(far, a, 1.0)), y)


def _far_tail(h: Variable, a: Variable) -> Variable:
    """Return twice the complement of Owen's function by the double exponential rule."""
    t = 0.25 * xpa.astype(points(30, h, ()), h.dtype) - 3.5
    decay = xpa.exp(-t)
    v, square = xpa.exp(t - decay), (h * h)[..., None]
    slant = square * (a * a)[..., None] + 2 * v
    terms = (0.25 / math.pi) * v * (1 + decay) * xpa.exp(-v) / (xpa.sqrt(slant) * (slant + square))
    return h * xpa.exp(-0.5 * h * h * (1 + a * a)) * xpa.sum(terms, axis=-1)


SKEW_NORMAL = Family(
    name="skew normal",
    finite=True,
    logpdf=lambda x, a: math.log(2) + NORMAL.logpdf(x) + log_ndtr(a * x),
    cdf=_skewed_tail,
    sf=lambda x, a: _skewed_tail(-x, -a),
    sample=lambda draws, a: _skewed(draws.normal(), xpa.abs(draws.normal()), a),
)


def _skewed(first: Variable, half: Variable, a: Variable) -> Variable:
    """Combine a normal and a half normal number to a skew normal number."""
    return (a * half + first) / (1 + a * a) ** 0.5


def _modified_tail(x: Variable, k: Variable) -> Any:
    return xpa.exp(0.5 / k**2 - x / k + log_ndtr(x - 1 / k))


def _modified_lower_tail(x: Variable, k: Variable) -> Variable:
    log_normal = log_ndtr(x)
    return -xpa.exp(log_normal) * xpa.expm1(0.5 / k**2 - x / k + log_ndtr(x - 1 / k) - log_normal)


EXPONENTIALLY_MODIFIED_NORMAL = Family(
    name="exponentially modified normal",
    finite=True,
    logpdf=lambda x, k: -xpa.log(k) + 0.5 / k**2 - x / k + log_ndtr(x - 1 / k),
    cdf=_modified_lower_tail,
    sf=lambda x, k: ndtr(-x) + _modified_tail(x, k),
    mean=lambda k: k,
    variance=lambda k: 1 + k * k,
    sample=lambda draws, k: draws.normal() - k * xpa.log(draws.uniform()),
)
