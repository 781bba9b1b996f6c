"""A distribution some of whose batch axes are axes of its events."""

import math

from xpgrad import array_api as xpa
from xpgrad.distributions.distribution import Distribution
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Namespace, Shape

__all__ = ["Independent"]


class Independent(Distribution):
    """Distribution of events that consist of independent events of another distribution.

    Parameters
    ----------
    distribution : Distribution
    reinterpreted_batch_ndims : int, optional
        Number of the last batch axes of `distribution` that become axes of an event; by default all but the first.

    Raises
    ------
    ValueError
        There are fewer batch axes.
    """

    def __init__(self, distribution: Distribution, reinterpreted_batch_ndims: int | None = None) -> None:
        axes = len(distribution.batch_shape)
        count = max(0, axes - 1) if reinterpreted_batch_ndims is None else reinterpreted_batch_ndims
        if count > axes:
            raise ValueError(
                f"Independent: reinterpreted_batch_ndims is {count}, but the distribution has batch_shape "
                f"{distribution.batch_shape}; pass at most {axes}"
            )
        self._distribution, self._count = distribution, count

    @property
    def distribution(self) -> Distribution:
        """The distribution of the parts."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> int:
        """Number of its batch axes that are axes of an event."""
        return self._count

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]  # depends on the underlying distribution
        """Whether samples have derivatives by the parameters."""
        return self._distribution.has_rsample

    @property
    def batch_shape(self) -> Shape:
        shape = self._distribution.batch_shape
        return shape[: len(shape) - self._count]

    @property
    def event_shape(self) -> Shape:
        shape = self._distribution.batch_shape
        return (*shape[len(shape) - self._count :], *self._distribution.event_shape)

    @property
    def params(self) -> dict[str, Variable]:
        return self._distribution.params

    @property
    def support(self) -> str:
        return self._distribution.support

    @property
    def xp(self) -> Namespace:
        return self._distribution.xp

    def sample_n(self, n: int) -> Variable:
        return self._distribution.sample_n(n)

    def log_prob(self, x: AnyArray) -> Variable:
        return self.summed(self._distribution.log_prob(x))

    def prob(self, x: AnyArray) -> Variable:
        return self._multiplied(self._distribution.prob(x))

    def perplexity(self, x: AnyArray) -> Variable:
        return self._multiplied(self._distribution.perplexity(x))

    def cdf(self, x: AnyArray) -> Variable:
        return self._multiplied(self._distribution.cdf(x))

    def log_cdf(self, x: AnyArray) -> Variable:
        return self.summed(self._distribution.log_cdf(x))

    def survival_function(self, x: AnyArray) -> Variable:
        """Return the probability that all parts are more than `x`."""
        return self._multiplied(self._distribution.survival_function(x))

    def log_survival_function(self, x: AnyArray) -> Variable:
        return self.summed(self._distribution.log_survival_function(x))

    def icdf(self, x: AnyArray) -> Variable:
        raise RuntimeError("Independent: the distribution function of several numbers has no inverse")

    @property
    def mean(self) -> Variable:
        return self._distribution.mean

    @property
    def mode(self) -> Variable:
        return self._distribution.mode

    @property
    def variance(self) -> Variable:
        return self._distribution.variance

    @property
    def stddev(self) -> Variable:
        return self._distribution.stddev

    @property
    def entropy(self) -> Variable:
        return self.summed(self._distribution.entropy)

    @property
    def covariance(self) -> Variable:
        """Block-diagonal covariance matrix of a flattened event."""
        inner, batch = self._distribution, self.batch_shape
        size = math.prod(inner.event_shape)
        count = math.prod(self.event_shape) // size if size else 0
        own = inner.covariance if inner.event_shape else inner.variance
        blocks = xpa.reshape(own, (*batch, count, 1, size, size))
        node = blocks.node.spec
        diagonal = xpa.reshape(xpa.eye(count, dtype=blocks.dtype, device=node.device), (count, count, 1, 1))
        first = len(batch)
        order = (*range(first), first, first + 2, first + 1, first + 3)
        return xpa.reshape(xpa.permute_dims(blocks * diagonal, order), (*batch, count * size, count * size))

    def summed(self, values: Variable) -> Variable:
        """Return sums of values of parts, each over one event."""
        return xpa.sum(values, axis=self._axes) if self._count else values

    def _multiplied(self, values: Variable) -> Variable:
        return xpa.prod(values, axis=self._axes) if self._count else values

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-self._count, 0))
