"""The plugin: imported when the first dpnp array, or one of its devices, is met. dpnp is imported in the hooks only."""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from xpgrad.plugin import Backend, BackendUnavailable, Device, hookimpl
from xpgrad_dpnp.driver import name_driver, widen_pool

if TYPE_CHECKING:
    from xpgrad_dpnp.backend import DpnpBackend

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of dpnp, or raise BackendUnavailable where dpnp or a device for it is missing."""
    if find_spec("dpnp") is None:
        raise BackendUnavailable("dpnp: dpnp is not installed; pip install dpnp")
    name_driver()
    widen_pool()
    try:
        from xpgrad_dpnp.backend import DpnpBackend
    except ImportError as error:  # a library that dpnp's extensions are linked to
        raise BackendUnavailable(f"dpnp: dpnp cannot be imported: {error}; reinstall it") from error
    return DpnpBackend()


@hookimpl
def xpgrad_device(specifier: Any) -> Device | None:
    """Return the device for ``intel64``, with or without an ``@``, and for the device objects of dpctl and dpnp."""
    if not isinstance(specifier, str):
        known = type(specifier).__module__.partition(".")[0] in ("dpctl", "dpnp")
        return _loaded().device_of_object(specifier) if known else None
    word, _, number = specifier.removeprefix("@").partition(":")
    return _loaded().processor(number) if word == "intel64" else None


def _loaded() -> "DpnpBackend":
    from xpgrad_dpnp.backend import DpnpBackend

    return DpnpBackend.loaded()
