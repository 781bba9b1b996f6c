"""Inspection: the capabilities, devices and dtypes of a namespace."""

from typing import Any

from xpgrad.array_api.shared.copying import place_of
from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device
from xpgrad.backend.device import Device
from xpgrad.types import Dtype


class NamespaceInfo:
    """The result of ``__array_namespace_info__()``: the library's information, with xpgrad's devices.

    Parameters
    ----------
    backend : Backend
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def __repr__(self) -> str:
        return f"<information on the namespace of {self._backend.name} arrays>"

    def capabilities(self) -> dict[str, Any]:
        """Return the capabilities of the library: "boolean indexing", "data-dependent shapes", "max dimensions"."""
        return dict(_information(self._backend).capabilities())

    def default_device(self) -> Device:
        """Return the device on which arrays are created by default."""
        current = current_device()
        return current if current.backend is self._backend else self._backend.default_device

    def default_dtypes(self, *, device: Any = None) -> dict[str, Dtype]:
        """Return the default dtypes of a device: "real floating", "complex floating", "integral", "indexing"."""
        owner, handle = place_of(self._backend, device)
        return dict(_information(owner).default_dtypes(device=handle))

    def devices(self) -> list[Device]:
        """Return the devices, the default one first."""
        return list(self._backend.devices())

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Dtype]:
        """Return the dtypes that a device supports, optionally of one kind."""
        owner, handle = place_of(self._backend, device)
        return dict(_information(owner).dtypes(device=handle, kind=kind))


def _information(backend: Backend) -> Any:
    return backend.namespace.__array_namespace_info__()
