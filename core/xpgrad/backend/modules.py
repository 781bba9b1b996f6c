"""Which library arrays belong to."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendUnavailable, UnknownArray
from xpgrad.types import Namespace


def get_array_module(*args: Any) -> Namespace:
    """Return the array module of the first argument that is not on the host, else the host's.

    It sees through Variables, and passes over everything that no backend here serves.
    """
    host = plugins.role("cpu")
    for arg in args:
        try:
            backend = plugins.backend_of(plugins.unwrap(arg))
        except (UnknownArray, BackendUnavailable):
            continue
        if backend is not host:
            return backend.default_device.xp
    return host.default_device.xp


def get_array_types() -> tuple[type, ...]:
    """Return the array types of the backends that are in use: of the host, and of those that have been met or named."""
    plugins.role("cpu")
    return tuple(plugins.by_type)


def get_cpu_array_types() -> tuple[type, ...]:
    """Return the array types of the host backend."""
    return plugins.role("cpu").array_types


def is_arrays_compatible(arrays: Iterable[Any]) -> bool:
    """Tell whether all of `arrays` are of one backend; None is passed over."""
    return len({plugins.backend_of(plugins.unwrap(array)) for array in arrays if array is not None}) < 2
