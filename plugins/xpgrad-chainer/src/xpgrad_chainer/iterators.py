"""Base classes and iterators that xpgrad does not have (`chainer.iterators`)."""

from typing import Any

from xpgrad import iterators
from xpgrad.serializers import Deserializer


class OrderSampler:
    """Base class of functions that return the order of the next sweep over a data set."""

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """Return the order of the next sweep."""
        raise NotImplementedError


class DaliIterator:
    """Chainer's iterator over pipelines of NVIDIA DALI, which is not supported."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ImportError("DaliIterator: DALI's pipelines are not supported; iterate over them, or use a data set")


class MultithreadIterator(iterators.MultithreadIterator):
    """The iterator of xpgrad, whose snapshots Chainer also reads."""

    def serialize(self, serializer: Any) -> None:
        """Save or load the state, and save the order under the name that Chainer reads."""
        super().serialize(serializer)
        if not isinstance(serializer, Deserializer):
            serializer("_order", self._state.order)


class MultiprocessIterator(iterators.MultiprocessIterator):
    """The iterator of xpgrad with Chainer's arguments; its processes start as the system starts them, on Linux by fork.

    Parameters
    ----------
    dataset, batch_size, repeat, shuffle, n_processes, n_prefetch, order_sampler
        As of `xpgrad.iterators.MultiprocessIterator`.
    shared_mem, dataset_timeout, maxtasksperchild
        Accepted and without effect.
    """

    start_method = None

    class TimeoutWarning(RuntimeWarning):
        """Category of Chainer's warnings of `dataset_timeout`, for filters of warnings; it is never issued."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        repeat: bool = True,
        shuffle: bool | None = None,
        n_processes: int | None = None,
        n_prefetch: int = 1,
        shared_mem: int | None = None,
        order_sampler: Any = None,
        dataset_timeout: float | None = 30.0,
        maxtasksperchild: int | None = None,
    ) -> None:
        super().__init__(dataset, batch_size, repeat, shuffle, n_processes, n_prefetch, order_sampler)
        self.shared_mem, self.dataset_timeout, self.maxtasksperchild = shared_mem, dataset_timeout, maxtasksperchild
