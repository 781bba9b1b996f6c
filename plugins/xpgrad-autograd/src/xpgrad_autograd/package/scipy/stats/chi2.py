"""The chi-squared distribution."""

import math
from typing import Any

from scipy.stats import chi2

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = chi2.rvs


@by_formula(chi2.logpdf)
def logpdf(xp: Any, x: Any, df: Any) -> Any:
    """Return the logarithm of the density."""
    half = df / 2
    return special.xlogy(half - 1, x) - x / 2 - half * math.log(2) - special.gammaln(half)


@by_formula(chi2.pdf)
def pdf(xp: Any, x: Any, df: Any) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, df))


@by_formula(chi2.cdf)
def cdf(xp: Any, x: Any, df: Any) -> Any:
    """Return the distribution function."""
    return special.gammainc(df / 2, x / 2)
