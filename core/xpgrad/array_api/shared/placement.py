"""Placement: the library and the device on which a function creates arrays or copies them."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device, get_device
from xpgrad.backend.device import Device
from xpgrad.backend.levels import innermost_backend
from xpgrad.types import DeviceHandle


def place_of(backend: Backend, device: Any) -> tuple[Backend, DeviceHandle]:
    """Return the backend that creates arrays on `device`, and the device object of its library.

    Parameters
    ----------
    backend : Backend
        None means the current device if it belongs to this backend, else the default device of this backend.
    device : as `get_device` takes it, a device object of the library of `backend`, or None
    """
    backend = innermost_backend(backend)
    if device is None:
        current = current_device()
        return backend, (current if current.backend is backend else backend.default_device).handle
    if not isinstance(device, Device) and any(
        device is known.handle or device == known.handle for known in backend.devices()
    ):
        return backend, device
    found = get_device(device)
    return found.backend, found.handle


def device_at(backend: Backend, device: Any) -> Device:
    """Return the `Device` that `place_of` finds."""
    owner, handle = place_of(backend, device)
    return owner.device_for(handle)
