"""Which library and which device arrays belong to."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, UnknownArray
from xpgrad.types import Array, Namespace


def get_array_module(*args: Any) -> Namespace:
    """Return the array module of the first argument that is not on the host, else the host's; chx goes before all.

    It sees through Variables, and passes over everything that no backend here serves.
    """
    host, found = plugins.host, []
    for arg in args:
        try:
            backend = plugins.backend_of(unwrap(arg))
        except (UnknownArray, BackendUnavailable):
            continue
        if backend is not host and backend not in found:
            found.append(backend)
    if len(found) > 1:
        try:
            native = plugins.backend_of_prefix("native")
        except BackendUnavailable:
            native = found[0]
        return (native if native in found else found[0]).default_device.xp
    return (found[0] if found else host).default_device.xp


def _contains_nan(array: Array) -> bool:
    """Tell whether any element is not a number; under Chainer's name."""
    return plugins.backend_of(array).has_nan(array)


def get_array_types() -> tuple[type, ...]:
    """Return the array types of the backends that are in use: of the host, and of those that have been met or named."""
    plugins.backend_of_prefix("cpu")  # is loaded, so that its types are known
    return tuple(plugins.by_type)


def get_cpu_array_types() -> tuple[type, ...]:
    """Return the array types of the host backend."""
    return plugins.host.array_types


def is_arrays_compatible(arrays: Iterable[Any]) -> bool:
    """Tell whether all of `arrays` are of one backend; None is passed over."""
    return len({plugins.backend_of(unwrap(array)) for array in arrays if array is not None}) < 2


def device_of(array: Array) -> Device | None:
    """Return the device of `array`, or None if no backend serves it."""
    try:
        return plugins.backend_of(array).device_of(array)
    except (UnknownArray, BackendUnavailable):
        return None


def get_device_from_array(*arrays: Array) -> Device:
    """Return the device of the first array that is not the host's, else the host.

    Objects that no backend here serves, Variables among them, are passed over; nothing is raised for them.
    """
    host = plugins.host
    found = (device for array in arrays if (device := device_of(array)) and device.backend is not host)
    return next(found, host.default_device)
