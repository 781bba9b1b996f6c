"""Kernels provided by plugins, and the order in which a backend tries them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.kernels import check_kernels
from xpgrad.backend.record import PluginRecord
from xpgrad.types import Kernel

if TYPE_CHECKING:
    from pluggy import HookImpl

Provided = dict[tuple[str, str], Mapping[str, Kernel]]
"""Kernels by the module of the plugin that provides them and the name of the backend they are for."""


class Providers:
    """All kernels that plugins provide in addition to kernels of the backends."""

    def __init__(self) -> None:
        self._kernels: Provided = {}

    def __repr__(self) -> str:
        return f"<kernels of {', '.join(sorted({module for module, _ in self._kernels})) or 'no plugin'}>"

    def add(self, provided: Provided, hooks: Iterable["HookImpl"], records: Iterable[PluginRecord]) -> None:
        """Add kernels, and update the backends they are for.

        Parameters
        ----------
        provided : Provided
        hooks : iterable
            The implementations of the hook for kernels, in order of preference. The plugin that defines a backend is
            always tried last for it.
        records : iterable
            Records of the backends' plugins.
        """
        self._kernels |= provided
        order = [str(hook.plugin_name) for hook in hooks]
        names = {name for _, name in provided}
        for record in records:
            if record.backend is not None and record.backend.name in names:
                self._update(record.backend, sorted(order, key=record.module.__eq__))

    def _update(self, backend: Backend, order: Iterable[str]) -> None:
        keys = ((module, backend.name) for module in order)
        backend.xp.set_providers([(key[0], self._kernels[key]) for key in keys if key in self._kernels])

    def remove(self, name: str) -> None:
        """Remove the kernels provided by the plugin `name` or for the backend `name`."""
        self._kernels = {key: kernels for key, kernels in self._kernels.items() if name not in key}


def provided_by(hook: "HookImpl", record: PluginRecord, backends: Iterable[Backend]) -> Provided:
    """Return the kernels that one plugin provides for `backends`, after checking them."""
    found: Provided = {}
    for backend in backends:
        kernels = call(hook, backend=backend)
        if kernels:
            check_kernels(kernels, record.origin, backend.name)
            found[record.module, backend.name] = dict(kernels)
    return found


def call(hook: "HookImpl", **given: Any) -> Any:
    """Return the result of one implementation of a hook; as in pluggy, it gets only the arguments that it names."""
    return hook.function(*[given[name] for name in hook.argnames])
