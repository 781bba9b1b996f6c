"""Batches of a data set, read in this thread."""

import copy
import json
from collections.abc import Callable
from collections.abc import Iterator as Generated
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.dataset.iterator import Iterator
from xpgrad.serializers.base import Deserializer
from xpgrad.utils.threads import InTurn

Sampler = Callable[[Any, int], Any]


class ShuffleOrderSampler:
    """An order sampler that shuffles, with separate draws if `random_state` is a generator of the host library."""

    def __init__(self, random_state: Any = None) -> None:
        self._random = random_state

    def __call__(self, current_order: Any, current_position: int) -> Any:
        """Return the order of the next sweep."""
        random = plugins.host.module.random if self._random is None else self._random
        return random.permutation(len(current_order))

    def serialize(self, serializer: Any) -> None:
        """Save or load the state of `random_state`; a trainer saves the state of the global generator."""
        if self._random is not None:
            host: Any = plugins.host
            state = json.dumps(host.random_state(self._random))
            found = str(serializer("random_state", state))
            if found != state:
                host.set_random_state(self._random, json.loads(found))


class State(NamedTuple):
    """The position of an iterator; `before` is `epoch_detail` before the last batch, or negative."""

    position: int
    epoch: int
    is_new_epoch: bool
    order: Any
    before: float


class SerialIterator(Iterator):
    """Batches of a data set, in its order or shuffled anew for each sweep.

    Threads that read from one iterator do so in turn, and get each batch once.

    Parameters
    ----------
    dataset : sequence
        If it has a method `get_batch`, that returns the batch of a list of indices.
    batch_size : int
    repeat : bool
        Whether to iterate forever; the last batch of a sweep is then filled with examples of the next sweep. Otherwise
        iteration stops after one sweep, whose last batch may be smaller.
    shuffle : bool, optional
        By default True, unless an `order_sampler` is given.
    order_sampler : function of the current order and position, optional
        It returns the order of the next sweep. None with ``shuffle=False`` is the order of the data set.
    """

    def __init__(
        self, dataset: Any, batch_size: int, repeat: bool = True, shuffle: bool | None = None,
        order_sampler: Sampler | None = None,
    ) -> None:  # fmt: skip
        if shuffle is not None and order_sampler is not None:
            raise ValueError("SerialIterator: expected shuffle= or order_sampler=, got both")
        if batch_size < 1:
            raise ValueError(f"SerialIterator: batch_size must be positive, got {batch_size}")
        if order_sampler is None and shuffle is not False:
            order_sampler = ShuffleOrderSampler()
        self.dataset, self.batch_size, self._repeat, self.order_sampler = dataset, batch_size, repeat, order_sampler
        self._in_turn = InTurn()
        self._drawn: dict[int, Any] = {}  # orders already drawn for later sweeps, by sweep number
        self.reset()

    def reset(self) -> None:
        """Start from the beginning, in a new order."""
        order = None
        if self.order_sampler is not None:
            order = self.order_sampler(plugins.host.module.arange(len(self.dataset)), 0)
        self._state, self._drawn = State(0, 0, False, order, -1.0), {}

    def __next__(self) -> Any:
        with self._in_turn.lock:
            indices, state = self._advance(self._state)
            parts = [read(self.dataset, part) for part in self._parts(indices)]
            batch = parts[0] if self._reads_batches else parts
            self._go_on(state)
        return batch

    @property
    def _reads_batches(self) -> bool:
        """Whether the data set reads whole batches by `get_batch`."""
        return hasattr(self.dataset, "get_batch")

    def _parts(self, indices: list[int]) -> list[Any]:
        """Return the units to read from the data set: single examples, or the whole batch."""
        found = [int(i) for i in indices]
        return [found] if self._reads_batches else found

    def _go_on(self, state: State) -> None:
        """Set the state after a batch; the orders used are kept until the next batch, see `reading`."""
        self._drawn = {epoch: order for epoch, order in self._drawn.items() if epoch > self._state.epoch}
        self._state = state

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_in_turn": copy.copy(self._in_turn), "_drawn": dict(self._drawn)}

    def _advance(self, state: State) -> tuple[list[int], State]:
        """Return the indices of the batch after `state`, and the state after it."""
        size = self._epoch_size(state)
        if not self._repeat and state.epoch > 0:
            raise StopIteration
        if not size:
            raise ValueError(f"{type(self).__name__}: the data set is empty")
        position, epoch = state.position, state.epoch
        order: Any = state.order
        indices: list[int] = []
        while True:
            start = position
            taken = range(position, min(position + self.batch_size - len(indices), size))
            indices += taken if order is None else [order[i] for i in taken]
            position = taken.stop
            if position < size:
                break
            position, epoch = 0, epoch + 1
            if self.order_sampler is not None:  # even after a single sweep: same seeds as in Chainer
                if epoch not in self._drawn:
                    self._drawn[epoch] = self.order_sampler(order, start)
                order = self._drawn[epoch]
                if len(order) != size:
                    raise ValueError(
                        f"{type(self).__name__}: expected order_sampler to return {size} indices, got {len(order)}"
                    )
            if not self._repeat or len(indices) == self.batch_size:
                break
        before = state.epoch + state.position / size
        return indices, State(position, epoch, epoch > state.epoch, order, before)

    def _epoch_size(self, state: State) -> int:
        return len(self.dataset) if state.order is None else len(state.order)

    @property
    def epoch(self) -> int:
        """The number of finished sweeps."""
        return self._state.epoch

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch finished a sweep."""
        return self._state.is_new_epoch

    @property
    def current_position(self) -> int:
        """The position of the next batch in the current sweep."""
        return self._state.position

    @property
    def epoch_detail(self) -> float:
        """Number of sweeps, with the fraction of the current sweep."""
        return self._state.epoch + self._state.position / self._epoch_size(self._state)

    @property
    def previous_epoch_detail(self) -> float | None:
        """The value of `epoch_detail` before the last batch, or None."""
        return None if self._state.before < 0 else self._state.before

    @property
    def repeat(self) -> bool:
        """Whether to iterate forever."""
        return self._repeat

    def serialize(self, serializer: Any) -> None:
        """Save or load the position, the order of the current sweep, those drawn already, and the order sampler."""
        position, epoch, new, order, before = self._state
        position, epoch = serializer("current_position", position), serializer("epoch", epoch)
        new, loads = serializer("is_new_epoch", new), isinstance(serializer, Deserializer)
        if order is not None:  # a loaded one may be of another length
            try:
                order = serializer("order", None if loads else order)
            except KeyError:  # of Chainer before version 5
                order = serializer("_order", None)
        try:
            before = serializer("previous_epoch_detail", before)
        except KeyError:  # of Chainer before version 3
            size = len(self.dataset) if order is None else len(order)
            before = max(epoch + (position - self.batch_size) / size, 0.0) if epoch or position else -1.0
        drawn: dict[int, Any] = {}
        with suppress(KeyError):  # not saved by Chainer
            known = sum(sweep > epoch for sweep in self._drawn)
            for i in range(1, 1 + int(serializer("orders_drawn", known))):
                drawn[epoch + i] = serializer(f"order_{i}", None if loads else self._drawn[epoch + i])
            sampler: Any = self.order_sampler
            if hasattr(sampler, "serialize") and getattr(sampler, "_random", sampler) is not None:
                sampler.serialize(serializer["order_sampler"])
        self._state, self._drawn = State(position, epoch, bool(new), order, before), drawn


def read(dataset: Any, part: Any) -> Any:
    """Return an example of a data set, or a batch for a list of indices."""
    return dataset.get_batch(part) if isinstance(part, list) else dataset[part]


@contextmanager
def reading(iterator: Any) -> Generated[None]:
    """Context manager that lets a `SerialIterator` return its batch again if the block raises."""
    state = iterator._state if isinstance(iterator, SerialIterator) else None
    try:
        yield
    except BaseException:
        if state is not None:
            iterator._state = state
        raise
