"""Distributions of categories, and of probabilities of categories."""

import math

from xpgrad import array_api as xpa
from xpgrad.distributions.distribution import Distribution, as_parameters, broadcast_shape
from xpgrad.distributions.sampling import draws_for, integer_dtype, points
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.ops import one_hot
from xpgrad.special import log_softmax, softmax
from xpgrad.special.entropy import entr, xlogy
from xpgrad.special.gamma_functions import gammaln
from xpgrad.special.operands import as_floating
from xpgrad.special.polygamma import psi
from xpgrad.transforms.custom import stop_gradient
from xpgrad.types import AnyArray, Shape

__all__ = ["Categorical", "Dirichlet", "OneHotCategorical"]


def _indices(p: Variable, n: int) -> Variable:
    """Return `n` random categories of each distribution along the last axis of `p`, as floating-point numbers."""
    total = xpa.cumulative_sum(stop_gradient(p), axis=-1)
    draws = draws_for((n, *p.shape[:-1]), p)
    thresholds = draws.uniform()[..., None] * total[..., -1:]
    return xpa.sum(xpa.astype(thresholds >= total[..., :-1], draws.dtype), axis=-1)


class Categorical(Distribution):
    """Categorical distribution over the integers 0 to K - 1.

    Parameters
    ----------
    p, logit : Variable or array, shape (*S, K)
        Probabilities of the categories, with sum 1, or their logarithms up to a constant; one of the two.

    Raises
    ------
    ValueError
        Both or none of `p` and `logit` are given.
    """

    _names = ("p",)

    def __init__(self, p: AnyArray | None = None, *, logit: AnyArray | None = None) -> None:
        if (p is None) == (logit is None):
            raise ValueError(f"Categorical: expected either p or logit, got {'neither' if p is None else 'both'}")
        (self._given,) = as_parameters("Categorical", logit if p is None else p)
        self._logarithmic = p is None

    @property
    def p(self) -> Variable:
        """Probabilities."""
        return softmax(self._given, axis=-1) if self._logarithmic else self._given

    @property
    def log_p(self) -> Variable:
        """Logarithms of the probabilities."""
        return log_softmax(self._given, axis=-1) if self._logarithmic else xpa.log(self._given)

    @property
    def batch_shape(self) -> Shape:
        return self._given.shape[:-1]

    @property
    def event_shape(self) -> Shape:
        return ()

    @property
    def support(self) -> str:
        return f"integer from 0 to {self._given.shape[-1] - 1}"

    def log_prob(self, x: AnyArray) -> Variable:
        x = xpa.astype(as_variable(x), integer_dtype(self._given))
        count = self._given.shape[-1]
        outside = (x < 0) | (x >= count)
        shape = broadcast_shape(x, self._given[..., 0])
        index = xpa.broadcast_to(xpa.where(outside, 0, x), shape)[..., None]
        found = xpa.take_along_axis(xpa.broadcast_to(self.log_p, (*shape, count)), index, axis=-1)
        return xpa.where(outside, -math.inf, xpa.squeeze(found, axis=-1))

    def sample_n(self, n: int) -> Variable:
        return xpa.astype(_indices(self.p, n), integer_dtype(self._given))

    def enumerate_support(self) -> Variable:
        return points(self._given.shape[-1], self._given[..., 0], self.batch_shape)

    @property
    def mode(self) -> Variable:
        return xpa.argmax(self._given, axis=-1)

    @property
    def entropy(self) -> Variable:
        return xpa.sum(entr(self.p), axis=-1)


class OneHotCategorical(Distribution):
    """Categorical distribution of one-hot vectors.

    Parameters
    ----------
    p : Variable or array, shape (*S, K)
        Probabilities of the categories, with sum 1.
    """

    _support = "one-hot vector"
    _names = ("p",)

    def __init__(self, p: AnyArray) -> None:
        (self.p,) = as_parameters("OneHotCategorical", p)

    @property
    def log_p(self) -> Variable:
        """Logarithms of the probabilities."""
        return xpa.log(self.p)

    @property
    def batch_shape(self) -> Shape:
        return self.p.shape[:-1]

    @property
    def event_shape(self) -> Shape:
        return self.p.shape[-1:]

    def log_prob(self, x: AnyArray) -> Variable:
        x, p = as_floating("OneHotCategorical", (x, self.p))
        return xpa.sum(xlogy(x, p), axis=-1)

    def sample_n(self, n: int) -> Variable:
        return self._as_vectors(_indices(self.p, n))

    def enumerate_support(self) -> Variable:
        return self._as_vectors(points(self.p.shape[-1], self.p[..., 0], self.batch_shape))

    def _as_vectors(self, index: Variable) -> Variable:
        return one_hot(xpa.astype(index, integer_dtype(self.p)), self.p.shape[-1], dtype=self.p.dtype)

    @property
    def mean(self) -> Variable:
        return self.p

    @property
    def mode(self) -> Variable:
        return one_hot(xpa.argmax(self.p, axis=-1), self.p.shape[-1], dtype=self.p.dtype)

    @property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    @property
    def entropy(self) -> Variable:
        return xpa.sum(entr(self.p), axis=-1)


class Dirichlet(Distribution):
    """Dirichlet distribution over vectors of probabilities.

    Parameters
    ----------
    alpha : Variable or array, shape (*S, K)
        Concentrations.
    """

    has_rsample = True
    _support = "[0, 1]"
    _names = ("alpha",)

    def __init__(self, alpha: AnyArray) -> None:
        (self.alpha,) = as_parameters("Dirichlet", alpha)

    @property
    def alpha0(self) -> Variable:
        """Sums of the concentrations."""
        return xpa.sum(self.alpha, axis=-1)

    @property
    def batch_shape(self) -> Shape:
        return self.alpha.shape[:-1]

    @property
    def event_shape(self) -> Shape:
        return self.alpha.shape[-1:]

    @property
    def log_normalizer(self) -> Variable:
        """Logarithms of the multivariate beta function of the concentrations."""
        return xpa.sum(gammaln(self.alpha), axis=-1) - gammaln(self.alpha0)

    def log_prob(self, x: AnyArray) -> Variable:
        x, alpha = as_floating("Dirichlet", (x, self.alpha))
        outside = (x < 0) | (x > 1)
        terms = xpa.where(outside, -math.inf, xlogy(alpha - 1, xpa.where(outside, 0.5, x)))
        return xpa.sum(terms, axis=-1) - self.log_normalizer

    def sample_n(self, n: int) -> Variable:
        draws = draws_for((n, *self.alpha.shape), self.alpha)
        return xpa.astype(softmax(draws.log_gamma(self.alpha), axis=-1), self.alpha.dtype, copy=False)

    @property
    def mean(self) -> Variable:
        return self.alpha / self.alpha0[..., None]

    @property
    def variance(self) -> Variable:
        total = self.alpha0[..., None]
        return self.alpha * (total - self.alpha) / total**2 / (total + 1)

    @property
    def entropy(self) -> Variable:
        spread = xpa.sum((self.alpha - 1) * psi(self.alpha), axis=-1)
        return self.log_normalizer + (self.alpha0 - self.alpha.shape[-1]) * psi(self.alpha0) - spread
