"""Records of plugins, and checks before a plugin is accepted: version of the contract, hooks, backend."""

import builtins
from collections.abc import Iterable, Mapping
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import check_kernels, table
from xpgrad.backend.naming import class_name, text_of
from xpgrad.backend.programs import Programs
from xpgrad.errors import PluginError, XpgradError


class PluginWarning(UserWarning):
    """A plugin could not be loaded, or one of its hooks failed; everything else works."""


class PluginRecord:
    """The state of one plugin module.

    Attributes
    ----------
    module, origin : str
        The module, and the distribution with its version.
    names : tuple of str
        The names of the module's backends, as its distribution registers them.
    state : str
        "not loaded", "loading", "loaded", "unavailable" or "failed".
    error : BaseException or None
    seconds : float
        The time that loading took.
    backend : Backend or None
    """

    def __init__(self, module: str, origin: str, names: tuple[str, ...]) -> None:
        self.module, self.origin, self.names = module, origin, names
        self.state, self.seconds = "not loaded", 0.0
        self.error: BaseException | None = None
        self.backend: Backend | None = None

    def __repr__(self) -> str:
        return f"<plugin {self.module} of {self.origin}: {self.state}>"

    def reason(self) -> str:
        """Return in one sentence why this plugin provides no backend."""
        if isinstance(self.error, XpgradError):
            return text_of(self.error).partition(": ")[2] or text_of(self.error)
        if self.error is not None:
            return f"{self.origin} failed to load: {text_of(self.error)}"
        if self.state == "loading":
            return f"the plugin of {self.origin} requested its own backend while it was being loaded"
        return f"{self.origin} provides no backend (its plugin has no hook xpgrad_backend)"


API_VERSION = 1
"""Version of the contract in `hookspecs`."""


def check_api(module: Any, origin: str) -> None:
    """Raise `PluginError` if a plugin does not support this version of the contract."""
    supported = getattr(module, "xpgrad_api", None)
    if supported is None:
        return
    if not isinstance(supported, tuple | list) or [type(version) for version in supported] != [int, int]:
        raise PluginError(f"{origin}: expected xpgrad_api = (lowest, highest) of two integers, got {supported!r}")
    low, high = supported
    if not low <= API_VERSION <= high:
        raise PluginError(
            f"{origin}: the plugin supports versions {low} to {high} of the plugin contract, "
            f"but this xpgrad has version {API_VERSION}; upgrade the plugin or xpgrad"
        )


def check_marked(module: Any, hooks: Mapping[str, Any], origin: str) -> None:
    """Raise `PluginError` if a function with the name of a hook is not marked as a hook."""
    for name in hooks:
        function = getattr(module, name, None)
        if callable(function) and not hasattr(function, "xpgrad_impl"):
            raise PluginError(f"{origin}: the function {name} is not decorated with @hookimpl")


def check_backend(backend: object, record: PluginRecord, others: Iterable[PluginRecord]) -> Backend:
    """Return the backend of a plugin, or raise `PluginError` if it breaks the contract.

    Parameters
    ----------
    backend : object
    record : PluginRecord
    others : iterable of PluginRecord
        Records of the plugins loaded before.
    """
    if not isinstance(backend, Backend):
        raise PluginError(f"{record.origin}: xpgrad_backend returned {class_name(type(backend))}, expected a Backend")
    taken = [other for other in others if other.backend is not None]
    _check_name(backend, record, taken)
    if backend.declared is not None:
        from xpgrad.backend.capabilities import Capabilities  # already imported by a plugin that declares any

        if not isinstance(backend.declared, Capabilities):
            raise PluginError(f"{record.origin}: expected capabilities=Capabilities(...), got {backend.declared!r}")
    _check_kernels(backend, record.origin)
    _check_types(backend, record.origin, taken)
    return backend


def _check_name(backend: Backend, record: PluginRecord, taken: Iterable[PluginRecord]) -> None:
    origin = record.origin
    if backend.name not in record.names:
        said = f"registers it as {', '.join(map(repr, record.names))}" if record.names else "does not register it"
        raise PluginError(
            f"{origin}: the plugin calls its backend {backend.name!r}, but the distribution {said} "
            "in the entry points of the group xpgrad.backends"
        )
    for other in taken:
        if other.backend is not None and other.backend.name == backend.name:
            raise PluginError(f"{origin} and {other.origin} both call a backend {backend.name!r}; uninstall one")


def _check_kernels(backend: Backend, origin: str) -> None:
    """Raise `PluginError` for a missing kernel, and for methods of `Programs`, which would never be called."""
    moved = [name for name in vars(Programs) if name[0] != "_" and hasattr(backend, name)]
    if moved:
        raise PluginError(
            f"{origin}: backend {backend.name} defines {', '.join(moved)}, which are methods of xpgrad.plugin.Programs;"
            " move them to a subclass of it, and assign an object of that class to the attribute programs"
        )
    own = backend.overrides()
    check_kernels(own, origin, backend.name)
    for name, declaration in table.declared.items():
        if declaration.body is None and not declaration.optional and name not in own:
            raise PluginError(f"{origin}: backend {backend.name} must have the kernel {name!r}, which has no default")


def _check_types(backend: Backend, origin: str, taken: Iterable[PluginRecord]) -> None:
    kinds = backend.array_types
    if not kinds or not all(isinstance(kind, type) for kind in kinds):
        raise PluginError(f"{origin}: expected the types of arrays in array_types, got {kinds!r}")
    owners = {kind: other.backend.name for other in taken if other.backend for kind in other.backend.array_types}
    for kind in kinds:
        if kind is getattr(builtins, kind.__name__, None):
            raise PluginError(
                f"{origin}: backend {backend.name} lists {kind.__name__}, a built-in type; list array types only"
            )
        if kind in owners:
            raise PluginError(
                f"{origin}: backends {owners[kind]} and {backend.name} both list "
                f"{class_name(kind)}; uninstall one of them"
            )
