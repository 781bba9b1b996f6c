"""The plugin: imported when the first dask array, or the device ``@dask``, is met."""

from xpgrad.plugin import Backend, BackendUnavailable, hookimpl

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of dask, or raise BackendUnavailable with what is missing; only then is dask imported."""
    try:
        from xpgrad_dask.backend import DaskBackend
    except ImportError as error:
        raise BackendUnavailable(f"dask: {error}; pip install xpgrad-dask") from error
    return DaskBackend()
