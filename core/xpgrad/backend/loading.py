"""Loading of plugins: a plugin that fails is recorded and reported by a warning, without effect on other plugins."""

import importlib
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend, CarriesGraphs
from xpgrad.backend.contract import PluginRecord, PluginWarning, check_api, check_backend, check_marked
from xpgrad.backend.discovery import Entry, Installed, scan
from xpgrad.backend.kernels import check_kernels
from xpgrad.backend.naming import is_interrupt, text_of
from xpgrad.boundary import libraries, refusals
from xpgrad.errors import BackendUnavailable, PluginError, XpgradError
from xpgrad.types import Kernel

if TYPE_CHECKING:
    import pluggy
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
                keys = [(module, record.backend.name) for module in sorted(order, key=record.module.__eq__)]
                record.backend.xp.set_providers([(k[0], self._kernels[k]) for k in keys if k in self._kernels])

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


OWN = "xpgrad"
"""The distribution of the built-in backends."""
SLOW = 5.0
"""Seconds after which a plugin that is still being loaded is named in the log."""


class Loader:
    """The part of the plugin manager that loads plugins.

    Attributes
    ----------
    records : dict from module name to PluginRecord
    by_type : dict from type to Backend
        The array types of the loaded backends; replaced, never written to.
    scalar_types : tuple of type
        The scalar types of Python and of the loaded backends.
    carriers : dict from type to CarriesGraphs
        The types of arrays that carry their own graph.
    generation : int
        Number of plugins loaded.
    """

    def __init__(self) -> None:
        self.records: dict[str, PluginRecord] = {}
        self.by_type: dict[type, Backend] = {}
        self.scalar_types: tuple[type, ...] = (bool, int, float, complex)
        self.carriers: dict[type, CarriesGraphs] = {}
        self.generation = 0
        self._installed: Installed | None = None
        self._providers = Providers()
        self._lock = threading.RLock()

    @cached_property
    def _manager(self) -> "pluggy.PluginManager":
        import pluggy  # 10 ms, not needed before the first plugin is loaded

        from xpgrad.backend import hookspecs

        manager = pluggy.PluginManager("xpgrad")
        manager.add_hookspecs(hookspecs)
        return manager

    @property
    def installed(self) -> Installed:
        """The installed entry points, read at the first use."""
        if self._installed is None:
            with self._lock:
                if self._installed is None:
                    self._installed = scan()
        return self._installed

    def backends(self) -> list[Backend]:
        """Return the backends of the loaded plugins."""
        return [record.backend for record in self.records.values() if record.backend is not None]

    def load(self, entry: Entry) -> PluginRecord:
        """Return the record of a plugin, loading it at the first call; its errors are recorded, not raised."""
        record = self.records.get(entry.module)
        if record is None or record.state in ("not loaded", "loading"):
            with self._lock:  # waits for other threads; if still "loading", the plugin itself calls this
                names = [n for n, es in self.installed.backends.items() if any(e.module == entry.module for e in es)]
                record = self.records.setdefault(entry.module, PluginRecord(entry.module, entry.origin, tuple(names)))
                if record.state == "not loaded":
                    self._load(record)
                    self._load_companions(record.backend)
        return record

    def _load_companions(self, backend: Backend | None) -> None:
        """Load the other plugins for the array types of a new backend: they may have kernels for it."""
        for root in sorted({root_of(kind) for kind in backend.array_types}) if backend is not None else ():
            for entry in self.installed.modules.get(root, ()):
                self.load(entry)

    def register(self, plugin: Any, name: str) -> Backend:
        """Check and register a plugin that is not installed by a distribution, and return its backend."""
        with self._lock:
            installed = self.installed
            if name in installed.backends:
                raise PluginError(f"register: {name!r} is the name of an installed backend; choose another one")
            entry = Entry(name, f"{name} (registered by this program)", "this program", "")
            record = PluginRecord(entry.module, entry.origin, (name,))
            backend = self._register(plugin, record, needs_backend=True)
            assert backend is not None
            record.state = "loaded"
            self.records[entry.module] = record
            self._installed = installed._replace(backends={**installed.backends, name: (entry,)})
            self._load_companions(backend)
            return backend

    def _load(self, record: PluginRecord) -> None:
        started, record.state = time.perf_counter(), "loading"
        try:
            with _noted_if_slow(record):
                self._register(importlib.import_module(record.module), record)
            record.state = "loaded"
        except BackendUnavailable as error:
            record.state, record.error = "unavailable", error
        except BaseException as error:  # third-party code: none of its errors may reach other backends
            if is_interrupt(error):
                record.state = "not loaded"
                raise
            record.state, record.error = "failed", error
            warnings.warn(f"plugin {record.module}: {record.reason()}", PluginWarning, stacklevel=4)
        finally:
            record.seconds = time.perf_counter() - started

    def _register(self, module: Any, record: PluginRecord, needs_backend: bool = False) -> Backend | None:
        """Register the hooks of `module` and return its backend; state changes only after all checks have passed."""
        check_api(module, record.origin)
        manager, hooks = self._manager, self._manager.hook
        try:
            try:
                manager.register(module, name=record.module)
                manager.check_pending()
            except Exception as error:
                known = ", ".join(sorted(name for name, hook in vars(hooks).items() if hook.has_spec()))
                raise PluginError(f"{record.origin}: {error}; expected one of the hooks {known}") from error
            check_marked(module, vars(hooks), record.origin)
            backend = self._backend_of(module, record)
            if backend is None and needs_backend:
                raise PluginError(record.reason())
            provided = self._kernels(module, record, backend)
        except BaseException:
            if manager.is_registered(module):
                manager.unregister(module)
            raise
        record.backend = backend
        self._providers.add(provided, self._hooks("xpgrad_kernels"), {**self.records, record.module: record}.values())
        if backend is not None:
            self.by_type = {**self.by_type, **dict.fromkeys(backend.array_types, backend)}
            if not needs_backend:  # else the backend is part of the user's program, whose errors propagate
                libraries.update(map(root_of, backend.array_types))
                libraries.add(str(getattr(backend.namespace, "__name__", "")).partition(".")[0])
                refusals.update(dict.fromkeys(backend.array_types, backend.refusal))
            if isinstance(backend, CarriesGraphs):
                self.carriers = {**self.carriers, **dict.fromkeys(backend.array_types, backend)}
            self.scalar_types += tuple(t for t in backend.scalar_types if t not in self.scalar_types)
        self.generation += 1
        return backend

    def _backend_of(self, module: Any, record: PluginRecord) -> Backend | None:
        for hook in self._hooks("xpgrad_backend"):
            if hook.plugin is module:
                backend = hook.function()
                self._load_built_in(backend)
                return check_backend(backend, record, self.records.values())
        return None

    def _load_built_in(self, backend: object) -> None:
        """Load the built-in backends of the libraries whose types a new backend lists, so that theirs are known."""
        kinds = backend.array_types if isinstance(backend, Backend) else ()
        for root in sorted({root_of(kind) for kind in kinds if isinstance(kind, type)}):
            for entry in self.installed.modules.get(root, ()):
                if entry.distribution == OWN:
                    self.load(entry)

    # Kernels

    def _kernels(self, module: Any, record: PluginRecord, backend: Backend | None) -> Provided:
        """Return the kernels of a new plugin for all backends, and the kernels of loaded plugins for its backend.

        If a loaded plugin fails, a warning is given and its kernels are left out.
        """
        new = [] if backend is None else [backend]
        found: Provided = {}
        for hook in self._hooks("xpgrad_kernels"):
            if hook.plugin is module:
                found |= provided_by(hook, record, [*self.backends(), *new])
        for hook in self._loaded_hooks("xpgrad_kernels"):
            other = self.records[str(hook.plugin_name)]
            try:
                found |= provided_by(hook, other, new)
            except BaseException as error:
                if is_interrupt(error):
                    raise
                text = f"plugin {other.module}: its kernels for {new[0].name} are left out: {text_of(error)}"
                warnings.warn(text, PluginWarning, stacklevel=2)
        return found

    def _hooks(self, name: str) -> "Iterator[pluggy.HookImpl]":
        """Return the implementations of a hook in order of preference."""
        found: list[pluggy.HookImpl] = getattr(self._manager.hook, name).get_hookimpls()
        return reversed(found)

    def _loaded_hooks(self, name: str) -> "list[pluggy.HookImpl]":
        """Return the implementations of a hook by plugins that have been loaded completely."""
        return [
            hook for hook in self._hooks(name) if (r := self.records.get(str(hook.plugin_name))) and r.state == "loaded"
        ]

    def ask(self, name: str, **given: Any) -> Any:
        """Return the first result of a hook of the loaded plugins that is not None; errors become warnings."""
        return next((answer for _, answer in self.answers(name, **given) if answer is not None), None)

    def answers(self, name: str, **given: Any) -> Iterator[tuple[str, Any]]:
        """Yield the names of the loaded plugins and the results of their hook; errors become warnings."""
        for hook in self._loaded_hooks(name):
            try:
                answer = call(hook, **given)
            except XpgradError:
                raise
            except BaseException as error:
                if is_interrupt(error):
                    raise
                text = f"plugin {hook.plugin_name}: its hook {name} failed: {text_of(error)}"
                warnings.warn(text, PluginWarning, stacklevel=6)
                continue
            yield str(hook.plugin_name), answer


@contextmanager
def _noted_if_slow(record: PluginRecord) -> Iterator[None]:
    """Log a note when the block takes long; from a separate thread, where a warning could only become an error."""
    text = f"plugin {record.module} of {record.origin} has been loading for {SLOW:g} s"
    # logging takes 3 ms to import.
    timer = threading.Timer(SLOW, lambda: importlib.import_module("logging").getLogger("xpgrad").warning(text))
    timer.daemon = True
    with suppress(RuntimeError):  # no more threads
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def root_of(kind: type) -> str:
    """Return the root package of the module in which a type is defined."""
    return str(getattr(kind, "__module__", "")).partition(".")[0]
