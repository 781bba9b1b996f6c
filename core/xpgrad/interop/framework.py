"""The adapter to a framework: its arrays, its calls, their tapes, and conversion without a copy."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import DTYPES, transfer
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trees import Path
from xpgrad.types import Array


def shared(array: Array, target: Device) -> Array:
    """Return `array` on the device `target`: through DLPack in the same memory where possible, else as a copy.

    In contrast, `transfer` copies so that neither library sees writes of the other. Computations with the
    result must not write into it.

    Raises
    ------
    DtypeError
        The library of `target` would change the dtype.
    """
    backend = plugins.backend_of(array)
    if backend.device_of(array) == target:
        return array
    new = target.backend
    if backend is not new and backend.exports(array, new.dlpack_device(target)) and _forward(array):
        try:
            made = new.from_dlpack(array, target)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # not every array can be exported
            made = NotImplemented
        if made is not NotImplemented and _same(array, made, target):
            return made
    return transfer(array, target)


def peer(array: Array, library: Backend) -> Device:
    """Return the device of the backend `library` that uses the memory of `array`, else its default device."""
    backend = plugins.backend_of(array)
    if backend is library:
        return backend.device_of(array)
    for device in library.devices():
        if backend.exports(array, library.dlpack_device(device)):
            return device
    return library.default_device


def _forward(array: Array) -> bool:
    """Return whether no stride is negative, if the library shows strides; some libraries crash for negative strides."""
    strides = getattr(array, "strides", None)
    return not isinstance(strides, tuple) or all(stride >= 0 for stride in strides)


def _same(array: Array, made: Array, target: Device) -> bool:
    """Return whether the dtype is unchanged; if not, `transfer` reports this."""
    sent, got = plugins.backend_of(array).dtype_name(array.dtype), target.backend.dtype_name(made.dtype)
    return sent == got or sent not in DTYPES or got not in DTYPES


class Tape(ABC):
    """The record that another framework keeps of a computation.

    Attributes
    ----------
    outputs : list of array or None
        Arrays of the framework; None for missing outputs.
    captured : list of Variable
        Variables that represent, after the inputs, captured values that the framework trains.
    """

    outputs: Sequence[Array | None]
    captured: Sequence[Variable] = ()

    @abstractmethod
    def pull(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> Sequence[Array | None]:
        """Return the gradients of the inputs and captured values at `targets`; complex ones are ``∂/∂x + i ∂/∂y``."""

    @abstractmethod
    def pulled(self, cotangents: Sequence[Array | None], targets: Sequence[int]) -> "Tape":
        """Return the tape of `pull`: its outputs are those gradients.

        Its inputs are the inputs of this tape, with the captured values, and then the cotangents that are not None.
        """


class Run(NamedTuple):
    """The result of a call of a framework's function.

    Attributes
    ----------
    leaves : list of object
        The leaves of the result.
    build : callable
        Returns the result with other leaves.
    tape : Tape or None
        None if the framework recorded nothing.
    places : list of int or None
        For each leaf the number of its output of the tape.
    """

    leaves: Sequence[Any]
    build: Callable[[Sequence[Any]], Any]
    tape: Tape | None
    places: Sequence[int | None]


class Framework(ABC):
    """Adapter to another autodiff framework.

    Parameters
    ----------
    backend : Backend
        The one of the framework's arrays.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    @abstractmethod
    def flatten(self, tree: Any) -> tuple[list[Any], list[Path], Callable[[Sequence[Any]], Any]]:
        """Return the leaves of a tree, the path to each, and the function that builds such a tree."""

    @abstractmethod
    def owns(self, leaf: Any) -> bool:
        """Return whether `leaf` is an array of the framework."""

    @abstractmethod
    def run(
        self, f: Callable[..., Any], call: Callable[[Sequence[Array]], Any], inputs: Sequence[Array],
        active: Sequence[int], recorded: bool,
    ) -> Run:  # fmt: skip
        """Return the result of ``call(inputs)``, a call of `f`, recorded for the inputs `active` if `recorded`."""

    def mapped(self, f: Callable[[Any], Any], axis: int) -> Any:
        """Return `f`, from a list of arrays to a list of arrays, for each element along an axis of all of them.

        By default `NotImplemented`: then batches are errors.
        """
        return NotImplemented

    def enter(self, array: Array, device: Device | None) -> Array:
        """Return an array as an array of the framework, on `device` or in the same memory."""
        return shared(array, peer(array, self.backend) if device is None else device)

    def leave(self, array: Array, device: Device, *, result: bool) -> Array:
        """Return an array of the framework as one on `device`; a result may be written to by its owner."""
        copied = result and self.backend.immutable and not device.backend.immutable
        return transfer(array, device) if copied else shared(array, device)
