"""The current device: this thread's choice, else the process's."""

import os
from contextvars import ContextVar
from typing import Any

from xpgrad.backend.device import Device, get_device

_current: ContextVar[Device | None] = ContextVar("xpgrad_device", default=None)


def current_device() -> Device:
    """Return the device where arrays are created when nothing else says where.

    In order: the innermost `using_device` of this thread, or what `Device.use` set; `xpgrad.use`; ``XPGRAD_DEVICE``; the
    host.
    """
    return _current.get() or _default()


def _default() -> Device:
    from xpgrad.backend.plugins import plugins

    if plugins.default_device is None:
        plugins.default_device = get_device(os.environ.get("XPGRAD_DEVICE") or -1)
    return plugins.default_device


def set_current_device(device: Device | None) -> None:
    """Make `device` the current one in this thread; None gives it back to the process's default."""
    _current.set(device)


def use(specifier: Any) -> Device:
    """Make a device the default of the process, and return it.

    Parameters
    ----------
    specifier : as `get_device` takes it
    """
    from xpgrad.backend.plugins import plugins

    plugins.default_device = get_device(specifier)
    return plugins.default_device


class using_device:  # noqa: N801 - a context manager that reads as a verb, under Chainer's name
    """Context manager that makes a device the current one of this thread.

    Parameters
    ----------
    specifier : as `get_device` takes it
    """

    def __init__(self, specifier: Any) -> None:
        self.device = get_device(specifier)

    def __enter__(self) -> Device:
        self._before = _current.get()
        _current.set(self.device)
        return self.device

    def __exit__(self, *_: object) -> None:
        _current.set(self._before)
