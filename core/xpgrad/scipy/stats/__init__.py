"""SciPy's distributions of Variables and arrays of any backend, differentiable by points and all parameters.

Methods are SciPy's: `logpdf`, `pdf`, `cdf`, `logcdf`, `sf`, `logsf`, `ppf`, `isf`, and `logpmf` and `pmf` of discrete
distributions. `mean`, `var`, `std`, `entropy` and `rvs` exist where a formula is known. SciPy is not imported.
"""

import typing as _typing

from xpgrad.scipy.stats.distributions import *  # noqa: F403
from xpgrad.scipy.stats.multivariate import dirichlet as dirichlet
from xpgrad.scipy.stats.multivariate import gaussian_kde as gaussian_kde
from xpgrad.scipy.stats.multivariate import multinomial as multinomial
from xpgrad.scipy.stats.multivariate import multivariate_normal as multivariate_normal

if _typing.TYPE_CHECKING:
    __all__: list[str]
else:
    from xpgrad.listing import missing_name as _missing_name
    from xpgrad.scipy.stats import distributions as _distributions
    from xpgrad.scipy.stats import multivariate as _multivariate

    __all__ = [*_distributions.__all__, *_multivariate.__all__]

    def __dir__():
        """List the distributions."""
        return sorted(__all__)

    def __getattr__(name):
        """Raise an error with the closest name."""
        raise _missing_name(__name__, name, __dir__)
