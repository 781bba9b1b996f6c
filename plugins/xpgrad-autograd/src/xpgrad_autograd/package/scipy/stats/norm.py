"""The normal distribution."""

import math
from typing import Any

from scipy.stats import norm

from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.scipy import special

rvs = norm.rvs


@by_formula(norm.logpdf)
def logpdf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the density."""
    z = (x - loc) / scale
    return -(z**2) / 2 - math.log(2 * math.pi) / 2 - xp["log"](scale)


@by_formula(norm.pdf)
def pdf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the density."""
    return xp["exp"](logpdf(x, loc, scale))


def _standardized(exact: Any, function: Any, sign: int) -> Any:
    """Return a function of the distribution by one of the standard normal distribution, of `x` or its negative."""

    @by_formula(exact)
    def call(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
        return function(sign * (x - loc) / scale)

    return call


cdf = _standardized(norm.cdf, special.ndtr, 1)
sf = _standardized(norm.sf, special.ndtr, -1)
logcdf = _standardized(norm.logcdf, special.log_ndtr, 1)
logsf = _standardized(norm.logsf, special.log_ndtr, -1)


@by_formula(norm.ppf)
def ppf(xp: Any, q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the quantiles."""
    return loc + scale * special.ndtri(q)
