"""The plugin: imported when the first dask array, or the device ``@dask``, is met."""

from collections.abc import Mapping

from xpgrad.plugin import Backend, BackendUnavailable, hookimpl
from xpgrad.types import Kernel

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of dask, or raise BackendUnavailable naming the missing package; imports dask."""
    try:
        from xpgrad_dask.backend import DaskBackend
    except ImportError as error:
        raise BackendUnavailable(f"dask: {error}; pip install xpgrad-dask") from error
    return DaskBackend()


@hookimpl
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:
    """Return the kernel that may decline: assignment at index arrays."""
    if backend.name != "dask":
        return {}
    from xpgrad_dask.indexing import setitem

    return {"setitem": setitem}
