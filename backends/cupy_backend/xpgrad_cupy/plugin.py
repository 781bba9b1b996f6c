"""The plugin of the CuPy backend: imported when the first CuPy array, or the device ``@cupy``, is met."""

from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.plugin import Backend, BackendUnavailable, Device, hookimpl
from xpgrad.types import Kernel
from xpgrad_cupy.detection import why_unavailable

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the CuPy backend. If a requirement is missing, raise BackendUnavailable without importing CuPy."""
    reason = why_unavailable()
    if reason is not None:
        raise BackendUnavailable(reason)
    from xpgrad_cupy.backend import CuPyBackend

    return CuPyBackend()


@hookimpl
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:
    """Return kernels that check index arrays in debug mode, where CuPy would wrap them around."""
    if backend.name != "cupy":
        return {}
    from xpgrad_cupy.kernels.indexing import WATCHED

    return WATCHED


@hookimpl
def xpgrad_executor(backend: Backend) -> Callable[[Any], Any] | None:
    """Return the executor that makes kernels of groups of calls, for arrays of CuPy."""
    if backend.name != "cupy":
        return None
    from xpgrad_cupy.executor import executor

    return executor


@hookimpl
def xpgrad_device(specifier: Any) -> Device | None:
    """Return the device for ``gpu``, ``gpu:1`` and for CuPy's own device objects."""
    if isinstance(specifier, str):
        word, _, number = specifier.partition(":")
        if word != "gpu":
            return None
        from xpgrad_cupy.backend import backend

        return backend().device(number or None)
    if type(specifier).__module__.partition(".")[0] != "cupy":
        return None
    from xpgrad_cupy.backend import backend, is_device

    return backend().device(str(specifier.id)) if is_device(specifier) else None
