"""Further families on an interval, under SciPy's parametrisation."""

import math

from xpgrad.array_api import asin, atan2, cos, exp, expm1, log, log1p, maximum, minimum, sin, sqrt, where, zeros_like
from xpgrad.distributions.families.composed import symmetric, transformed
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.half_line import BETA, EXPONENTIAL, UNIFORM, UNIT
from xpgrad.distributions.families.real_line import NORMAL
from xpgrad.distributions.sampling import none_known_true
from xpgrad.graph.variable import Variable
from xpgrad.special import expit, logit
from xpgrad.special.entropy import xlogy
from xpgrad.special.error_functions import log_ndtr, ndtr, ndtri
from xpgrad.special.incomplete_beta import betaincinv

POWER_LAW = transformed(
    "power law", EXPONENTIAL, lambda x, a: -a * log(x), lambda x, a: log(a) - log(x), lambda y, a: exp(-y / a),
    decreasing=True, logpdf=lambda x, a: log(a) + xlogy(a - 1, x), **UNIT,
)  # fmt: skip
JOHNSON_BOUNDED = transformed(
    "Johnson's SB", NORMAL, lambda x, a, b: a + b * logit(x), lambda x, a, b: log(b) - log(x) - log1p(-x),
    lambda y, a, b: expit((y - a) / b), open=True, **UNIT,
)  # fmt: skip
LOG_UNIFORM = transformed(
    "log-uniform", UNIFORM, lambda x, a, b: log(x / a) / log(b / a), lambda x, a, b: -log(x) - log(log(b / a)),
    lambda y, a, b: a * exp(y * log(b / a)), low=lambda a, b: a, high=lambda a, b: b, inner=lambda a, b: sqrt(a * b),
)  # fmt: skip
BRADFORD = transformed(
    "Bradford", UNIFORM, lambda x, c: log1p(c * x) / log1p(c), lambda x, c: log(c) - log1p(c * x) - log(log1p(c)),
    lambda y, c: expm1(y * log1p(c)) / c, **UNIT,
)  # fmt: skip
R_DISTRIBUTION = transformed(
    "R", BETA, lambda x, c: 0.5 + 0.5 * x, lambda x, c: -math.log(2), lambda y, c: 2 * y - 1,
    shapes=lambda c: (0.5 * c, 0.5 * c), low=-1.0, high=1.0,
)  # fmt: skip
ARCSINE = Family(
    name="arcsine",
    **UNIT,
    logpdf=lambda x: -math.log(math.pi) - 0.5 * log(x * (1 - x)),
    cdf=lambda x: (2 / math.pi) * atan2(sqrt(x), sqrt(1 - x)),
    sf=lambda x: (2 / math.pi) * atan2(sqrt(1 - x), sqrt(x)),
    ppf=lambda q: sin((math.pi / 2) * q) ** 2,
    isf=lambda q: sin((math.pi / 2) * (1 - q)) ** 2,
    mean=lambda: 0.5,
    variance=lambda: 1 / 8,
)
ANGLIT = Family(
    name="anglit",
    low=-math.pi / 4,
    high=math.pi / 4,
    logpdf=lambda x: log(cos(2 * x)),
    cdf=lambda x: sin(x + math.pi / 4) ** 2,
    sf=lambda x: cos(x + math.pi / 4) ** 2,
    ppf=lambda q: asin(sqrt(q)) - math.pi / 4,
    isf=lambda q: math.pi / 4 - asin(sqrt(q)),
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 16 - 0.5,
    entropy=lambda: 1 - math.log(2),
)


def _cosine_tail(x: Variable) -> Variable:
    """Return the distribution function of the cosine distribution, accurate near both ends."""
    d = _distance(x)
    tail, near = d - sin(d), d < 0.5
    if not none_known_true(near):
        square = where(near, d * d, 0.0)
        series = 1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110 * (1 - square / 156))))
        tail = where(near, d * square * series / 6, tail)
    return where(x < 0, tail, 2 * math.pi - tail) / (2 * math.pi)


def _distance(x: Variable) -> Variable:
    """Return the distance of `x` from the nearer of the ends -pi and pi."""
    return where(x < 0, math.pi + x, math.pi - x)


COSINE = symmetric(
    name="cosine",
    low=-math.pi,
    high=math.pi,
    logpdf=lambda x: 2 * log(sin(0.5 * _distance(x))) - math.log(math.pi),
    cdf=_cosine_tail,
    mean=lambda: 0.0,
    variance=lambda: math.pi**2 / 3 - 2,
    entropy=lambda: math.log(4 * math.pi) - 1,
)
SEMICIRCULAR = symmetric(
    name="semicircular",
    low=-1.0,
    high=1.0,
    logpdf=lambda x: math.log(2 / math.pi) + 0.5 * log1p(-x * x),
    cdf=lambda x: 0.5 + (x * sqrt(1 - x * x) + asin(x)) / math.pi,
    ppf=lambda q: 2 * betaincinv(1.5, 1.5, q) - 1,
    mean=lambda: 0.0,
    variance=lambda: 0.25,
)


def _triangle(x: Variable, c: Variable, left: Variable, right: Variable) -> Variable:
    """Return `left` below the mode and `right` above it, where the mode may be an end."""
    return where((x < c) | (c >= 1), left, right)


def _safe(c: Variable) -> tuple[Variable, Variable]:
    """Return the lengths of both sides of the mode, 1 for 0, which no point divides by."""
    return where(c > 0, c, 1.0), where(c < 1, 1 - c, 1.0)


TRIANGULAR = Family(
    name="triangular",
    **UNIT,
    logpdf=lambda x, c: _triangle(x, c, log(2 * x / _safe(c)[0]), log(2 * (1 - x) / _safe(c)[1])),
    cdf=lambda x, c: _triangle(x, c, x * x / _safe(c)[0], 1 - (1 - x) ** 2 / _safe(c)[1]),
    sf=lambda x, c: _triangle(x, c, 1 - x * x / _safe(c)[0], (1 - x) ** 2 / _safe(c)[1]),
    ppf=lambda q, c: _triangle(q, c, sqrt(c * q), 1 - sqrt((1 - c) * (1 - q))),
    isf=lambda q, c: _triangle(1 - q, c, sqrt(c * (1 - q)), 1 - sqrt((1 - c) * q)),
    mean=lambda c: (1 + c) / 3,
    variance=lambda c: (1 - c + c * c) / 18,
    entropy=lambda c: 0.5 - math.log(2) + 0 * c,
)

TRUNCATED_EXPONENTIAL = Family(
    name="truncated exponential",
    low=0.0,
    high=lambda b: b,
    inner=lambda b: 0.5 * b,
    logpdf=lambda x, b: -x - log(-expm1(-b)),
    cdf=lambda x, b: expm1(-x) / expm1(-b),
    sf=lambda x, b: exp(-x) * expm1(x - b) / expm1(-b),
    ppf=lambda q, b: -log1p(q * expm1(-b)),
)


def _log_mass(a: Variable, b: Variable) -> Variable:
    """Return the logarithm of the probability that a standard normal number is between `a` and `b`.

    In narrow intervals, where the difference of two probabilities has few digits, by a series about the middle.
    """
    narrow = (b > a) & ((b - a) * (b - a) * (1.0 + a * a) < 4e-4)
    m, h = where(narrow, 0.5 * (a + b), 0.0), where(narrow, b - a, 1e-2)
    m2, h2 = m * m, h * h
    near = NORMAL.logpdf(m) + log(h) + log1p(h2 / 24 * (m2 - 1.0 + h2 / 80 * (m2 * m2 - 6 * m2 + 3.0)))
    flipped = a > 0
    upper = log_ndtr(where(flipped, -a, b))
    lower = log_ndtr(where(flipped, -b, a))
    share = -expm1(lower - upper)
    empty = share <= 0
    far = where(empty, -math.inf, upper + log(where(empty | narrow, 1.0, share)))
    return where(narrow, near, far)


def _log_share(part: Variable, rest: Variable) -> Variable:
    """Return the logarithm of a probability by those of an event and of its opposite, from the smaller one."""
    large = rest < -1.0
    return where(large, log1p(-exp(where(large, rest, -1.0))), part)


def _truncated_quantile(q: Variable, a: Variable, b: Variable) -> Variable:
    flipped = a > 0
    low, high = ndtr(where(flipped, -a, a)), ndtr(where(flipped, -b, b))
    z = ndtri(low + q * (high - low))
    return minimum(maximum(where(flipped, -z, z), a), b)


TRUNCATED_NORMAL = Family(
    name="truncated normal",
    low=lambda a, b: a,
    high=lambda a, b: b,
    inner=lambda a, b: _truncated_quantile(0.5 + zeros_like(a), a, b),
    logpdf=lambda x, a, b: NORMAL.logpdf(x) - _log_mass(a, b),
    logcdf=lambda x, a, b: _log_share(*(_log_mass(*ends) - _log_mass(a, b) for ends in ((a, x), (x, b)))),
    logsf=lambda x, a, b: _log_share(*(_log_mass(*ends) - _log_mass(a, b) for ends in ((x, b), (a, x)))),
    ppf=_truncated_quantile,
    isf=lambda q, a, b: -_truncated_quantile(q, -b, -a),
)
