"""Inspection of the namespace of chx arrays."""

from typing import Any

import array_api_compat.numpy as host

from xpgrad.types import Dtype
from xpgrad_chx.device import CUDA, NATIVE, Device, get_backend, get_default_device


class Information:
    """What ``__array_namespace_info__()`` returns: NumPy's dtypes and capabilities, chx's devices."""

    def __init__(self) -> None:
        library: Any = host  # NumPy 2.0 itself does not have it
        self._host = library.__array_namespace_info__()

    def __repr__(self) -> str:
        return "<information on the namespace of chx arrays>"

    def capabilities(self) -> dict[str, Any]:
        """Return the capabilities of the functions: "boolean indexing", "data-dependent shapes", "max dimensions"."""
        return dict(self._host.capabilities())

    def default_device(self) -> Device:
        """Return the device on which arrays are created by default."""
        return get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Dtype]:
        """Return the default dtypes: "real floating", "complex floating", "integral", "indexing"."""
        return dict(self._host.default_dtypes())

    def devices(self) -> list[Device]:
        """Return the native devices, and the CUDA devices that have been requested."""
        return [*get_backend(NATIVE).known_devices(), *get_backend(CUDA).known_devices()]

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Dtype]:
        """Return the dtypes of one kind, or all; every device has the same."""
        return dict(self._host.dtypes(kind=kind))
