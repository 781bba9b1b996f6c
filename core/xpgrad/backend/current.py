"""The current device of a thread, and the default device of the process."""

import os
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.specifiers import parse
from xpgrad.config import called_with
from xpgrad.errors import BackendUnavailable, XpgradError
from xpgrad.types import Array

_current: ContextVar[Device | None] = ContextVar("xpgrad_device", default=None)


def current_device() -> Device:
    """Return the device on which arrays are created if no other is specified.

    The first setting that exists is used: the innermost `using_device` of this thread, or the device of `Device.use`;
    the device of `xpgrad.use`; ``XPGRAD_DEVICE``; the host. Within a transformation it is that one's device over it.
    """
    found, level = _current.get() or _default(), around()
    return found if level is None else level.device(found)


def _default() -> Device:
    if plugins.default_device is None:
        specifier = os.environ.get("XPGRAD_DEVICE", "").strip()
        try:
            plugins.default_device = parse(specifier or -1)
        except XpgradError as error:
            if not specifier:
                raise
            raise type(error)(f"XPGRAD_DEVICE={specifier}: {error}") from error
    return plugins.default_device


def get_device(specifier: Any = None) -> Device:
    """Return the device that `specifier` names.

    Parameters
    ----------
    specifier : Device, str, int or None
        ``@name`` or ``@name:index`` for a backend's device, a number for a GPU, -1 for the host, a prefix that a plugin
        has claimed (``native:0``), an array library's device object if a plugin recognises it, or None for the current
        device.

    Raises
    ------
    SpecifierError
        No backend recognizes it.
    BackendUnavailable
        Its backend is known but cannot be used.
    TypeError
        It is not of a type that specifies a device.
    """
    if specifier is None:
        return current_device()
    found, level = parse(specifier), around()
    return found if level is None else level.device(found)


def intel64() -> Device | None:
    """Return the device of the backend called ``intel64``, or that claims this prefix; None where none can be used."""
    try:
        if plugins.knows("intel64"):
            return get_device("@intel64")
        return plugins.device_of_prefix("intel64") if "intel64" in plugins.installed.prefixes else None
    except BackendUnavailable:
        return None


def set_current_device(device: Device | None) -> None:
    """Make `device` the current one in this thread; None restores the default of the process."""
    _current.set(device)
    if device is not None:
        device.backend.activate(device)


def use(specifier: Any) -> Device:
    """Make a device the default of the process, and return it.

    Parameters
    ----------
    specifier : as `get_device` takes it
    """
    plugins.default_device = device = get_device(specifier)
    device.backend.activate(device)
    return device


class using_device:  # noqa: N801 - a context manager that reads as a verb, under Chainer's name
    """Context manager that makes a device the current one of this thread.

    Parameters
    ----------
    specifier : as `get_device` takes it
    """

    def __init__(self, specifier: Any) -> None:
        self.device = get_device(specifier)
        self._before: list[Any] = []  # contexts of one object may be nested

    def __repr__(self) -> str:
        return f"using_device({self.device.name!r})"

    def __enter__(self) -> Device:
        before, undo, depth = _current.get(), None, len(self._before)
        try:
            undo = self.device.backend.activate(self.device)
            self._before.append((before, undo))
            _current.set(self.device)
        except BaseException:  # `__exit__` is not called after an error here, a KeyboardInterrupt included
            _leave(before, undo)
            del self._before[depth:]
            raise
        return self.device

    def __exit__(self, *_: object) -> None:
        try:
            _leave(*self._before[-1])
        except BaseException:  # a KeyboardInterrupt
            _leave(*self._before[-1])
            raise
        finally:
            self._before.pop()


def _leave(before: Device | None, undo: Callable[[], None] | None) -> None:
    """Make `before` the current device of this thread again."""
    try:
        _current.set(before)
    finally:
        if undo is not None:
            undo()


def call_on(array: Array, function: Callable[..., Any], *args: Any) -> Any:
    """Return ``function(*args)``, called with the device of `array` as the current device."""
    device, current = plugins.backend_of(array).device_of(array), current_device()
    if (device is current or device == current) and not device.backend.has_current_device:
        return function(*args)
    return call_in(device, function, *args)


def call_in(device: Device, function: Callable[..., Any], *args: Any) -> Any:
    """Return ``function(*args)``, called with `device` as the current one of this thread."""
    undo = None
    try:
        undo = device.backend.activate(device)
        return called_with({_current: device}, function, *args)
    finally:
        if undo is not None:
            undo()
