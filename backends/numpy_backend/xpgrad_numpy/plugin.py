"""The plugin: imported when the first NumPy array, or the device ``@numpy``, is met."""

from xpgrad.plugin import Backend, hookimpl
from xpgrad_numpy.backend import NumPyBackend
from xpgrad_numpy.heap import keep_freed_memory

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the NumPy backend."""
    keep_freed_memory()
    return NumPyBackend()
