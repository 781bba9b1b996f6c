"""Links of losses that compare a label with random labels."""

from collections.abc import Sequence
from typing import Any, ClassVar

from xpgrad import functions
from xpgrad.functions.mixed import unified
from xpgrad.graph.variable import Variable
from xpgrad.initializers import Zero
from xpgrad.links.parameters import weight
from xpgrad.models import Link
from xpgrad.types import AnyArray, as_list
from xpgrad.utils.walker_alias import WalkerAlias


class _Sampling(Link):
    """Base of links with a vector for each word, and a sampler of words."""

    _sampler_type: ClassVar[type[WalkerAlias]] = WalkerAlias

    def __init__(self, in_size: int, probabilities: list[float], sample_size: int, dtype: Any) -> None:
        super().__init__()
        self.sample_size, self.sampler = sample_size, self._sampler_type(probabilities)
        with self.init_scope():
            self.W = weight(Zero(dtype), (len(probabilities), in_size))

    def device_resident_accept(self, visitor: Any) -> None:
        """Also pass the sampler to the visitor; other objects with a method `sample` may lack this method."""
        super().device_resident_accept(visitor)
        accept = getattr(self.sampler, "device_resident_accept", None)
        if accept is not None:
            accept(visitor)


class NegativeSampling(_Sampling):
    """The loss of distinguishing the label of each example from random labels.

    Parameters
    ----------
    in_size : int
        Length of the vectors.
    counts : sequence of int
        How often each word occurs.
    sample_size : int
        Number of negative samples of each example.
    power : float
        Words are drawn with the probabilities ``counts ** power``.
    dtype : dtype or str, optional

    Attributes
    ----------
    W : Parameter, shape (len(counts), in_size)
        Zeros at first.
    sampler : WalkerAlias

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado, Dean: Distributed representations of words and phrases, 2013.
    """

    def __init__(
        self, in_size: int, counts: Sequence[float], sample_size: int, power: float = 0.75, dtype: Any = None
    ) -> None:
        super().__init__(in_size, [float(c) ** power for c in as_list(counts, "numbers")], sample_size, dtype)

    def forward(self, x: AnyArray, t: AnyArray, reduce: str = "sum", *, return_samples: bool = False) -> Any:
        """Return the loss for vectors `x` and labels `t`, and the samples on request; see `F.negative_sampling`."""
        x, W = unified("negative_sampling", x, self.W)
        options: Any = {"reduce": reduce, "return_samples": return_samples}
        return functions.negative_sampling(x, t, W, self.sampler.sample, self.sample_size, **options)


class BlackOut(_Sampling):
    """Cross entropy of the label among random samples, which should not be predicted instead.

    Parameters
    ----------
    in_size : int
        Length of the vectors.
    counts : sequence of int
        Words are drawn with these probabilities, up to a factor.
    sample_size : int
        Number of negative samples of each example.

    Attributes
    ----------
    W : Parameter, shape (len(counts), in_size)
        Zeros at first.
    sampler : WalkerAlias

    References
    ----------
    Ji, Vishwanathan, Satish, Anderson, Dubey: BlackOut, 2016.
    """

    def __init__(self, in_size: int, counts: Sequence[float], sample_size: int) -> None:
        super().__init__(in_size, [float(c) for c in as_list(counts, "numbers")], sample_size, None)

    def forward(self, x: AnyArray, t: AnyArray) -> Variable:
        """Return the loss for vectors `x` and labels `t`; see `F.black_out`."""
        x, W = unified("black_out", x, self.W)
        return functions.black_out(x, t, W, self.sampler.sample((x.shape[0], self.sample_size)))
