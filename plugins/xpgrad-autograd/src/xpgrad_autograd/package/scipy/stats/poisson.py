"""The Poisson distribution; derivatives are by its rate."""

from typing import Any

from scipy.stats import poisson

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = poisson.rvs


@by_formula(poisson.logpmf)
def logpmf(xp: Any, k: Any, mu: Any) -> Any:
    """Return the logarithm of the probability."""
    return special.xlogy(k, mu) - special.gammaln(k + 1.0) - mu


@by_formula(poisson.pmf)
def pmf(xp: Any, k: Any, mu: Any) -> Any:
    """Return the probability."""
    return xp["exp"](logpmf(k, mu))


@by_formula(poisson.cdf)
def cdf(xp: Any, k: Any, mu: Any) -> Any:
    """Return the distribution function."""
    return special.gammaincc(xp["floor"](k) + 1.0, mu)
