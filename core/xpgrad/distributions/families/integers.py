"""Further families of integers, under SciPy's parametrisation."""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.distributions.families.family import Family
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import betaln
from xpgrad.special.entropy import xlog1py, xlogy
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.incomplete_beta import betainc, betaincc
from xpgrad.special.polygamma import zeta
from xpgrad.special.real_orders import ive

FROM_ONE: dict[str, Any] = {"integers": True, "finite": True, "low": 1.0, "inner": 1.0}

BERNOULLI = Family(
    name="Bernoulli",
    integers=True,
    low=0.0,
    high=1.0,
    logpdf=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
    cdf=lambda k, p: xpa.where(k < 1, 1 - p, xpa.floor(k)),
    sf=lambda k, p: xpa.where(k < 1, p, 1 - xpa.floor(k)),
    mean=lambda p: p,
    variance=lambda p: p * (1 - p),
)
NEGATIVE_BINOMIAL = Family(
    name="negative binomial",
    integers=True,
    low=0.0,
    logpdf=lambda k, n, p: xlogy(n, p) + xlog1py(k, -p) - xpa.log(n + k) - betaln(n, k + 1),
    cdf=lambda k, n, p: betainc(n, xpa.floor(k) + 1, p),
    sf=lambda k, n, p: betaincc(n, xpa.floor(k) + 1, p),
    mean=lambda n, p: n * (1 - p) / p,
    variance=lambda n, p: n * (1 - p) / p**2,
)


def _log_choices(n: Variable, k: Variable) -> Variable:
    """Return the logarithm of the binomial coefficient."""
    return -xpa.log1p(n) - betaln(n - k + 1, k + 1)


BETA_BINOMIAL = Family(
    name="beta-binomial",
    integers=True,
    low=0.0,
    high=lambda n, a, b: n,
    logpdf=lambda k, n, a, b: _log_choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b),
    mean=lambda n, a, b: n * a / (a + b),
    variance=lambda n, a, b: n * a * b * (a + b + n) / ((a + b) ** 2 * (a + b + 1)),
)
HYPERGEOMETRIC = Family(
    name="hypergeometric",
    integers=True,
    low=lambda M, n, N: xpa.maximum(N - (M - n), 0.0),
    high=lambda M, n, N: xpa.where(n < N, n, N),
    inner=lambda M, n, N: xpa.where(n < N, n, N),
    logpdf=lambda k, M, n, N: _log_choices(n, k) + _log_choices(M - n, N - k) - _log_choices(M, N),
    mean=lambda M, n, N: n * N / M,
    variance=lambda M, n, N: n * N / M * (M - n) / M * (M - N) / (M - 1),
)
TINY = 1e-30
"""A shape for which the incomplete beta function is a series of logarithms, but for this factor."""
LOG_SERIES = Family(
    name="logarithmic series",
    **FROM_ONE,
    logpdf=lambda k, p: k * xpa.log(p) - xpa.log(k) - xpa.log(-xpa.log1p(-p)),
    sf=lambda k, p: betainc(xpa.floor(k) + 1, TINY, p) / (-TINY * xpa.log1p(-p)),
    mean=lambda p: -p / ((1 - p) * xpa.log1p(-p)),
)
PLANCK = Family(
    name="Planck",
    integers=True,
    low=0.0,
    logpdf=lambda k, r: xpa.log(-xpa.expm1(-r)) - r * k,
    logsf=lambda k, r: -r * (xpa.floor(k) + 1),
    mean=lambda r: 1 / xpa.expm1(r),
    variance=lambda r: xpa.exp(-r) / xpa.expm1(-r) ** 2,
)
BOLTZMANN = Family(
    name="Boltzmann",
    integers=True,
    low=0.0,
    high=lambda r, n: n - 1,
    logpdf=lambda k, r, n: xpa.log(-xpa.expm1(-r)) - xpa.log(-xpa.expm1(-r * n)) - r * k,
    cdf=lambda k, r, n: xpa.expm1(-r * (xpa.floor(k) + 1)) / xpa.expm1(-r * n),
    sf=lambda k, r, n: xpa.exp(-r * (xpa.floor(k) + 1)) * xpa.expm1(-r * (n - 1 - xpa.floor(k))) / xpa.expm1(-r * n),
)
UNIFORM_INTEGER = Family(
    name="uniform integer",
    integers=True,
    low=lambda low, high: low,
    high=lambda low, high: high - 1,
    inner=lambda low, high: low,
    logpdf=lambda k, low, high: -xpa.log(high - low) + 0 * k,
    cdf=lambda k, low, high: (xpa.floor(k) - low + 1) / (high - low),
    sf=lambda k, low, high: (high - 1 - xpa.floor(k)) / (high - low),
    mean=lambda low, high: 0.5 * (low + high - 1),
    variance=lambda low, high: ((high - low) ** 2 - 1) / 12,
)


def _discrete_laplace(k: Variable, a: Variable) -> Variable:
    """Return the probability of at most an integer `k`."""
    tail = xpa.exp(-a * xpa.where(k < 0, -k, k + 1)) / (1 + xpa.exp(-a))
    return xpa.where(k < 0, tail, 1 - tail)


DISCRETE_LAPLACE = Family(
    name="discrete Laplace",
    integers=True,
    logpdf=lambda k, a: xpa.log(xpa.tanh(0.5 * a)) - a * xpa.abs(k),
    cdf=lambda k, a: _discrete_laplace(xpa.floor(k), a),
    sf=lambda k, a: _discrete_laplace(-xpa.floor(k) - 1, a),
    mean=lambda a: 0 * a,
    variance=lambda a: 0.5 / _squared_sinh(a),
)


def _squared_sinh(a: Variable) -> Variable:
    return (0.5 * (xpa.exp(0.5 * a) - xpa.exp(-0.5 * a))) ** 2


ZIPF = Family(
    name="zeta",
    **FROM_ONE,
    logpdf=lambda k, a: -a * xpa.log(k) - xpa.log(zeta(a, 1.0)),
    sf=lambda k, a: zeta(a, xpa.floor(k) + 1) / zeta(a, 1.0),
)
YULE_SIMON = Family(
    name="Yule-Simon",
    **FROM_ONE,
    logpdf=lambda k, a: xpa.log(a) + betaln(k, a + 1),
    logsf=lambda k, a: xpa.log(xpa.floor(k)) + betaln(xpa.floor(k), a + 1),
)


def _log_bessel(k: Variable, z: Variable) -> Variable:
    """Return ``log(ive(k, z))``, where it is too small by the ratio of its uniform expansion to the power of `z`."""
    scaled = ive(k, z)
    tiny = scaled < 1e-290
    n, x = xpa.where(tiny, k, 1.0), xpa.where(tiny, z, 1.0)
    r = xpa.sqrt(1.0 + (x / n) ** 2)
    growth = (x / n) ** 2 / (1.0 + r) - xpa.log(0.5 + 0.5 * r)
    terms = xpa.log1p((3.0 - 5.0 / (r * r)) / (24.0 * n * r)) - xpa.log1p(-1.0 / (12.0 * n)) - 0.5 * xpa.log(r)
    small = n * xpa.log(0.5 * x) - gammaln(n + 1.0) + n * growth + terms - x
    return xpa.where(tiny, small, xpa.log(xpa.where(tiny, 1.0, scaled)))


def _skellam(k: Variable, mu1: Variable, mu2: Variable) -> Variable:
    root1, root2 = xpa.sqrt(mu1), xpa.sqrt(mu2)
    bessel = _log_bessel(xpa.abs(k), 2 * root1 * root2)
    return 0.5 * k * (xpa.log(mu1) - xpa.log(mu2)) - (root1 - root2) ** 2 + bessel


def _far_from_mean(mu1: Variable, mu2: Variable, sign: float) -> Variable:
    return xpa.floor(mu1 - mu2 + sign * (12 * xpa.sqrt(mu1 + mu2) + 20))


SKELLAM = Family(
    name="Skellam",
    integers=True,
    finite=True,
    reach=(lambda mu1, mu2: _far_from_mean(mu1, mu2, -1.0), lambda mu1, mu2: _far_from_mean(mu1, mu2, 1.0)),
    logpdf=_skellam,
    mean=lambda mu1, mu2: mu1 - mu2,
    variance=lambda mu1, mu2: mu1 + mu2,
    sample=lambda draws, mu1, mu2: draws.poisson(mu1) - draws.poisson(mu2),
)
