"""The gamma distribution of scale 1."""

from typing import Any

from scipy.stats import gamma

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = gamma.rvs


@by_formula(gamma.logpdf)
def logpdf(xp: Any, x: Any, a: Any) -> Any:
    """Return the logarithm of the density."""
    return special.xlogy(a - 1, x) - x - special.gammaln(a)


@by_formula(gamma.pdf)
def pdf(xp: Any, x: Any, a: Any) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, a))


@by_formula(gamma.cdf)
def cdf(xp: Any, x: Any, a: Any) -> Any:
    """Return the distribution function."""
    return special.gammainc(a, x)
