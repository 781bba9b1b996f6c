"""The interface of distributions, and base classes that implement it with a family."""

import math
from typing import Any, ClassVar, NoReturn

from xpgrad.array_api import asarray, broadcast_shapes, exp, log, reshape, sqrt
from xpgrad.backend.modules import get_array_module
from xpgrad.boundary import bound_methods
from xpgrad.distributions.families.family import Family
from xpgrad.distributions.families.member import Member
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import as_floating
from xpgrad.types import WHOLE, AnyArray, Namespace, Operand, Shape, Size, integers

__all__ = ["Distribution"]


class Distribution:
    """A probability distribution, or a batch of independent ones, whose parameters are Variables or arrays.

    The shape of a sample is ``sample_shape + batch_shape + event_shape``: samples along the first axes are independent
    and from one distribution, samples along the next axes are independent and from the distributions of the batch, and
    the last axes are the axes of one event. Results of functions of a point have the first two. Everything is
    differentiable by the parameters; samples are where `has_rsample` is True.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let errors of the methods name them."""
        super().__init_subclass__(**kwargs)
        bound_methods(cls)

    has_rsample = False
    """Whether samples have derivatives by the parameters."""
    _names: tuple[str, ...] = ()
    _support = ""

    @property
    def batch_shape(self) -> Shape:
        """Shape of the independent distributions."""
        self._lacks("batch_shape")

    @property
    def event_shape(self) -> Shape:
        """Shape of one event."""
        self._lacks("event_shape")

    @property
    def params(self) -> dict[str, Variable]:
        """Parameters by name."""
        return {name: getattr(self, name) for name in self._names}

    @property
    def support(self) -> str:
        """The set of points of positive density, as a text."""
        return self._support or self._lacks("support")

    @property
    def xp(self) -> Namespace:
        """The module of the parameters' arrays."""
        return get_array_module(*self.params.values())

    def sample(self, sample_shape: Size = ()) -> Variable:
        """Return samples of shape ``sample_shape + batch_shape + event_shape``.

        Parameters
        ----------
        sample_shape : int or tuple of int
        """
        shape = (sample_shape,) if isinstance(sample_shape, WHOLE) else integers(sample_shape, "sample")
        full = (*shape, *self.batch_shape, *self.event_shape)
        return reshape(self.sample_n(math.prod(int(length) for length in shape)), full)

    def sample_n(self, n: int) -> Variable:
        """Return `n` samples, along the first axis.

        Parameters
        ----------
        n : int

        Returns
        -------
        Variable
            Numbers come from `xpgrad.random`, on the device of the parameters.
        """
        self._lacks("sample_n")

    def log_prob(self, x: AnyArray) -> Variable:
        """Return the log density, or log probability of a discrete `x`; -inf outside of the support."""
        self._lacks("log_prob")

    def prob(self, x: AnyArray) -> Variable:
        """Return the density, or the probability of a discrete `x`."""
        return exp(self.log_prob(x))

    def perplexity(self, x: AnyArray) -> Variable:
        """Return the reciprocal of `prob`."""
        return exp(-self.log_prob(x))

    def cdf(self, x: AnyArray) -> Variable:
        """Return the probability of at most `x`."""
        self._lacks("cdf")

    def log_cdf(self, x: AnyArray) -> Variable:
        """Return the logarithm of `cdf`."""
        return log(self.cdf(x))

    def survival_function(self, x: AnyArray) -> Variable:
        """Return the probability of more than `x`."""
        return 1 - self.cdf(x)

    def log_survival_function(self, x: AnyArray) -> Variable:
        """Return the logarithm of `survival_function`."""
        return log(self.survival_function(x))

    def icdf(self, x: AnyArray) -> Variable:
        """Return the inverse of `cdf` at probabilities `x`."""
        self._lacks("icdf")

    def enumerate_support(self) -> Variable:
        """Return all points of a finite support along the first axis, before `batch_shape` and `event_shape`."""
        self._lacks("enumerate_support")

    @property
    def mean(self) -> Variable:
        """Mean."""
        self._lacks("mean")

    @property
    def mode(self) -> Variable:
        """A point at which the density or the probability is largest."""
        self._lacks("mode")

    @property
    def variance(self) -> Variable:
        """Variance, elementwise."""
        self._lacks("variance")

    @property
    def stddev(self) -> Variable:
        """Standard deviation, elementwise."""
        return sqrt(self.variance)

    @property
    def covariance(self) -> Variable:
        """Covariance matrix of an event."""
        self._lacks("covariance")

    @property
    def entropy(self) -> Variable:
        """Entropy, in nats."""
        self._lacks("entropy")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_shape={self.batch_shape}, event_shape={self.event_shape})"

    def _lacks(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} has no {name}")


bound_methods(Distribution)


class Tabulated(Distribution):
    """A distribution of real numbers that a `Member` of a family computes, by default with the parameters as shapes."""

    _family: ClassVar[Family]
    has_rsample = True

    def _member(self) -> Member:
        """Return the member of a family with the parameters."""
        return Member(self._family, tuple(self.params.values()))

    @property
    def batch_shape(self) -> Shape:
        return broadcast_shape(*self.params.values())

    @property
    def event_shape(self) -> Shape:
        return ()

    def sample_n(self, n: int) -> Variable:
        return self._member().sample(n, self.batch_shape)

    def log_prob(self, x: AnyArray) -> Variable:
        return self._member().log_prob(x)

    def cdf(self, x: AnyArray) -> Variable:
        return self._member().cdf(x)

    def log_cdf(self, x: AnyArray) -> Variable:
        return self._member().log_cdf(x)

    def survival_function(self, x: AnyArray) -> Variable:
        return self._member().survival_function(x)

    def log_survival_function(self, x: AnyArray) -> Variable:
        return self._member().log_survival_function(x)

    def icdf(self, x: AnyArray) -> Variable:
        return self._member().icdf(x)

    @property
    def mean(self) -> Variable:
        return self._member().mean

    @property
    def mode(self) -> Variable:
        return self._member().mode

    @property
    def variance(self) -> Variable:
        return self._member().variance

    @property
    def entropy(self) -> Variable:
        return self._member().entropy


class LocationScale(Tabulated):
    """A distribution whose parameters are a location and a scale."""

    _support = "real"
    _names: tuple[str, ...] = ("loc", "scale")

    def __init__(self, loc: Operand, scale: Operand) -> None:
        self.loc, self.scale = as_parameters(type(self).__name__, loc, scale)

    def _member(self) -> Member:
        return Member(self._family, (), self.loc, self.scale)


def as_parameters(name: str, *values: Any) -> tuple[Variable, ...]:
    """Return parameters as floating-point Variables; numbers become arrays of the same library."""
    if all(isinstance(value, (int, float)) for value in values):
        return tuple(asarray(float(value)) for value in values)
    return as_floating(name, values)


def broadcast_shape(*parameters: Variable) -> Shape:
    """Return the broadcast shape of parameters."""
    first = parameters[0].shape
    if all(parameter.shape == first for parameter in parameters):
        return first
    return broadcast_shapes(*(parameter.shape for parameter in parameters))
