"""Libraries and devices of arrays."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, UnknownArray
from xpgrad.types import Array, Namespace


def get_array_module(*args: Any) -> Namespace:
    """Return the array module of the first argument that is not on the host, else of the host; chx takes precedence.

    Variables are replaced by their arrays, and arguments that are not arrays of an available backend are ignored.
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
    """Return whether any element is NaN; under Chainer's name."""
    return plugins.backend_of(array).has_nan(array)


def get_array_types() -> tuple[type, ...]:
    """Return the array types of the host backend and of the other backends loaded so far."""
    plugins.backend_of_prefix("cpu")  # loads it, so that its types are known
    return tuple(plugins.by_type)


def get_cpu_array_types() -> tuple[type, ...]:
    """Return the array types of the host backend."""
    return plugins.host.array_types


def is_arrays_compatible(arrays: Iterable[Any]) -> bool:
    """Return whether all of `arrays` belong to the same backend; None and Variables without an array are ignored."""
    backends = (getattr(device_of(array), "backend", None) for array in map(unwrap, arrays) if array is not None)
    first: Any = next(backends, False)
    return first is False or (first is not None and all(each is first for each in backends))


def device_of(array: Array) -> Device | None:
    """Return the device of `array`, or None if no backend serves it."""
    try:
        return plugins.backend_of(array).device_of(array)
    except (UnknownArray, BackendUnavailable):
        return None


def get_device_from_array(*arrays: Array) -> Device:
    """Return the device of the first array that is not of the host backend, else the host.

    Objects that are not arrays of an available backend, Variables included, are ignored.
    """
    host = plugins.host
    found = (device for array in arrays if (device := device_of(array)) and device.backend is not host)
    return next(found, host.default_device)
