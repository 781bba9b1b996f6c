"""Families of integers; between integers their logarithms of probabilities are interpolated."""

from xpgrad.array_api import ceil, floor, log, log1p, maximum, where
from xpgrad.distributions.families.family import Family
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import betaln
from xpgrad.special.distributions import bdtr, bdtrc
from xpgrad.special.entropy import entr, xlog1py, xlogy
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.incomplete_gamma import pdtr, pdtrc


def _geometric_quantile(log_q: Variable, p: Variable) -> Variable:
    """Return the least count at which the survival function is at most the exponential of `log_q`."""
    slope = log1p(-p)
    k = maximum(ceil(log_q / slope), 1.0)
    return where((k > 1) & ((k - 1) * slope <= log_q), k - 1, k)


GEOMETRIC = Family(
    name="geometric",
    integers=True,
    low=1.0,
    inner=1.0,
    logpdf=lambda k, p: xlog1py(k - 1, -p) + log(p),
    logsf=lambda k, p: floor(k) * log1p(-p),
    ppf=lambda q, p: _geometric_quantile(log1p(-q), p),
    isf=lambda q, p: _geometric_quantile(log(q), p),
    mean=lambda p: 1 / p,
    variance=lambda p: (1 - p) / p**2,
    mode=lambda p: 1.0 + 0 * p,
    entropy=lambda p: (entr(p) + entr(1 - p)) / p,
    sample=lambda draws, p: maximum(ceil(log(draws.uniform()) / log1p(-p)), 1.0),
)

POISSON = Family(
    name="Poisson",
    integers=True,
    low=0.0,
    logpdf=lambda k, lam: xlogy(k, lam) - gammaln(k + 1) - lam,
    cdf=pdtr,
    sf=pdtrc,
    mean=lambda lam: lam,
    variance=lambda lam: lam,
    mode=floor,
    sample=lambda draws, lam: draws.poisson(lam),
)


BINOMIAL = Family(
    name="binomial",
    integers=True,
    low=0.0,
    high=lambda n, p: n,
    logpdf=lambda k, n, p: xlogy(k, p) + xlog1py(n - k, -p) - log1p(n) - betaln(n - k + 1, k + 1),
    cdf=bdtr,
    sf=bdtrc,
    mean=lambda n, p: n * p,
    variance=lambda n, p: n * p * (1 - p),
    mode=lambda n, p: floor((n + 1) * p),
    sample=lambda draws, n, p: draws.binomial(n, p),
)
