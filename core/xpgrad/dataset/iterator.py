"""Base classes: `Iterator` of batches, and `DatasetMixin` for data sets that make one example at a time."""

from collections.abc import Iterable, Sequence
from typing import Any

from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins


class Iterator:
    """An iterator over batches; a subclass defines ``__next__``, and keeps `epoch` and `is_new_epoch` up to date.

    Attributes
    ----------
    epoch : int
        The number of finished sweeps over the data.
    is_new_epoch : bool
        Whether the last batch finished a sweep.
    epoch_detail : float
        Number of sweeps, with the fraction of the current sweep.
    """

    def __iter__(self) -> "Iterator":
        return self

    def __next__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: define __next__")

    def next(self) -> Any:
        """Return the next batch."""
        return self.__next__()

    def __enter__(self) -> "Iterator":
        return self

    def __exit__(self, *_: object) -> None:
        self.finalize()

    def finalize(self) -> None:
        """Release threads or processes; called when training ends."""

    def serialize(self, serializer: Any) -> None:
        """Save or load the state."""


class DatasetMixin:
    """A data set whose examples `get_example` makes; indexing with slices and sequences comes from here."""

    def __getitem__(self, index: Any) -> Any:
        """Return an example, or for a slice, list or integer array a list of examples."""
        if isinstance(index, slice):
            return [self.get_example(i) for i in range(*index.indices(len(self)))]
        if device_of(index) is not None:
            index = index.tolist()
        if isinstance(index, Iterable):
            return [self.get_example(int(i)) for i in index]
        return self.get_example(index)

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__}: define __len__")

    def get_example(self, i: int) -> Any:
        """Return the example with index `i`."""
        raise NotImplementedError(f"{type(self).__name__}: define get_example")


def permutation(n: int) -> Sequence[int]:
    """Return the integers below `n` in an order drawn from the host library's global generator, as in Chainer."""
    return [int(i) for i in plugins.host.module.random.permutation(n)]
