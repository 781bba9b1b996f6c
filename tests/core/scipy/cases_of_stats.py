"""Cases of `xpgrad.scipy.stats`: logarithms of densities, and distribution functions, by points and all parameters."""

import numpy as np
import pytest
from tests.core.scipy.stats.test_stats import CONTINUOUS, COUNTS, DISCRETE, both
from tests.core.scipy.table import ScipyCase, definite, uniform

from xpgrad import array_api as xp
from xpgrad.scipy import stats

ref = pytest.importorskip("scipy.stats")


def of(name):
    """Return a case of a distribution; integers, which have no derivatives, are fixed."""
    own, exact, parameters = both(name)
    levels = np.asarray([0.2, 0.55, 0.9])
    x = exact.ppf(levels, *parameters)
    if name in DISCRETE:
        fixed = COUNTS.get(name, 0)
        shapes = parameters[fixed:-1]
        given = lambda free: (*parameters[:fixed], *free, parameters[-1])  # noqa: E731
        return ScipyCase(
            f"stats.{name}",
            lambda *free: own.logpmf(x, *given(free)) if free else own.logpmf(xp.asarray(x), *parameters),
            lambda *free: exact.logpmf(x, *given(map(float, free))),
            tuple(map(np.asarray, shapes)),
            rtol=1e-8,
            libraries=False,
        )
    return ScipyCase(
        f"stats.{name}",
        lambda x, *free: (own.logpdf(x, *free), own.cdf(x, *free)),
        lambda x, *free: (exact.logpdf(x, *map(float, free)), exact.cdf(x, *map(float, free))),
        (x, *map(np.asarray, parameters)),
        rtol=1e-7,
    )


CASES = [
    *(of(name) for name in (*CONTINUOUS, *DISCRETE) if COUNTS.get(name, 0) < len(both(name)[2]) - 1),
    ScipyCase(
        "stats.multivariate_normal",
        lambda x, m, c: stats.multivariate_normal.logpdf(x, m, (c + c.mT) / 2),
        ref.multivariate_normal.logpdf,
        (uniform(4, 3), uniform(3), definite(3)),
    ),
    ScipyCase(
        "stats.gaussian_kde",
        lambda d, w, x: stats.gaussian_kde(d, weights=w).logpdf(x),
        lambda d, w, x: ref.gaussian_kde(d, weights=w).logpdf(x),
        (uniform(2, 9), uniform(9, low=0.5), uniform(2, 3)),
    ),
    ScipyCase(
        "stats.dirichlet",
        lambda a: stats.dirichlet.logpdf(np.asarray([0.2, 0.3, 0.5]), a),
        lambda a: ref.dirichlet.logpdf([0.2, 0.3, 0.5], a),
        (uniform(3, low=0.5, high=3),),
        libraries=False,
    ),
    ScipyCase(
        "stats.multinomial",
        lambda p: stats.multinomial.logpmf(np.asarray([2.0, 1.0, 3.0]), 6, p / xp.sum(p)),
        lambda p: ref.multinomial.logpmf([2, 1, 3], 6, p / np.sum(p)),
        (uniform(3, low=0.5, high=1),),
        libraries=False,
    ),
]
