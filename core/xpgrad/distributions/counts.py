"""Distributions of integers."""

import math

from xpgrad.array_api import astype, log, log1p, where
from xpgrad.distributions.distribution import Distribution, Tabulated, as_parameters
from xpgrad.distributions.families.counts import BINOMIAL, GEOMETRIC, POISSON
from xpgrad.distributions.sampling import draws_for, integer_dtype, points
from xpgrad.graph.variable import Variable
from xpgrad.special import expit, log_expit
from xpgrad.special import logit as logit_of
from xpgrad.special.entropy import entr
from xpgrad.special.operands import as_floating
from xpgrad.types import AnyArray, Operand, Shape

__all__ = ["Bernoulli", "Binomial", "Geometric", "Poisson"]


class Bernoulli(Distribution):
    """Bernoulli distribution over 0 and 1.

    Parameters
    ----------
    p, logit : Variable, array or float
        Probability of 1, or its log odds; one of the two.
    binary_check : bool
        Give points other than 0 and 1 the probability 0; otherwise the logarithm of the probability, and the
        probability, are interpolated.

    Raises
    ------
    ValueError
        Both or none of `p` and `logit` are given.
    """

    _support = "{0, 1}"
    _names = ("logit",)

    def __init__(self, p: Operand | None = None, logit: Operand | None = None, binary_check: bool = False) -> None:
        if (p is None) == (logit is None):
            raise ValueError(f"Bernoulli: expected either p or logit, got {'neither' if p is None else 'both'}")
        (self._given,) = as_parameters("Bernoulli", logit if p is None else p)
        self._logarithmic = p is None
        self.binary_check = binary_check

    @property
    def p(self) -> Variable:
        """Probability of 1."""
        return expit(self._given) if self._logarithmic else self._given

    @property
    def logit(self) -> Variable:
        """Logarithm of the odds."""
        return self._given if self._logarithmic else logit_of(self._given)

    @property
    def batch_shape(self) -> Shape:
        return self._given.shape

    @property
    def event_shape(self) -> Shape:
        return ()

    def log_probabilities(self) -> tuple[Variable, Variable]:
        """Return the logarithms of the probabilities of 0 and 1."""
        if self._logarithmic:
            return log_expit(-self._given), log_expit(self._given)
        return log1p(-self._given), log(self._given)

    def log_prob(self, x: AnyArray) -> Variable:
        x, _ = as_floating("Bernoulli", (x, self._given))
        zero, one = x == 0, x == 1
        of_0, of_1 = self.log_probabilities()
        certain = (of_0 == -math.inf) | (of_1 == -math.inf)
        between = ~(zero | one)
        mixed = x * where(certain, 0.0, of_1) + (1 - x) * where(certain, 0.0, of_0)
        inside = where(between, x, 0.5)
        mixed = where(certain, where(of_0 == -math.inf, log(inside), log1p(-inside)), mixed)
        return where(one, of_1, where(zero, of_0, -math.inf if self.binary_check else mixed))

    def prob(self, x: AnyArray) -> Variable:
        x, _ = as_floating("Bernoulli", (x, self._given))
        y = x * self.p + (1 - x) * (1 - self.p)
        return where((x == 0) | (x == 1), y, 0.0) if self.binary_check else y

    def cdf(self, x: AnyArray) -> Variable:
        x, _ = as_floating("Bernoulli", (x, self._given))
        return where(x < 0, 0.0, where(x < 1, 1 - self.p, 1.0))

    def icdf(self, x: AnyArray) -> Variable:
        x, _ = as_floating("Bernoulli", (x, self._given))
        return astype(x > 1 - self.p, self._given.dtype)

    def sample_n(self, n: int) -> Variable:
        draws = draws_for((n, *self.batch_shape), self._given)
        return astype(draws.uniform() < self.p, integer_dtype(self._given))

    def enumerate_support(self) -> Variable:
        return points(2, self._given, self.batch_shape)

    @property
    def mean(self) -> Variable:
        return self.p

    @property
    def mode(self) -> Variable:
        return astype(self.p > 0.5, self._given.dtype)

    @property
    def variance(self) -> Variable:
        return self.p * (1 - self.p)

    @property
    def entropy(self) -> Variable:
        return entr(self.p) + entr(1 - self.p)


class Binomial(Tabulated):
    """Binomial distribution.

    Parameters
    ----------
    n : Variable, array or int
        Number of trials; it has no gradient.
    p : Variable, array or float
        Probability of success.
    """

    _family = BINOMIAL
    has_rsample = False
    _support = "non negative integer"
    _names = ("n", "p")

    def __init__(self, n: Operand, p: Operand) -> None:
        self.n, self.p = as_parameters("Binomial", n, p)


class Geometric(Tabulated):
    """Distribution of the number of trials up to the first success.

    Parameters
    ----------
    p : Variable, array or float
        Probability of success.
    """

    _family = GEOMETRIC
    has_rsample = False
    _support = "positive integer"
    _names = ("p",)

    def __init__(self, p: Operand) -> None:
        (self.p,) = as_parameters("Geometric", p)


class Poisson(Tabulated):
    """Poisson distribution.

    Parameters
    ----------
    lam : Variable, array or float
        Mean.
    """

    _family = POISSON
    has_rsample = False
    _support = "non negative integer"
    _names = ("lam",)

    def __init__(self, lam: Operand) -> None:
        (self.lam,) = as_parameters("Poisson", lam)
