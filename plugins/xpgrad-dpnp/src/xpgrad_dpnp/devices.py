"""The devices of this machine as SYCL lists them, and dpnp's queue for each device."""

from typing import Any, NamedTuple

import dpctl
from dpnp.tensor import Device as Handle

from xpgrad.plugin import Device

WORDS = frozenset(["opencl", "level_zero", "cuda", "hip", "cpu", "gpu", "accelerator"])
"""The words of SYCL's filter strings."""
SUB_DEVICE = "a part of a device; dpnp keeps arrays on whole devices only"


class Intel64Device(Device):
    """A CPU, as SYCL uses it: Chainer's name for Intel's arrays in host memory."""

    __slots__ = ()


class Present(NamedTuple):
    """The devices that SYCL lists: usable devices by filter string, default first; other devices with reasons."""

    handles: dict[str, Handle]
    refused: dict[str, str]


def present() -> Present:
    """Return the devices with a queue of dpnp, and for other devices the reasons why they are unusable."""
    handles: dict[str, Handle] = {}
    refused: dict[str, str] = {}
    for device in dpctl.get_devices():
        name = device.filter_string
        try:
            handles[name] = Handle.create_device(device)
        except Exception as error:  # drivers raise any class; without a queue, no arrays exist
            refused[name] = f"{type(error).__name__}: {error}"
    first = default_name()
    return Present({name: handles[name] for name in sorted(handles, key=lambda name: name != first)}, refused)


def default_name() -> str | None:
    """Return the filter string of SYCL's default device, or None."""
    try:
        return str(dpctl.select_default_device().filter_string)
    except dpctl.SyclDeviceCreationError:
        return None


def selected(text: str) -> str | None:
    """Return the filter string of the device that SYCL takes `text` for: ``cpu``, ``level_zero:gpu``; or None."""
    try:
        return str(dpctl.SyclDevice(text).filter_string)
    except (dpctl.SyclDeviceCreationError, ValueError):
        return None


def is_filter(text: str) -> bool:
    """Return whether `text` is in SYCL's terms, whether or not there is such a device."""
    return all(part in WORDS or part.isdecimal() for part in text.split(":"))


def is_processor(handle: Handle) -> bool:
    """Return whether a device is a CPU."""
    return bool(handle.sycl_device.device_type == dpctl.device_type.cpu)


def handle_of_object(thing: Any) -> Handle | str | None:
    """Return the device of a device object or a queue, a reason if dpnp cannot use it, or None for other objects."""
    if isinstance(thing, Handle):
        return thing
    if isinstance(thing, (dpctl.SyclDevice, dpctl.SyclQueue)):
        try:
            return Handle.create_device(thing)
        except ValueError:
            return SUB_DEVICE
    return None
