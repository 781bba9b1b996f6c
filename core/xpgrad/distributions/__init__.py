"""Probability distributions under Chainer's names, whose parameters are Variables or arrays of any backend.

Densities, moments, entropies and divergences are differentiable by the parameters, and samples are where
`has_rsample` is True; samples of the gamma family have implicit derivatives. Samples are drawn from `xpgrad.random`.
"""

import typing as _typing

from xpgrad.distributions.categories import Categorical as Categorical
from xpgrad.distributions.categories import Dirichlet as Dirichlet
from xpgrad.distributions.categories import OneHotCategorical as OneHotCategorical
from xpgrad.distributions.counts import Bernoulli as Bernoulli
from xpgrad.distributions.counts import Binomial as Binomial
from xpgrad.distributions.counts import Geometric as Geometric
from xpgrad.distributions.counts import Poisson as Poisson
from xpgrad.distributions.distribution import Distribution as Distribution
from xpgrad.distributions.divergence import cross_entropy as cross_entropy
from xpgrad.distributions.divergence import kl_divergence as kl_divergence
from xpgrad.distributions.divergence import register_kl as register_kl
from xpgrad.distributions.half_line import Beta as Beta
from xpgrad.distributions.half_line import Chisquare as Chisquare
from xpgrad.distributions.half_line import Exponential as Exponential
from xpgrad.distributions.half_line import FisherSnedecor as FisherSnedecor
from xpgrad.distributions.half_line import Gamma as Gamma
from xpgrad.distributions.half_line import Pareto as Pareto
from xpgrad.distributions.independent import Independent as Independent
from xpgrad.distributions.normal import LogNormal as LogNormal
from xpgrad.distributions.normal import MultivariateNormal as MultivariateNormal
from xpgrad.distributions.normal import Normal as Normal
from xpgrad.distributions.real_line import Cauchy as Cauchy
from xpgrad.distributions.real_line import Gumbel as Gumbel
from xpgrad.distributions.real_line import Laplace as Laplace
from xpgrad.distributions.real_line import StudentT as StudentT
from xpgrad.distributions.real_line import Uniform as Uniform
from xpgrad.listing import listed as _listed

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chisquare", "Dirichlet", "Distribution", "Exponential",
    "FisherSnedecor", "Gamma", "Geometric", "Gumbel", "Independent", "Laplace", "LogNormal", "MultivariateNormal",
    "Normal", "OneHotCategorical", "Pareto", "Poisson", "StudentT", "Uniform", "cross_entropy", "kl_divergence",
    "register_kl",
]  # fmt: skip

if not _typing.TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
