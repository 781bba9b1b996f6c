"""`Visitor`: moves the arrays of a model to a device."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import from_chx, to_chx, transfer
from xpgrad.graph.variable import Variable
from xpgrad.types import Array


class Visitor:
    """Moves what `Link.device_resident_accept` shows to it.

    Parameters
    ----------
    place : callable
        Returns the device to which things on a device move.
    array : callable
        Returns an array where it moves.
    move : str
        The method that moves a Variable.
    arguments : tuple
        Its arguments.
    """

    def __init__(
        self, place: Callable[[Device], Device], array: Callable[[Array], Array], move: str, *arguments: Any
    ) -> None:
        self._place, self._array, self._move, self._arguments = place, array, move, arguments

    def visit_device_resident(self, link: Any) -> None:
        """Let a link note where it will be."""
        link._device = self._place(link.device)

    def visit_array(self, array: Array) -> Array:
        """Return an array where it moves."""
        return self._array(array)

    def visit_variable(self, x: Variable) -> None:
        """Move a Variable."""
        getattr(x, self._move)(*self._arguments)


def to_device(specifier: Any) -> Visitor:
    """Return what moves a model to a device."""
    target = get_device(specifier)
    return Visitor(lambda device: target, lambda array: transfer(array, target), "to_device", target)


def to_chx_visitor() -> Visitor:
    """Return what makes the arrays of a model chx arrays over the same memory."""
    native: Any = plugins.backend_of_prefix("native")
    return Visitor(native.device_over, to_chx, "to_chx")


def from_chx_visitor() -> Visitor:
    """Return what makes the chx arrays of a model plain ones over the same memory."""
    return Visitor(lambda device: getattr(device, "fallback_device", device), from_chx, "from_chx")
