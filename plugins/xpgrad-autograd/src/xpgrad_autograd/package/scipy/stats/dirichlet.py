"""The Dirichlet distribution."""

from typing import Any

from scipy.stats import dirichlet

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = dirichlet.rvs


@by_formula(dirichlet.logpdf)
def logpdf(xp: Any, x: Any, alpha: Any) -> Any:
    """Return the logarithm of the density."""
    gammaln = special.gammaln
    constant = gammaln(xp["sum"](alpha)) - xp["sum"](gammaln(alpha))
    exponents = xp["array"](alpha) - 1
    return constant + xp["sum"](special.xlogy(xp["transpose"](exponents), xp["transpose"](x)), 0)


@by_formula(dirichlet.pdf)
def pdf(xp: Any, x: Any, alpha: Any) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, alpha))
