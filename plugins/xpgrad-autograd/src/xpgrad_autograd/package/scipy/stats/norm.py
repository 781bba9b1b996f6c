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


@by_formula(norm.cdf)
def cdf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the distribution function."""
    return special.ndtr((x - loc) / scale)


@by_formula(norm.logcdf)
def logcdf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of the distribution function."""
    return special.log_ndtr((x - loc) / scale)


@by_formula(norm.sf)
def sf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return one minus the distribution function."""
    return special.ndtr((loc - x) / scale)


@by_formula(norm.logsf)
def logsf(xp: Any, x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the logarithm of one minus the distribution function."""
    return special.log_ndtr((loc - x) / scale)


@by_formula(norm.ppf)
def ppf(xp: Any, q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the quantiles."""
    return loc + scale * special.ndtri(q)
