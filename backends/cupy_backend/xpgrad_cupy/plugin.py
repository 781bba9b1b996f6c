"""The plugin of the CuPy backend, imported when the first CuPy array or device is met."""

from typing import NoReturn

from xpgrad.plugin import BackendUnavailable, hookimpl
from xpgrad_cupy.backend import why_unavailable

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> NoReturn:
    """Nothing yet: it raises BackendUnavailable with the reason."""
    raise BackendUnavailable(why_unavailable())
