"""Kernels by the plugin that provides them, and the order in which a backend tries them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import check_kernels
from xpgrad.backend.record import PluginRecord
from xpgrad.types import Kernel

if TYPE_CHECKING:
    from pluggy import HookImpl

Provided = dict[tuple[str, str], Mapping[str, Kernel]]
"""Kernels by the module of the plugin that provides them and the name of the backend for which it does."""


class Providers:
    """All kernels that plugins provide beside the backends' own."""

    def __init__(self) -> None:
        self._kernels: Provided = {}

    def __repr__(self) -> str:
        return f"<kernels of {', '.join(sorted({module for module, _ in self._kernels})) or 'no plugin'}>"

    def add(self, provided: Provided, hooks: Iterable["HookImpl"], records: Iterable[PluginRecord]) -> None:
        """Add kernels, and tell the backends for which they are.

        Parameters
        ----------
        provided : Provided
        hooks : iterable
            The implementations of the hook for kernels, the first choice first. A backend's own plugin is tried last
            for it, wherever it stands here.
        records : iterable
            Those of the plugins of the backends.
        """
        self._kernels |= provided
        order = [str(hook.plugin_name) for hook in hooks]
        names = {name for _, name in provided}
        for record in records:
            if record.backend is not None and record.backend.name in names:
                self._tell(record.backend, sorted(order, key=record.module.__eq__))

    def _tell(self, backend: Backend, order: Iterable[str]) -> None:
        keys = ((module, backend.name) for module in order)
        backend.xp.set_providers([(key[0], self._kernels[key]) for key in keys if key in self._kernels])

    def remove(self, name: str) -> None:
        """Forget what the plugin or backend `name` provides and is provided with."""
        self._kernels = {key: kernels for key, kernels in self._kernels.items() if name not in key}


def provided_by(hook: "HookImpl", record: PluginRecord, backends: Iterable[Backend]) -> Provided:
    """Return the kernels that one plugin provides for each of `backends`, after checking them."""
    found: Provided = {}
    for backend in backends:
        kernels = call(hook, backend=backend)
        if kernels:
            check_kernels(kernels, record.origin, backend.name)
            found[record.module, backend.name] = dict(kernels)
    return found


def call(hook: "HookImpl", **given: Any) -> Any:
    """Return what one implementation of a hook returns; as with pluggy, it takes only the arguments that it names."""
    return hook.function(*[given[name] for name in hook.argnames])
