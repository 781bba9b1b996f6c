"""The adapter to a framework: its arrays, its calls, and their tapes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.transfer import transfer
from xpgrad.graph.variable import Variable
from xpgrad.interop.sharing import peer, shared
from xpgrad.transforms.trees import Path
from xpgrad.types import Array


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
