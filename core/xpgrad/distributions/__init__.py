"""Probability distributions under Chainer's names, whose parameters are Variables or arrays of any backend.

Densities, moments, entropies and divergences are differentiable by the parameters, and samples are where
`has_rsample` is True; samples of the gamma family have implicit derivatives. Samples are drawn from `xpgrad.random`.
"""

import typing as _typing

from xpgrad.distributions.categories import Categorical, Dirichlet, OneHotCategorical
from xpgrad.distributions.counts import Bernoulli, Binomial, Geometric, Poisson
from xpgrad.distributions.distribution import Distribution
from xpgrad.distributions.divergence import cross_entropy, kl_divergence, register_kl
from xpgrad.distributions.half_line import Beta, Chisquare, Exponential, FisherSnedecor, Gamma, Pareto
from xpgrad.distributions.independent import Independent
from xpgrad.distributions.normal import LogNormal, MultivariateNormal, Normal
from xpgrad.distributions.real_line import Cauchy, Gumbel, Laplace, StudentT, Uniform
from xpgrad.listing import listed as _listed

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chisquare", "Dirichlet", "Distribution", "Exponential",
    "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "Independent", "Laplace", "LogNormal", "MultivariateNormal",
    "Normal", "OneHotCategorical", "Pareto", "Poisson", "StudentT", "Uniform", "cross_entropy", "kl_divergence",
    "register_kl",
]  # fmt: skip

if not _typing.TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
