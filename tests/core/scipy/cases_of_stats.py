"""Cases of `xpgrad.scipy.stats`: logarithms of densities, and distribution functions, by points and all parameters."""

import numpy as np
import pytest
from tests.core.scipy.stats.test_stats import CONTINUOUS, COUNTS, DISCRETE, both
from tests.core.scipy.table import cases_of, definite, uniform

from xpgrad.scipy import stats

cases = cases_of("stats", stats, pytest.importorskip("scipy.stats"))


def of(name):
    """Return a case of a distribution; integers, which have no derivatives, are fixed."""
    _, exact, parameters = both(name)
    x = exact.ppf(np.asarray([0.2, 0.55, 0.9]), *parameters)
    if name not in DISCRETE:
        inputs = (x, *map(np.asarray, parameters))
        return cases(
            name, *inputs, rtol=1e-7, call=lambda m, *xs: (getattr(m, name).logpdf(*xs), getattr(m, name).cdf(*xs))
        )
    fixed = COUNTS.get(name, 0)
    call = lambda m, *free: getattr(m, name).logpmf(x, *parameters[:fixed], *free, parameters[-1])  # noqa: E731
    return cases(name, *map(np.asarray, parameters[fixed:-1]), call=call, rtol=1e-8, libraries=False)


CASES = [
    *(of(name) for name in (*CONTINUOUS, *DISCRETE) if COUNTS.get(name, 0) < len(both(name)[2]) - 1),
    cases("multivariate_normal", uniform(4, 3), uniform(3), definite(3),
          call=lambda m, x, mean, c: m.multivariate_normal.logpdf(x, mean, (c + c.mT) / 2)),
    cases("gaussian_kde", uniform(2, 9), uniform(9, low=0.5), uniform(2, 3),
          call=lambda m, d, w, x: m.gaussian_kde(d, weights=w).logpdf(x)),
    cases("dirichlet", uniform(3, low=0.5, high=3), libraries=False,
          call=lambda m, a: m.dirichlet.logpdf(np.asarray([0.2, 0.3, 0.5]), a)),
    cases("multinomial", uniform(3, low=0.5, high=1), libraries=False,
          call=lambda m, p: m.multinomial.logpmf(np.asarray([2.0, 1.0, 3.0]), 6, p / p.sum())),
]  # fmt: skip
