"""`Resident`: moves a link with its contents to a device."""

from collections.abc import Callable
from typing import Any, Self

from xpgrad.backend.current import get_device, intel64
from xpgrad.backend.device import Device
from xpgrad.backend.modules import device_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import from_chx, to_chx, transfer
from xpgrad.graph.undo import undone_by_errors
from xpgrad.graph.variable import Variable
from xpgrad.models.registry import Registry
from xpgrad.types import Array, Namespace


class Visitor:
    """Moves the items that `Link.device_resident_accept` passes to it.

    Parameters
    ----------
    place : callable
        Maps the device of an item to its new device.
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
        """Set the device of a link."""
        link._device = self._place(link.device)

    def visit_array(self, array: Array) -> Array:
        """Return an array where it moves."""
        return self._array(array)

    def visit_variable(self, x: Variable) -> None:
        """Move a Variable."""
        getattr(x, self._move)(*self._arguments)


class Collector:
    """Collects the arrays of a link: `arrays`."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []

    def visit_device_resident(self, link: Any) -> None:
        """Do nothing."""

    def visit_array(self, array: Array) -> Array:
        """Collect an array."""
        self.arrays.append(array)
        return array

    def visit_variable(self, x: Variable) -> None:
        """Collect the array of a Variable, if it has one."""
        if x._array is not None:
            self.arrays.append(x._array)


def to_device_visitor(specifier: Any) -> Visitor:
    """Return the visitor that moves a model to a device."""
    target = get_device(specifier)
    return Visitor(lambda device: target, lambda array: transfer(array, target), "to_device", target)


def to_chx_visitor() -> Visitor:
    """Return the visitor that converts arrays of a model to chx arrays over the same memory."""
    native: Any = plugins.backend_of_prefix("native")
    return Visitor(native.device_over, to_chx, "to_chx")


def from_chx_visitor() -> Visitor:
    """Return the visitor that converts chx arrays of a model to plain arrays over the same memory."""
    return Visitor(lambda device: getattr(device, "fallback_device", device), from_chx, "from_chx")


class Resident(Registry):
    """Base class of links: parameters and persistent values lie on a device."""

    @property
    def device(self) -> Device:
        """The device that the link was sent to, else the device of its first parameter."""
        found = self._found_device()
        return plugins.host.default_device if found is None else found

    def _found_device(self) -> Device | None:
        if self._device is not None:
            return self._device
        for name in sorted(self._params):
            if self.__dict__[name]._array is not None:
                device: Device = self.__dict__[name].device
                return device
        return next((device for _, c in self._named_children() if (device := c._found_device()) is not None), None)

    @property
    def xp(self) -> Namespace:
        """The array module of the device."""
        return self.device.xp

    def device_resident_accept(self, visitor: Visitor) -> None:
        """Pass all items on a device to a visitor; links with other such attributes extend this method."""
        visitor.visit_device_resident(self)
        for name in sorted(self._params):
            visitor.visit_variable(self.__dict__[name])
        for name in sorted(self._persistent):
            value = self.__dict__.get(name)
            if isinstance(value, Variable):
                visitor.visit_variable(value)
            elif device_of(value) is not None:
                self.__dict__[name] = visitor.visit_array(value)
        for _, child in self._named_children():
            child.device_resident_accept(visitor)

    def _visited(self, visitor: Visitor) -> Self:
        with undone_by_errors(self):
            self.device_resident_accept(visitor)
        return self

    def to_device(self, device: Any) -> Self:
        """Move parameters and persistent values, and return the link; uninitialised parameters are made there."""
        return self._visited(to_device_visitor(device))

    def to_cpu(self) -> Self:
        """Move parameters and persistent values to the host."""
        return self.to_device(-1)

    def to_gpu(self, device: Any = None) -> Self:
        """Move parameters and persistent values to a GPU: number `device`, or the current one, else number 0."""
        if device is None:
            current = get_device(None)
            device = current if current.backend is plugins.backend_of_prefix("gpu") else 0
        return self.to_device(device)

    def to_intel64(self) -> Self:
        """Move parameters and persistent values to the intel64 device if it exists, else to the host."""
        target = intel64()
        return self.to_device(-1 if target is None else target)

    def to_chx(self) -> Self:
        """Make parameters and persistent values chx arrays over the same memory."""
        return self._visited(to_chx_visitor())

    def from_chx(self) -> Self:
        """Make chx parameters and persistent values plain arrays over the same memory."""
        return self._visited(from_chx_visitor())
