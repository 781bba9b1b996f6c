"""Loading of plugins: each in its own try, so that a broken one is recorded and warned of, and harms nobody else."""

import importlib
import threading
import time
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.discovery import Entry, Installed, scan
from xpgrad.backend.kernels import check_kernels, table
from xpgrad.backend.record import PluginRecord, PluginWarning
from xpgrad.errors import BackendUnavailable, PluginError, XpgradError
from xpgrad.types import Kernel

if TYPE_CHECKING:
    import pluggy

API_VERSION = 1
"""Version of the contract in `hookspecs`."""
Given = dict[tuple[str, str], Mapping[str, Kernel]]
"""Kernels by the plugin that gives them and the backend for which it does."""


class Loader:
    """The half of the plugin manager that loads.

    Attributes
    ----------
    records : dict from module name to PluginRecord
    by_type : dict from type to Backend
        The types of arrays that were met, or could be; replaced, never written to.
    scalar_types : tuple of type
        Python's scalars, and those of the loaded backends.
    carriers : dict from type to Backend
        Of these, the types of arrays that carry their own graph.
    generation : int
        How many plugins have been loaded.
    """

    def __init__(self) -> None:
        self.records: dict[str, PluginRecord] = {}
        self.by_type: dict[type, Backend] = {}
        self.scalar_types: tuple[type, ...] = (bool, int, float, complex)
        self.carriers: dict[type, Backend] = {}
        self.generation = 0
        self._installed: Installed | None = None
        self._given: Given = {}
        self._lock = threading.RLock()

    @cached_property
    def _manager(self) -> "pluggy.PluginManager":
        import pluggy  # 10 ms that `import xpgrad` does not pay: it is needed when the first plugin loads

        from xpgrad.backend import hookspecs

        manager = pluggy.PluginManager("xpgrad")
        manager.add_hookspecs(hookspecs)
        return manager

    @property
    def installed(self) -> Installed:
        """The entry points, read at the first use."""
        if self._installed is None:
            with self._lock:
                if self._installed is None:
                    self._installed = scan()
        return self._installed

    def load(self, entry: Entry) -> PluginRecord:
        """Return the record of a plugin, loading it at the first call; nothing that it raises gets out."""
        record = self.records.get(entry.module)
        if record is None or record.state in ("not loaded", "loading"):
            with self._lock:  # another thread's loading is waited for; "loading" is then what the plugin itself asked
                names = [n for n, es in self.installed.backends.items() if any(e.module == entry.module for e in es)]
                record = self.records.setdefault(entry.module, PluginRecord(entry.module, entry.origin, tuple(names)))
                if record.state == "not loaded":
                    self._load(record)
                    self._load_companions(record.backend)
        return record

    def _load_companions(self, backend: Backend | None) -> None:
        """Load the other plugins that serve the arrays of a new backend: they may have kernels for it."""
        for root in sorted({root_of(kind) for kind in backend.array_types}) if backend is not None else ():
            for entry in self.installed.modules.get(root, ()):
                self.load(entry)

    def register(self, plugin: Any, name: str) -> Backend:
        """Return the backend of a plugin that no distribution announces, after the checks that all go through."""
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
            self._register(importlib.import_module(record.module), record)
            record.state = "loaded"
        except (KeyboardInterrupt, GeneratorExit):
            record.state = "not loaded"
            raise
        except BackendUnavailable as error:
            record.state, record.error = "unavailable", error
        except BaseException as error:  # a stranger's code: whatever it raises must stay its own affair
            record.state, record.error = "failed", error
            warnings.warn(f"plugin {record.module}: {record.reason()}", PluginWarning, stacklevel=4)
        finally:
            record.seconds = time.perf_counter() - started

    def _register(self, module: Any, record: PluginRecord, needs_backend: bool = False) -> Backend | None:
        """Take what `module` gives, and return its backend; others see a change when nothing can fail any more."""
        _check_api(module, record.origin)
        manager, hooks = self._manager, self._manager.hook
        try:
            try:
                manager.register(module, name=record.module)
                manager.check_pending()
            except Exception as error:
                known = ", ".join(sorted(name for name, hook in vars(hooks).items() if hook.has_spec()))
                raise PluginError(f"{record.origin}: {error}; the hooks are {known}") from error
            _check_marked(module, vars(hooks), record.origin)
            backend = self._backend_of(module, record)
            if backend is None and needs_backend:
                raise PluginError(record.reason())
            given = self._own_kernels(module, record, backend) | self._kernels_of_others(backend)
        except BaseException:
            if manager.is_registered(module):
                manager.unregister(module)
            raise
        record.backend = backend
        self._given |= given
        owners = {each.backend.name: each for each in self.records.values() if each.backend is not None}
        if backend is not None:
            owners[backend.name] = record
        for name in {name for _, name in given}:
            self._order_providers(owners[name])
        if backend is not None:
            self.by_type = {**self.by_type, **dict.fromkeys(backend.array_types, backend)}
            if backend.carries_graphs:
                self.carriers = {**self.carriers, **dict.fromkeys(backend.array_types, backend)}
            self.scalar_types += tuple(t for t in backend.scalar_types if t not in self.scalar_types)
        self.generation += 1
        return backend

    def _backend_of(self, module: Any, record: PluginRecord) -> Backend | None:
        for hook in self._manager.hook.xpgrad_backend.get_hookimpls():
            if hook.plugin is module:
                return self._checked(hook.function(), record)
        return None

    def _checked(self, backend: object, record: PluginRecord) -> Backend:
        origin = record.origin
        if not isinstance(backend, Backend):
            raise PluginError(f"{origin}: xpgrad_backend returned {type(backend).__name__}, expected a Backend")
        if backend.name not in record.names:
            said = f"registers it as {', '.join(map(repr, record.names))}" if record.names else "does not register it"
            raise PluginError(
                f"{origin}: the plugin calls its backend {backend.name!r}, but the distribution {said} "
                "in the entry points of the group xpgrad.backends"
            )
        for other in self.records.values():
            if other.backend is not None and other.backend.name == backend.name:
                raise PluginError(f"{origin} and {other.origin} both call a backend {backend.name!r}; uninstall one")
        if backend.declared is not None:
            from xpgrad.backend.capabilities import Capabilities  # whoever declares some has imported it

            if not isinstance(backend.declared, Capabilities):
                raise PluginError(f"{origin}: expected capabilities=Capabilities(...), got {backend.declared!r}")
        own = backend.overrides()
        check_kernels(own, origin, backend.name)
        for name, declaration in table.declared.items():
            if declaration.body is None and not declaration.optional and name not in own:
                raise PluginError(
                    f"{origin}: backend {backend.name} must give the kernel {name!r}, which has no default"
                )
        if not backend.array_types or not all(isinstance(kind, type) for kind in backend.array_types):
            raise PluginError(f"{origin}: expected the types of arrays in array_types, got {backend.array_types!r}")
        for kind in backend.array_types:
            if kind in self.by_type:
                raise PluginError(
                    f"{origin}: backends {self.by_type[kind].name} and {backend.name} both list "
                    f"{kind.__module__}.{kind.__qualname__}; uninstall one of them"
                )
        return backend

    # Kernels

    def _own_kernels(self, module: Any, record: PluginRecord, backend: Backend | None) -> Given:
        """Return what a plugin gives for each loaded backend, its own included."""
        targets = [each.backend for each in self.records.values() if each.backend is not None]
        targets += [] if backend is None else [backend]
        given: Given = {}
        for hook in self._manager.hook.xpgrad_kernels.get_hookimpls():
            if hook.plugin is module:
                for target in targets:
                    if kernels := call(hook, backend=target):
                        check_kernels(kernels, record.origin, target.name)
                        given[record.module, target.name] = dict(kernels)
        return given

    def _kernels_of_others(self, backend: Backend | None) -> Given:
        """Return what the loaded plugins give for a new backend; one that fails is warned of, and gives nothing."""
        given: Given = {}
        if backend is None:
            return given
        for hook in self._loaded_hooks("xpgrad_kernels"):
            record = self.records[str(hook.plugin_name)]
            try:
                if kernels := call(hook, backend=backend):
                    check_kernels(kernels, record.origin, backend.name)
                    given[record.module, backend.name] = dict(kernels)
            except Exception as error:
                text = f"plugin {record.module}: its kernels for {backend.name} are left out: {error}"
                warnings.warn(text, PluginWarning, stacklevel=2)
        return given

    def _order_providers(self, owner: PluginRecord) -> None:
        """Let third parties go before the backend's own plugin, whichever came first; else in pluggy's order."""
        backend = owner.backend
        assert backend is not None
        names = [str(hook.plugin_name) for hook in reversed(self._manager.hook.xpgrad_kernels.get_hookimpls())]
        names.sort(key=owner.module.__eq__)
        found = [(name, self._given[name, backend.name]) for name in names if (name, backend.name) in self._given]
        backend.xp.set_providers(found)

    def _loaded_hooks(self, name: str) -> "list[pluggy.HookImpl]":
        """Return the implementations of a hook, the first choice first; plugins that are still loading are left out."""
        hooks = reversed(getattr(self._manager.hook, name).get_hookimpls())
        return [hook for hook in hooks if (r := self.records.get(str(hook.plugin_name))) and r.state == "loaded"]

    def ask(self, name: str, **given: Any) -> Any:
        """Return the first answer of the loaded plugins to a hook, or None; one that fails is warned of."""
        for hook in self._loaded_hooks(name):
            try:
                answer = call(hook, **given)
            except XpgradError:
                raise
            except Exception as error:
                text = f"plugin {hook.plugin_name}: its hook {name} failed: {type(error).__name__}: {error}"
                warnings.warn(text, PluginWarning, stacklevel=4)
                continue
            if answer is not None:
                return answer
        return None


def root_of(kind: type) -> str:
    """Return the first part of the name of the module where a type was made."""
    return str(getattr(kind, "__module__", "")).partition(".")[0]


def call(hook: "pluggy.HookImpl", **given: Any) -> Any:
    """Return what one implementation of a hook gives; as with pluggy, it takes only the arguments that it names."""
    return hook.function(*[given[name] for name in hook.argnames])


def _check_api(module: Any, origin: str) -> None:
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


def _check_marked(module: Any, hooks: Mapping[str, Any], origin: str) -> None:
    for name in hooks:
        function = getattr(module, name, None)
        if callable(function) and not hasattr(function, "xpgrad_impl"):
            raise PluginError(f"{origin}: the function {name} is not decorated with @hookimpl")
