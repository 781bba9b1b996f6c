"""Kullback-Leibler divergences of pairs of distributions, from registered formulas."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg import inv
from xpgrad.distributions.categories import Categorical, Dirichlet, OneHotCategorical
from xpgrad.distributions.counts import Bernoulli, Geometric, Poisson
from xpgrad.distributions.distribution import Distribution
from xpgrad.distributions.families.real_line import EULER
from xpgrad.distributions.half_line import Beta, Chisquare, Exponential, Gamma, Pareto
from xpgrad.distributions.independent import Independent
from xpgrad.distributions.normal import LogNormal, MultivariateNormal, Normal
from xpgrad.distributions.real_line import Cauchy, Gumbel, Laplace, Uniform
from xpgrad.graph.variable import Variable
from xpgrad.special.beta_functions import betaln
from xpgrad.special.entropy import xlogy
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.polygamma import psi

__all__ = ["cross_entropy", "kl_divergence", "register_kl"]

F = TypeVar("F", bound=Callable[[Any, Any], Variable])
_FORMULAS: dict[tuple[type, type], Callable[[Any, Any], Variable]] = {}


def register_kl(Dist1: type, Dist2: type) -> Callable[[F], F]:
    """Return a decorator for the function that computes `kl_divergence` of two classes of distributions.

    Parameters
    ----------
    Dist1, Dist2 : type
        Subclasses of `Distribution`. Subclasses inherit the formula unless they register another formula.
    """

    def register(formula: F) -> F:
        _FORMULAS[Dist1, Dist2] = formula
        return formula

    return register


def kl_divergence(dist1: Distribution, dist2: Distribution) -> Variable:
    """Return the Kullback-Leibler divergence of `dist2` from `dist1`, for each pair of the batch.

    It is the mean of ``dist1.log_prob(x) - dist2.log_prob(x)`` over `x` from `dist1`.

    Raises
    ------
    KeyError
        No formula is registered for their classes.
    """
    for dist in dist1, dist2:
        if not isinstance(dist, Distribution):
            raise TypeError(f"kl_divergence: expected two distributions, got {type(dist).__name__}")
    for first in type(dist1).__mro__:
        for second in type(dist2).__mro__:
            formula = _FORMULAS.get((first, second))
            if formula is not None:
                return formula(dist1, dist2)
    pair = f"{type(dist1).__name__} and {type(dist2).__name__}"
    raise KeyError(f"kl_divergence: no formula for {pair}; register one by register_kl")


def cross_entropy(dist1: Distribution, dist2: Distribution) -> Variable:
    """Return the cross entropy: the mean of ``-dist2.log_prob(x)`` over `x` from `dist1`."""
    return dist1.entropy + kl_divergence(dist1, dist2)


def _weighted(p: Variable, log_p: Variable, other: Variable) -> Variable:
    """Return ``p * (log_p - other)``, and 0 where `p` is 0."""
    positive = p > 0
    return p * (xpa.where(positive, log_p, 0.0) - xpa.where(positive, other, 0.0))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(dist1: Bernoulli, dist2: Bernoulli) -> Variable:
    first, second = dist1.log_probabilities(), dist2.log_probabilities()
    q, p = xpa.exp(first[0]), xpa.exp(first[1])
    return _weighted(q, first[0], second[0]) + _weighted(p, first[1], second[1])


@register_kl(Beta, Beta)
def _beta(dist1: Beta, dist2: Beta) -> Variable:
    a, b = dist1.a, dist1.b
    total, other = a + b, dist2.a + dist2.b
    constant = betaln(dist2.a, dist2.b) - betaln(a, b)
    return constant + (a - dist2.a) * psi(a) + (b - dist2.b) * psi(b) + (other - total) * psi(total)


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(dist1: Categorical, dist2: Categorical) -> Variable:
    return xpa.sum(_weighted(dist1.p, dist1.log_p, dist2.log_p), axis=-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(dist1: Cauchy, dist2: Cauchy) -> Variable:
    """F. Chyzak, F. Nielsen: A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions."""
    apart = ((dist1.scale - dist2.scale) ** 2 + (dist1.loc - dist2.loc) ** 2) / (4 * dist1.scale * dist2.scale)
    return xpa.log1p(apart)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(dist1: Dirichlet, dist2: Dirichlet) -> Variable:
    slopes = psi(dist1.alpha) - xpa.expand_dims(psi(dist1.alpha0), axis=-1)
    return dist2.log_normalizer - dist1.log_normalizer + xpa.sum((dist1.alpha - dist2.alpha) * slopes, axis=-1)


@register_kl(Exponential, Exponential)
def _exponential(dist1: Exponential, dist2: Exponential) -> Variable:
    return xpa.log(dist1.lam) - xpa.log(dist2.lam) + dist2.lam / dist1.lam - 1


def _gammas(k1: Variable, k2: Variable) -> Variable:
    """Return the divergence of gamma distributions of one scale."""
    return (k1 - k2) * psi(k1) - gammaln(k1) + gammaln(k2)


@register_kl(Chisquare, Chisquare)
def _chi_square(dist1: Chisquare, dist2: Chisquare) -> Variable:
    return _gammas(0.5 * dist1.k, 0.5 * dist2.k)


@register_kl(Gamma, Gamma)
def _gamma(dist1: Gamma, dist2: Gamma) -> Variable:
    ratio = dist1.theta / dist2.theta
    return _gammas(dist1.k, dist2.k) - dist2.k * xpa.log(ratio) + dist1.k * (ratio - 1)


@register_kl(Geometric, Geometric)
def _geometric(dist1: Geometric, dist2: Geometric) -> Variable:
    failures = xpa.log1p(-dist1.p) - xpa.log1p(-dist2.p)
    return (1 / dist1.p - 1) * failures + xpa.log(dist1.p) - xpa.log(dist2.p)


@register_kl(Gumbel, Gumbel)
def _gumbel(dist1: Gumbel, dist2: Gumbel) -> Variable:
    ratio, shift = dist1.scale / dist2.scale, (dist1.loc - dist2.loc) / dist2.scale
    return EULER * (ratio - 1) - xpa.log(ratio) + xpa.exp(gammaln(ratio + 1) - shift) - 1 + shift


@register_kl(Independent, Independent)
def _independent(dist1: Independent, dist2: Independent) -> Variable:
    first, second = dist1.distribution, dist2.distribution
    if dist1.event_shape != dist2.event_shape:
        raise ValueError(
            f"kl_divergence: expected Independents of one event_shape, got {dist1.event_shape} and {dist2.event_shape}"
        )
    if first.event_shape != second.event_shape:
        raise NotImplementedError(
            "kl_divergence: expected Independents whose parts have one event_shape, got "
            f"{first.event_shape} and {second.event_shape}"
        )
    return dist1.summed(kl_divergence(first, second))


@register_kl(Laplace, Laplace)
def _laplace(dist1: Laplace, dist2: Laplace) -> Variable:
    distance = xpa.abs(dist1.loc - dist2.loc)
    ratio = dist1.scale / dist2.scale
    return distance / dist2.scale + ratio * xpa.exp(-distance / dist1.scale) - xpa.log(ratio) - 1


@register_kl(LogNormal, LogNormal)
def _log_normal(dist1: LogNormal, dist2: LogNormal) -> Variable:
    return kl_divergence(Normal(dist1.mu, dist1.sigma), Normal(dist2.mu, dist2.sigma))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(dist1: MultivariateNormal, dist2: MultivariateNormal) -> Variable:
    spread = xpa.matmul(inv(xpa.tril(dist2.scale_tril)), xpa.tril(dist1.scale_tril))
    shift = dist2.whitened(dist1.loc - dist2.loc)
    squares = xpa.sum(spread * spread, axis=(-2, -1)) + xpa.sum(shift * shift, axis=-1)
    return dist2.log_scale_determinant - dist1.log_scale_determinant + 0.5 * (squares - dist1.d)


@register_kl(Normal, Normal)
def _normal(dist1: Normal, dist2: Normal) -> Variable:
    difference = dist2.log_scale - dist1.log_scale
    return difference + 0.5 * xpa.exp(-2 * difference) + 0.5 * ((dist1.loc - dist2.loc) / dist2.scale) ** 2 - 0.5


@register_kl(Pareto, Pareto)
def _pareto(dist1: Pareto, dist2: Pareto) -> Variable:
    inside = dist1.scale >= dist2.scale
    shift = dist2.alpha * xpa.where(inside, xpa.log(dist1.scale) - xpa.log(dist2.scale), 0.0)
    value = shift + xpa.log(dist1.alpha) - xpa.log(dist2.alpha) + (dist2.alpha - dist1.alpha) / dist1.alpha
    return xpa.where(inside, value, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(dist1: Poisson, dist2: Poisson) -> Variable:
    return xlogy(dist1.lam, dist1.lam / dist2.lam) - dist1.lam + dist2.lam


@register_kl(Uniform, Uniform)
def _uniform(dist1: Uniform, dist2: Uniform) -> Variable:
    outside = (dist1.high > dist2.high) | (dist1.low < dist2.low)
    return xpa.where(outside, math.inf, xpa.log(dist2.scale) - xpa.log(dist1.scale))
