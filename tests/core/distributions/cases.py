"""Distributions with parameters, points, and SciPy's distributions of the same meaning."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from xpgrad import array_api as xp
from xpgrad import distributions as D


@dataclass(frozen=True)
class Law:
    """A distribution: a function of its parameters, their values, points, and SciPy's frozen distribution."""

    name: str
    make: Callable[..., D.Distribution]
    parameters: tuple[float, ...]
    points: Any
    exact: Any
    outside: tuple[float, ...] = ()
    lacking: frozenset[str] = field(default_factory=frozenset)

    @property
    def discrete(self) -> bool:
        """Whether SciPy's distribution has probabilities instead of a density."""
        return hasattr(self.exact, "pmf")


def _rows(*rows: tuple[Any, ...]) -> Any:
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


REAL, POSITIVE, UNIT = [-40.0, -1.5, 0.4, 2.5, 60.0], [1e-6, 0.3, 1.0, 2.5, 40.0], [1e-9, 0.2, 0.5, 0.999]
COUNTS = [1.0, 2.0, 7.0]
NO_ENTROPY = frozenset({"entropy"})
NO_TAILS = frozenset({"cdf", "survival_function", "log_cdf", "log_survival_function", "icdf"})
ONE_OF_THREE, SHARES = np.eye(3), [[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]]

UNIVARIATE = [
    Law("beta", D.Beta, (2.5, 0.6), UNIT, stats.beta(2.5, 0.6), (-0.1, 1.1)),
    Law("chi-square", D.Chisquare, (2.5,), POSITIVE, stats.chi2(2.5), (-1.0,)),
    Law("exponential", D.Exponential, (2.5,), POSITIVE, stats.expon(scale=0.4), (-1.0,)),
    Law("F", D.FisherSnedecor, (3.0, 9.5), POSITIVE, stats.f(3.0, 9.5), (-1.0,)),
    Law("gamma", D.Gamma, (0.7, 1.5), POSITIVE, stats.gamma(0.7, scale=1.5), (-1.0,)),
    Law("Gumbel", D.Gumbel, (0.3, 1.5), [-3.0, 0.3, 2.5, 60.0], stats.gumbel_r(0.3, 1.5)),
    Law("Laplace", D.Laplace, (0.3, 1.5), REAL, stats.laplace(0.3, 1.5)),
    Law("log-normal", D.LogNormal, (0.3, 0.8), POSITIVE, stats.lognorm(0.8, scale=np.exp(0.3)), (-1.0, 0.0)),
    Law("normal", D.Normal, (0.3, 1.5), REAL, stats.norm(0.3, 1.5)),
    Law("normal by log_scale", lambda m, s: D.Normal(m, log_scale=s), (0.3, -0.5), REAL, stats.norm(0.3, np.exp(-0.5))),
    Law("Pareto", D.Pareto, (0.5, 2.6), [0.51, 1.0, 40.0], stats.pareto(2.6, scale=0.5), (0.4, -1.0)),
    Law("Student's t", D.StudentT, (2.6, 0.3, 1.5), [*REAL, 1e7], stats.t(2.6, 0.3, 1.5)),
    Law("uniform", lambda a, b: D.Uniform(low=a, high=b), (-0.5, 2.0), [-0.4, 1.9], stats.uniform(-0.5, 2.5), (3.0,)),
    Law("uniform by loc", lambda a, b: D.Uniform(loc=a, scale=b), (-0.5, 2.0), [1.4], stats.uniform(-0.5, 2.0), (1.6,)),
    Law("Cauchy", D.Cauchy, (0.3, 1.5), [*REAL, -1e12], stats.cauchy(0.3, 1.5), (), frozenset({"mean", "variance"})),
    Law("Bernoulli", D.Bernoulli, (0.3,), [0.0, 1.0], stats.bernoulli(0.3)),
    Law("Bernoulli by logit", lambda t: D.Bernoulli(logit=t), (0.7,), [0.0, 1.0],
        stats.bernoulli(1 / (1 + np.exp(-0.7)))),
    Law("binomial", lambda p: D.Binomial(20, p), (0.3,), COUNTS, stats.binom(20, 0.3), (-1.0, 21.0),
        NO_ENTROPY),
    Law("geometric", D.Geometric, (0.3,), COUNTS, stats.geom(0.3), (0.0,)),
    Law("Poisson", D.Poisson, (3.5,), COUNTS, stats.poisson(3.5), (-1.0,), NO_ENTROPY),
]  # fmt: skip
MULTIVARIATE = [
    Law("Dirichlet", lambda a, b: D.Dirichlet(xp.stack([a, b, a * b], axis=-1)), (0.8, 2.5), SHARES,
        stats.dirichlet([0.8, 2.5, 2.0]), (), NO_TAILS),
    Law("multivariate normal",
        lambda a, b: D.MultivariateNormal(xp.stack([a, b], axis=-1), scale_tril=_rows((a, 0 * a), (a - b, b))),
        (0.8, 1.5), [[0.2, 3.0], [9.0, -4.0]],
        stats.multivariate_normal([0.8, 1.5], [[0.64, -0.56], [-0.56, 0.49 + 2.25]]), (), NO_TAILS | {"variance"}),
    Law("one-hot", lambda a, b: D.OneHotCategorical(xp.stack([a, b, 1 - a - b], axis=-1)), (0.2, 0.5), ONE_OF_THREE,
        stats.multinomial(1, [0.2, 0.5, 0.3]), (), NO_TAILS | {"variance"}),
]  # fmt: skip
LAWS = UNIVARIATE + MULTIVARIATE
