"""Further families of positive numbers, under SciPy's parametrisation."""

import math
from typing import Any

from xpgrad.array_api import abs as abs_
from xpgrad.array_api import atan, atan2, atanh, cos, exp, expm1, log, log1p, logaddexp, sin, sqrt, tan, tanh, where
from xpgrad.distributions.families.composed import reflected, transformed
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.half_line import EXPONENTIAL, F_RATIO, GAMMA, if_above
from xpgrad.distributions.families.real_line import LAPLACE, LOG_ROOT_2_PI, NORMAL, log1p_square
from xpgrad.distributions.families.search import searched
from xpgrad.distributions.sampling import none_known_true
from xpgrad.graph.variable import Variable
from xpgrad.special import expit
from xpgrad.special.elementary import exprel, log1prel_of
from xpgrad.special.entropy import xlogy
from xpgrad.special.error_functions import erf, erfcx, erfinv, log_ndtr, ndtr, ndtri
from xpgrad.special.gamma_functions import gammaln

POSITIVE: dict[str, Any] = {"low": 0.0, "inner": 1.0}

WEIBULL = transformed(
    "Weibull", EXPONENTIAL, lambda x, c: x**c, lambda x, c: log(c) + xlogy(c - 1, x), lambda y, c: y ** (1 / c),
    **POSITIVE,
)  # fmt: skip
WEIBULL_OF_MAXIMA = reflected("Weibull of maxima", WEIBULL)
RAYLEIGH = transformed(
    "Rayleigh", EXPONENTIAL, lambda x: 0.5 * x * x, log, lambda y: sqrt(2 * y), **POSITIVE
)  # fmt: skip
MAXWELL = transformed(
    "Maxwell", GAMMA, lambda x: 0.5 * x * x, log, lambda y: sqrt(2 * y), shapes=lambda: (1.5,), **POSITIVE,
    logpdf=lambda x: 2 * log(x) - 0.5 * x * x + 0.5 * math.log(2 / math.pi),
)  # fmt: skip
CHI = transformed(
    "chi", GAMMA, lambda x, df: 0.5 * x * x, lambda x, df: log(x), lambda y, df: sqrt(2 * y),
    shapes=lambda df: (0.5 * df,), **POSITIVE,
    logpdf=lambda x, df: xlogy(df - 1, x) - 0.5 * x * x - (0.5 * df - 1) * math.log(2) - gammaln(0.5 * df),
)  # fmt: skip
NAKAGAMI = transformed(
    "Nakagami", GAMMA, lambda x, nu: nu * x * x, lambda x, nu: log(2 * nu * x), lambda y, nu: sqrt(y / nu),
    shapes=lambda nu: (nu,), **POSITIVE,
    logpdf=lambda x, nu: math.log(2) + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, x) - nu * x * x,
)  # fmt: skip
INVERSE_GAMMA = transformed(
    "inverse gamma", GAMMA, lambda x, a: 1 / x, lambda x, a: -2 * log(x), lambda y, a: 1 / y, decreasing=True,
    shapes=lambda a: (a,), open=True, **POSITIVE,
)  # fmt: skip
INVERSE_WEIBULL = transformed(
    "inverse Weibull", EXPONENTIAL, lambda x, c: x**-c, lambda x, c: log(c) - (c + 1) * log(x),
    lambda y, c: y ** (-1 / c), decreasing=True, open=True, **POSITIVE,
)  # fmt: skip
LEVY = transformed(
    "Lévy", GAMMA, lambda x: 0.5 / x, lambda x: -2 * log(x) - math.log(2), lambda y: 0.5 / y, decreasing=True,
    shapes=lambda: (0.5,), open=True, **POSITIVE,
    logpdf=lambda x: -0.5 * math.log(2 * math.pi) - 1.5 * log(x) - 0.5 / x,
)  # fmt: skip
LEVY_OF_NEGATIVE = reflected("left-skewed Lévy", LEVY)
GENERALIZED_HALF_NORMAL = transformed(
    "generalized half normal", GAMMA, lambda x, b: x**b, lambda x, b: log(b) + xlogy(b - 1, x),
    lambda y, b: y ** (1 / b), shapes=lambda b: (1 / b,), **POSITIVE,
    logpdf=lambda x, b: log(b) - gammaln(1 / b) - x**b,
)  # fmt: skip
BURR12 = transformed(
    "Burr XII", EXPONENTIAL, lambda x, c, d: d * log1p(x**c),
    lambda x, c, d: log(c * d) + xlogy(c - 1, x) - log1p(x**c), lambda y, c, d: expm1(y / d) ** (1 / c), **POSITIVE,
)  # fmt: skip
BURR = transformed(
    "Burr III", EXPONENTIAL, lambda x, c, d: d * log1p(x**-c),
    lambda x, c, d: log(c * d) - (c + 1) * log(x) - log1p(x**-c), lambda y, c, d: expm1(y / d) ** (-1 / c),
    decreasing=True, open=True, **POSITIVE,
)  # fmt: skip
MIELKE = transformed(
    "Mielke", BURR, lambda x, k, s: x, lambda x, k, s: 0.0, lambda y, k, s: y, shapes=lambda k, s: (s, k / s),
    open=True, **POSITIVE,
)  # fmt: skip
FISK = transformed(
    "Fisk", BURR12, lambda x, c: x, lambda x, c: 0.0, lambda y, c: y, shapes=lambda c: (c, c**0), **POSITIVE
)  # fmt: skip
BETA_PRIME = transformed(
    "beta prime", F_RATIO, lambda x, a, b: x * b / a, lambda x, a, b: log(b / a), lambda y, a, b: y * a / b,
    shapes=lambda a, b: (2 * a, 2 * b), **POSITIVE,
)  # fmt: skip
GOMPERTZ = transformed(
    "Gompertz", EXPONENTIAL, lambda x, c: c * expm1(x), lambda x, c: log(c) + x, lambda y, c: log1p(y / c), **POSITIVE
)  # fmt: skip
EXPONENTIAL_POWER = transformed(
    "exponential power", EXPONENTIAL, lambda x, b: expm1(x**b), lambda x, b: log(b) + xlogy(b - 1, x) + x**b,
    lambda y, b: log1p(y) ** (1 / b), **POSITIVE,
)  # fmt: skip
LOG_LAPLACE = transformed(
    "log-Laplace", LAPLACE, lambda x, c: c * log(x), lambda x, c: log(c) - log(x), lambda y, c: exp(y / c), open=True,
    **POSITIVE,
)  # fmt: skip


def _end_of_pareto(c: Variable) -> Variable:
    negative = c < 0
    return where(negative, -1 / where(negative, c, -1.0), math.inf)


def unscaled(y: Variable, c: Variable) -> Variable:
    """Return ``(exp(c * y) - 1) / c``, and `y` where `c` is 0."""
    infinite = (abs_(y) == math.inf) & (c != 0)
    inside = where(infinite, 0.0, y)
    return where(infinite, expm1(c * y) / where(c == 0, 1.0, c), inside * exprel(c * inside))


GENERALIZED_PARETO = transformed(
    "generalized Pareto", EXPONENTIAL, lambda x, c: x * log1prel_of(c * x, n=0), lambda x, c: -log1p(c * x),
    unscaled, low=0.0, high=_end_of_pareto,
    inner=lambda c: where(c < 0, -0.5 / where(c < 0, c, -1.0), 1.0),
)  # fmt: skip


def _fatigue_quantile(y: Variable, c: Variable) -> Variable:
    half = 0.5 * c * abs_(y)
    root = (half + sqrt(half * half + 1)) ** 2
    return where(y < 0, 1 / root, root)


FATIGUE_LIFE = transformed(
    "fatigue life", NORMAL, lambda x, c: (sqrt(x) - 1 / sqrt(x)) / c,
    lambda x, c: log1p(x) - log(2 * c) - 1.5 * log(x), _fatigue_quantile, open=True, **POSITIVE,
)  # fmt: skip

HALF_NORMAL = Family(
    name="half normal",
    **POSITIVE,
    logpdf=lambda x: 0.5 * math.log(2 / math.pi) - 0.5 * x * x,
    cdf=lambda x: erf(x / math.sqrt(2)),
    sf=lambda x: 2 * ndtr(-x),
    logsf=lambda x: where(x < 1, log1p(-erf(where(x < 1, x, 0.0) / math.sqrt(2))), math.log(2) + log_ndtr(-x)),
    ppf=lambda q: math.sqrt(2) * erfinv(q),
    isf=lambda q: -ndtri(0.5 * q),
    mean=lambda: math.sqrt(2 / math.pi),
    variance=lambda: 1 - 2 / math.pi,
    entropy=lambda: 0.5 * math.log(math.pi / 2) + 0.5,
    sample=lambda draws: abs_(draws.normal()),
)


def _half_cauchy_quantile(q: Variable, upper: bool) -> Variable:
    low = q < 0.5
    y = tan((math.pi / 2) * where(low, q, 1 - q))
    large = low if upper else ~low
    return where(large, 1 / where(large, y, 1.0), y)


HALF_CAUCHY = Family(
    name="half Cauchy",
    **POSITIVE,
    logpdf=lambda x: math.log(2 / math.pi) - log1p_square(x),
    cdf=lambda x: (2 / math.pi) * atan(x),
    sf=lambda x: (2 / math.pi) * atan2(1.0, x),
    ppf=lambda q: _half_cauchy_quantile(q, False),
    isf=lambda q: _half_cauchy_quantile(q, True),
    entropy=lambda: math.log(2 * math.pi),
)

HALF_LOGISTIC = Family(
    name="half logistic",
    **POSITIVE,
    logpdf=lambda x: math.log(2) - x - 2 * log1p(exp(-x)),
    cdf=lambda x: tanh(0.5 * x),
    sf=lambda x: 2 * expit(-x),
    ppf=lambda q: 2 * atanh(q),
    isf=lambda q: log((2 - q) / q),
    mean=lambda: math.log(4),
    variance=lambda: math.pi**2 / 3 - math.log(4) ** 2,
    entropy=lambda: 2 - math.log(2),
)

LOMAX = transformed(
    "Lomax", EXPONENTIAL, lambda x, c: c * log1p(x), lambda x, c: log(c) - log1p(x), lambda y, c: expm1(y / c),
    **POSITIVE,
)  # fmt: skip


def log1m_exp(y: Variable) -> Variable:
    """Return ``log(1 - exp(-y))`` for a positive `y`."""
    near = y < 0.7
    return where(near, log(-expm1(-where(near, y, 1.0))), log1p(-exp(-where(near, 1.0, y))))


EXPONENTIATED_WEIBULL = Family(
    name="exponentiated Weibull",
    finite=True,
    **POSITIVE,
    logpdf=lambda x, a, c: log(a * c) + xlogy(a - 1, -expm1(-(x**c))) - x**c + xlogy(c - 1, x),
    cdf=lambda x, a, c: (-expm1(-(x**c))) ** a,
    logcdf=lambda x, a, c: a * log1m_exp(x**c),
    ppf=lambda q, a, c: (-log1p(-(q ** (1 / a)))) ** (1 / c),
    isf=lambda q, a, c: (-log1m_exp(-log1p(-q) / a)) ** (1 / c),
)


def _inverse_gauss(x: Variable, mu: Variable, upper: bool) -> Variable:
    root = sqrt(x)
    first = (x / mu - 1) / root
    second = exp(2 / mu + log_ndtr(-(x / mu + 1) / root))
    return ndtr(-first) - second if upper else ndtr(first) + second


def _log_inverse_gauss(x: Variable, mu: Variable, upper: bool) -> Variable:
    """Return the logarithm of a tail, whose two terms have a common factor where it is small."""
    sign, root = (1.0 if upper else -1.0), sqrt(2 * x)
    u = sign * (x / mu - 1) / root
    small = u > 0
    terms = erfcx(where(small, u, 0.0)) - sign * erfcx((x / mu + 1) / root)
    return where(small, log(0.5 * terms) - u * u, log1p(-where(small, 0.0, _inverse_gauss(x, mu, not upper))))


INVERSE_GAUSS = Family(
    name="inverse Gauss",
    finite=True,
    open=True,
    **POSITIVE,
    logpdf=lambda x, mu: -LOG_ROOT_2_PI - 1.5 * log(x) - 0.5 * (x / mu - 1) ** 2 / x,
    cdf=lambda x, mu: _inverse_gauss(x, mu, False),
    sf=lambda x, mu: _inverse_gauss(x, mu, True),
    logcdf=lambda x, mu: _log_inverse_gauss(x, mu, False),
    logsf=lambda x, mu: _log_inverse_gauss(x, mu, True),
    mean=lambda mu: mu,
    variance=lambda mu: mu**3,
)

ALPHA: Family = Family(
    name="alpha",
    open=True,
    **POSITIVE,
    logpdf=lambda x, a: NORMAL.logpdf(a - 1 / x) - 2 * log(x) - log_ndtr(a),
    cdf=lambda x, a: ndtr(a - 1 / x) / ndtr(a),
    sf=lambda x, a: _normal_between(0.5 / x, a - 0.5 / x, -a, 1 / x - a) / ndtr(a),
    logcdf=lambda x, a: log_ndtr(a - 1 / x) - log_ndtr(a),
    ppf=lambda q, a: if_above(a - ndtri(q * ndtr(a)), 0.0, lambda t: 1 / t, math.inf),
    isf=lambda q, a: searched(ALPHA, q, (a,), True),
)


def _normal_between(x: Variable, c: Variable, low: Variable, high: Variable) -> Variable:
    """Return the normal probability between `low` and `high`, by Hermite's polynomials for a small half-length `x`."""
    y, near = ndtr(high) - ndtr(low), x * (1 + abs_(c)) < 0.03
    if none_known_true(near):
        return y
    half, square = where(near, x, 0.0), where(near, c, 0.0) ** 2
    step = half * half
    series = 1 + step / 6 * (square - 1 + step / 20 * (square * (square - 6) + 3))
    last = step**3 / 5040 * (square * (square * (square - 15) + 45) - 15)
    return where(near, 2 * half * exp(-0.5 * square - LOG_ROOT_2_PI) * (series + last), y)


FOLDED_NORMAL = Family(
    name="folded normal",
    **POSITIVE,
    logpdf=lambda x, c: logaddexp(NORMAL.logpdf(x - c), NORMAL.logpdf(x + c)),
    cdf=lambda x, c: _normal_between(x, c, -x - c, x - c),
    sf=lambda x, c: ndtr(c - x) + ndtr(-x - c),
    sample=lambda draws, c: abs_(draws.normal() + c),
)


def _folded_angle(x: Variable, c: Variable, sign: float) -> Variable:
    """Return the angle of ``(1 + c**2 - x**2, 2 * x)``, or of its reflection at the second axis."""
    size = where(x > 1, x, 1.0)
    return atan2(2 * (x / size), sign * ((1 + c * c) / size - x * (x / size)))


def _folded_cauchy_quantile(q: Variable, c: Variable, upper: bool) -> Variable:
    low = q < 0.5
    angle = math.pi * where(low, q, 1 - q)
    sine, cosine, small = sin(angle), cos(angle), ~low if upper else low
    root = sqrt(1 + (c * sine) ** 2)
    return where(small, (1 + c * c) * sine / (root + cosine), (root + cosine) / where(small, 1.0, sine))


FOLDED_CAUCHY = Family(
    name="folded Cauchy",
    **POSITIVE,
    logpdf=lambda x, c: logaddexp(-log1p_square(x - c), -log1p_square(x + c)) - math.log(math.pi),
    finite=True,
    cdf=lambda x, c: _folded_angle(x, c, 1.0) / math.pi,
    sf=lambda x, c: _folded_angle(x, c, -1.0) / math.pi,
    ppf=lambda q, c: _folded_cauchy_quantile(q, c, False),
    isf=lambda q, c: _folded_cauchy_quantile(q, c, True),
)
