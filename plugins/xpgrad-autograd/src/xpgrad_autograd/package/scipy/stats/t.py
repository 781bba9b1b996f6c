"""Student's t distribution."""

import math
from typing import Any

from scipy.stats import t

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = t.rvs


@by_formula(t.logpdf)
def logpdf(xp: Any, x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the density."""
    z, gammaln = (x - loc) / scale, special.gammaln
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - xp["log"](df * math.pi) / 2 - xp["log"](scale)
    return constant - (df + 1) / 2 * xp["log1p"](z**2 / df)


@by_formula(t.pdf)
def pdf(xp: Any, x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, df, loc, scale))


@by_formula(t.cdf)
def cdf(xp: Any, x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the distribution function."""
    return special.stdtr(df, (x - loc) / scale)


@by_formula(t.logcdf)
def logcdf(xp: Any, x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the distribution function."""
    return xp["log"](cdf(x, df, loc, scale))
