"""Updaters: one step of a training loop."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.random import held_states, restore
from xpgrad.dataset.convert import Converter, concat_examples, device_or_none
from xpgrad.errors import BackendUnavailable
from xpgrad.graph.undo import undone_by_errors
from xpgrad.iterators.serial import reading
from xpgrad.links.state import Stateful
from xpgrad.listing import listed as _listed
from xpgrad.optimizers.undo import model_restored
from xpgrad.training.resuming import serialize_state

__all__ = ["StandardUpdater", "Updater"]


class Updater:
    """Base class: a subclass defines `update`, `get_optimizer`, `get_all_optimizers` and attributes for triggers.

    Triggers read `iteration`, `epoch`, `epoch_detail`, `previous_epoch_detail` and `is_new_epoch`.
    """

    iteration: int

    def connect_trainer(self, trainer: Any) -> None:
        """Get to know the trainer; called when it is made."""

    def get_optimizer(self, name: str) -> Any:
        """Return the optimizer with this name."""
        return self.get_all_optimizers()[name]

    def get_all_optimizers(self) -> dict[str, Any]:
        """Return a dictionary from names to optimizers."""
        raise NotImplementedError(f"{type(self).__name__}: define get_all_optimizers")

    def update(self) -> None:
        """Do one step, and count it."""
        raise NotImplementedError(f"{type(self).__name__}: define update")

    def finalize(self) -> None:
        """Clean up after training."""

    def serialize(self, serializer: Any) -> None:
        """Save or load the state."""


class StandardUpdater(Updater):
    """A batch from the iterator "main", converted, and one step of the optimizer "main" with the loss of its target.

    Subclasses override `update_core` for anything else: several models, truncated backpropagation through time.

    Parameters
    ----------
    iterator : Iterator, or dict of them
    optimizer : Optimizer, or dict of them
    converter : Converter or function of batch and device
    device : device specifier, optional
        Where models and batches are sent.
    loss_func : function, optional
        By default the target of the optimizer "main". It is called with the members of a batch that is a tuple or
        dictionary, else with the batch.
    loss_scale : float, optional
        Passed to `Optimizer.set_loss_scale`.
    auto_new_epoch : bool
        Whether `Optimizer.new_epoch` is called when a sweep is finished.
    input_device : device specifier, optional
        Device that batches are sent to; by default they are not moved.
    compiled : bool or mapping
        Whether a step is one program, see `Optimizer.compile`. Each run reports the values that the model reports. The
        program is exact, so that training resumed from a snapshot gives the same bits. A mapping has options of
        `Optimizer.compile`: ``{"exact": False}`` is faster, but its last bits depend on when compiled code is ready.
    """

    def __init__(
        self,
        iterator: Any,
        optimizer: Any,
        converter: Callable[..., Any] = concat_examples,
        device: Any = None,
        loss_func: Callable[..., Any] | None = None,
        loss_scale: float | None = None,
        auto_new_epoch: bool = True,
        *,
        input_device: Any = None,
        compiled: bool | Mapping[str, Any] = False,
    ) -> None:
        self._iterators: dict[str, Any] = dict(iterator) if isinstance(iterator, Mapping) else {"main": iterator}
        self._optimizers: dict[str, Any] = dict(optimizer) if isinstance(optimizer, Mapping) else {"main": optimizer}
        self.converter, self.loss_func, self.auto_new_epoch = converter, loss_func, auto_new_epoch
        self.device = device_or_none(device)
        self.input_device = self.device if input_device is None else device_or_none(input_device)
        self.iteration, self.compiled = 0, compiled
        self._step: Callable[..., Any] | None = None
        with ExitStack() as stack:
            for each in self._optimizers.values():
                stack.enter_context(undone_by_errors([each.target, each]))
                if self.device is not None:
                    each.target.to_device(self.device)
                if loss_scale is not None:
                    each.set_loss_scale(loss_scale)

    def update(self) -> None:
        """Do one step, and count it."""
        self.update_core()
        self.iteration += 1

    def update_core(self) -> None:
        """Do one step; on an error, restore the batch, the model and the random numbers of `xpgrad.random`."""
        iterator, optimizer = self.get_iterator("main"), self.get_optimizer("main")
        held = held_states()
        try:
            with reading(iterator), model_restored(optimizer.target):
                batch = convert(self.converter, iterator.next(), self.input_device)
                loss = self.loss_func or optimizer.target
                if not self.compiled:
                    call(optimizer.update, batch, loss)
                else:
                    call(self._compiled(optimizer, loss), batch)
        except BaseException:
            restore(held)
            raise
        if self.auto_new_epoch and iterator.is_new_epoch:
            optimizer.new_epoch(optimizer.use_auto_new_epoch)

    def _compiled(self, optimizer: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
        step = self._step
        if step is None:
            options = {"exact": True} if isinstance(self.compiled, bool) else dict(self.compiled)
            step = self._step = optimizer.compile(loss, **options)
        return step

    def get_iterator(self, name: str) -> Any:
        """Return the iterator with this name."""
        return self._iterators[name]

    def get_all_optimizers(self) -> dict[str, Any]:
        """Return a dictionary from names to optimizers."""
        return dict(self._optimizers)

    @property
    def epoch(self) -> int:
        """The number of finished sweeps of the iterator "main"."""
        return int(self._iterators["main"].epoch)

    @property
    def epoch_detail(self) -> float:
        """Number of sweeps of the iterator "main", with the fraction of the current sweep."""
        return float(self._iterators["main"].epoch_detail)

    @property
    def previous_epoch_detail(self) -> float | None:
        """The value of `epoch_detail` before the last batch."""
        found: float | None = self._iterators["main"].previous_epoch_detail
        return found

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch finished a sweep."""
        return bool(self._iterators["main"].is_new_epoch)

    def finalize(self) -> None:
        """Finalize the iterators."""
        for iterator in self._iterators.values():
            iterator.finalize()

    def serialize(self, serializer: Any) -> None:
        """Save or load iterators, optimizers, their models with the states of links, and the number of steps."""
        for name, iterator in self._iterators.items():
            iterator.serialize(serializer[f"iterator:{name}"])
        for name, optimizer in self._optimizers.items():
            optimizer.serialize(serializer[f"optimizer:{name}"])
            optimizer.target.serialize(serializer[f"model:{name}"])
            with suppress(KeyError):  # not saved by Chainer
                for path, link in optimizer.target.namedlinks():
                    if isinstance(link, Stateful):
                        serialize_state(link, serializer[f"state:{name}"][path])
        self.iteration = serializer("iteration", self.iteration)


def convert(converter: Callable[..., Any], batch: Any, device: Device | None) -> Any:
    """Return a converted batch; a function without the decorator `converter` gets numbers of CPUs and GPUs."""
    if isinstance(converter, Converter) or device is None:
        return converter(batch, device)
    number = _number(device)
    return converter(batch, device if number is None else number)


def _number(device: Device) -> int | None:
    """Return Chainer's number of a device: -1 for the host, a GPU's number, None for other devices."""
    if device.backend is plugins.host:
        return -1
    try:
        is_gpu = device.backend is plugins.backend_of_prefix("gpu")
    except BackendUnavailable:
        return None
    return int(device.name.rpartition(":")[2]) if is_gpu else None


def call(function: Callable[..., Any], batch: Any, *first: Any) -> Any:
    """Call a function with `first` and the members of a batch that is a tuple or dictionary, else with the batch."""
    if isinstance(batch, tuple):
        return function(*first, *batch)
    return function(*first, **batch) if isinstance(batch, dict) else function(*first, batch)


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
