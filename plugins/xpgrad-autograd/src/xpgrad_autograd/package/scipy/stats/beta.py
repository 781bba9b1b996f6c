"""The beta distribution."""

from typing import Any

from scipy.stats import beta

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = beta.rvs


@by_formula(beta.logpdf)
def logpdf(xp: Any, x: Any, a: Any, b: Any) -> Any:
    """Return the logarithm of the density."""
    ratio = special.betaln(a, b)
    return special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - ratio


@by_formula(beta.pdf)
def pdf(xp: Any, x: Any, a: Any, b: Any) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, a, b))


@by_formula(beta.cdf)
def cdf(xp: Any, x: Any, a: Any, b: Any) -> Any:
    """Return the distribution function."""
    return special.betainc(a, b, x)
