"""The plugin manager: loads a plugin when its name, its device or one of its arrays turns up, each in its own try."""

import importlib
import threading
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pluggy

from xpgrad.backend import hookspecs
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.discovery import Entry, Installed, scan
from xpgrad.backend.kernels import table
from xpgrad.errors import BackendUnavailable, PluginError, UnknownArray, XpgradError
from xpgrad.types import Array

OWN = "xpgrad"


class PluginWarning(UserWarning):
    """A plugin could not be loaded; everything else works."""


@dataclass
class PluginRecord:
    """What became of one plugin module."""

    module: str
    origin: str
    state: str = "not loaded"  # or: loaded, unavailable, failed
    error: BaseException | None = None
    seconds: float = 0.0
    backend: Backend | None = None
    names: list[str] = field(default_factory=list)

    def reason(self) -> str:
        """Say in one sentence why this plugin gives no backend."""
        if isinstance(self.error, XpgradError):
            return str(self.error)
        return f"{self.origin} failed to load: {type(self.error).__name__}: {self.error}"


class Plugins:
    """All plugins of the process."""

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager("xpgrad")
        self._manager.add_hookspecs(hookspecs)
        self._installed: Installed | None = None
        self._lock = threading.RLock()
        self._modules: list[str] = []
        self.records: dict[str, PluginRecord] = {}
        self.by_type: dict[type, Backend] = {}
        self.scalar_types: tuple[type, ...] = (bool, int, float, complex)
        self.default_device: Device | None = None
        self.generation = 0

    # What is installed

    @property
    def installed(self) -> Installed:
        """The entry points, read at the first use."""
        if self._installed is None:
            with self._lock:
                if self._installed is None:
                    self._installed = scan()
        return self._installed

    def names(self) -> Iterable[str]:
        """Return the names of all backends, loadable or not."""
        return self.installed.backends.keys()

    def knows(self, name: str) -> bool:
        """Tell whether a backend of this name is installed."""
        return name in self.installed.backends

    # By name, by role, by array

    def backend(self, name: str) -> Backend:
        """Return the backend `name`, loading its plugin.

        Raises
        ------
        BackendUnavailable
            It is not installed, disabled, broken, or its library or hardware is missing; the text says which.
        """
        entries = self.installed.backends.get(name)
        if entries is None:
            raise BackendUnavailable(
                f"{name}: no backend of this name is installed; pip install its plugin; here: {', '.join(sorted(self.names()))}"
            )
        if name in self.installed.disabled:
            raise BackendUnavailable(f"{name}: {self.installed.disabled[name]}")
        own = tuple(entry for entry in entries if entry.distribution == OWN)
        if len(entries) > 1 and not own:
            origins = " and ".join(entry.origin for entry in entries)
            raise BackendUnavailable(f"{name}: {origins} both register this name; uninstall one of them")
        entry = (own or entries)[0]
        record = self.load(entry)
        if record.backend is None:
            raise BackendUnavailable(self._sentence(name, record)) from record.error
        if record.backend.name != name:
            raise BackendUnavailable(f"{name}: the plugin of {record.origin} calls its backend {record.backend.name!r}")
        return record.backend

    @staticmethod
    def _sentence(name: str, record: PluginRecord) -> str:
        if record.state == "loaded":
            return f"{name}: {record.origin} gives no backend (its plugin has no hook xpgrad_backend)"
        reason = record.reason()
        return reason if reason.startswith(f"{name}:") else f"{name}: {reason}"

    def role(self, word: str) -> Backend:
        """Return the backend that claimed a word of the standard specifiers: ``cpu`` is the host, ``gpu`` takes numbers."""
        entries = self.installed.words.get(word)
        if not entries:
            raise BackendUnavailable(f"no installed backend serves {word!r}")
        record = self.load(entries[0])
        if record.backend is None:
            names = [n for n, e in self.installed.backends.items() if entries[0].module in {x.module for x in e}]
            raise BackendUnavailable(self._sentence((names or [word])[0], record)) from record.error
        return record.backend

    def backend_of(self, array: Array) -> Backend:
        """Return the backend that serves `array`.

        Raises
        ------
        UnknownArray
            No backend lists exactly this type.
        BackendUnavailable
            The plugin that serves such arrays cannot be used; the text says why.
        """
        found = self.by_type.get(type(array))
        return found if found is not None else self._recognise(type(array))

    def _recognise(self, kind: type) -> Backend:
        failed = []
        for base in kind.__mro__:
            root = (getattr(base, "__module__", None) or "").partition(".")[0]
            for entry in self.installed.modules.get(root, ()):
                record = self.load(entry)
                if record.error is not None:
                    failed.append(record)
        if kind in self.by_type:
            return self.by_type[kind]
        title = f"{kind.__module__}.{kind.__qualname__}"
        for base in kind.__mro__[1:]:
            if base in self.by_type:
                name = f"{base.__module__}.{base.__qualname__}"
                raise UnknownArray(f"{title} is a subclass of {name} that no backend lists; convert it to a plain {name}")
        if failed and kind not in self.scalar_types:
            raise BackendUnavailable("; ".join(record.reason() for record in failed)) from failed[0].error
        raise UnknownArray(f"{title} is not an array of an installed backend; expected one of: {self.type_names()}")

    def type_names(self) -> str:
        """List the array types that are accepted, for messages."""
        self.role("cpu")
        return ", ".join(sorted(f"{t.__module__}.{t.__qualname__}" for t in self.by_type))

    def is_scalar(self, obj: object) -> bool:
        """Tell whether `obj` is a Python scalar or a library's scalar that is no array."""
        if isinstance(obj, self.scalar_types):
            return True
        if type(obj).__module__.partition(".")[0] in self.installed.modules:
            try:
                self.backend_of(obj)  # loads the library's plugin, which may list it
            except (UnknownArray, BackendUnavailable):
                return isinstance(obj, self.scalar_types)
        return False

    # Devices

    def parse_device(self, specifier: str) -> Device | None:
        """Return the device that a plugin understands by `specifier`, asking those that claimed its first word first."""
        word = specifier.partition(":")[0]
        claimed = [self.load(entry) for entry in self.installed.words.get(word, ())]
        device = self._ask(specifier)
        if device is None and any(record.error is not None for record in claimed):
            failed = next(record for record in claimed if record.error is not None)
            raise BackendUnavailable(self._sentence(word, failed)) from failed.error
        if device is None and not claimed and specifier:
            for name, entries in self.installed.backends.items():
                if name not in self.installed.disabled:
                    self.load(entries[0])
            device = self._ask(specifier)
        return device

    def parse_foreign_device(self, specifier: object) -> Device | None:
        """Return the device for an array library's own device object."""
        for entry in self.installed.modules.get(type(specifier).__module__.partition(".")[0], ()):
            self.load(entry)
        return self._ask(specifier)

    def _ask(self, specifier: object) -> Device | None:
        result = self._manager.hook.xpgrad_device(specifier=specifier)
        return result if isinstance(result, Device) else None

    def transfer(self, source: Device, target: Device) -> Any:
        """Return a plugin's direct path between two devices, or None."""
        return self._manager.hook.xpgrad_transfer(source=source, target=target)

    # Loading

    def load(self, entry: Entry) -> PluginRecord:
        """Return the record of a plugin, loading it at the first call; nothing that it raises gets out."""
        record = self.records.get(entry.module)
        if record is not None and record.state != "not loaded":
            return record
        with self._lock:
            record = self.records.setdefault(entry.module, PluginRecord(entry.module, entry.origin))
            if record.state == "not loaded":
                record.state = "loading"
                self._load(record)
        return record

    def _load(self, record: PluginRecord) -> None:
        started = time.perf_counter()
        before = dict(self.by_type), self.scalar_types
        module: Any = None
        try:
            module = importlib.import_module(record.module)
            _check_api(module, record.origin)
            self._register(module, record)
        except BackendUnavailable as error:
            record.state, record.error = "unavailable", error
        except BaseException as error:  # a stranger's code: whatever it raises must stay its own affair
            if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
                record.state = "not loaded"
                raise
            record.state, record.error = "failed", error
            warnings.warn(f"plugin {record.module}: {record.reason()}", PluginWarning, stacklevel=4)
        else:
            record.state = "loaded"
        finally:
            record.seconds = time.perf_counter() - started
            if record.state != "loaded":
                self.by_type, self.scalar_types = before
                if module is not None and self._manager.is_registered(module):
                    self._manager.unregister(module)

    def _register(self, module: Any, record: PluginRecord) -> None:
        self._manager.register(module, name=record.module)
        try:
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            raise PluginError(f"{record.origin}: {error}") from error
        hooks = self._manager.hook
        backend: Backend | None = None
        for implementation in hooks.xpgrad_backend.get_hookimpls():
            if implementation.plugin is module:
                backend = implementation.function()
        others = [r.backend for r in self.records.values() if r.backend is not None]
        if backend is not None:
            self._accept(backend, record)
            others.append(backend)
        providers = [i for i in hooks.xpgrad_kernels.get_hookimpls()]
        added: list[Backend] = []
        try:
            for implementation in providers:
                for target in others:
                    if implementation.plugin is module or target is backend:
                        given = implementation.function(backend=target) or {}
                        if given:
                            added.append(target)
                            target.xp.add_provider(_provider_name(implementation), given)
        except BaseException:
            for target in added:
                target.xp.remove_provider(record.module)
            raise
        record.backend = backend
        self.generation += 1

    def _accept(self, backend: Any, record: PluginRecord) -> None:
        if not isinstance(backend, Backend):
            raise PluginError(f"{record.origin}: xpgrad_backend returned {type(backend).__name__}, expected a Backend")
        for other in self.records.values():
            if other.backend is not None and other.backend.name == backend.name:
                raise PluginError(f"{record.origin} and {other.origin} both call their backend {backend.name!r}; uninstall one")
        for name, kernel in backend.overrides().items():
            if name not in table.declared:
                raise PluginError(f"{record.origin}: unknown kernel {name!r}; kernels: {', '.join(sorted(table.declared))}")
            table.declared[name].check(kernel, record.origin)
        for name, declaration in table.declared.items():
            if declaration.body is None and not declaration.optional and name not in backend.overrides():
                raise PluginError(f"{record.origin}: backend {backend.name} must give the kernel {name!r}, which has no default")
        claimed = dict(self.by_type)
        for kind in backend.array_types:
            if kind in claimed:
                raise PluginError(
                    f"{record.origin}: backends {claimed[kind].name} and {backend.name} both list "
                    f"{kind.__module__}.{kind.__qualname__}; uninstall one of them"
                )
            claimed[kind] = backend
        self.by_type = claimed
        self.scalar_types += tuple(t for t in backend.scalar_types if t not in self.scalar_types)


def _provider_name(implementation: pluggy.HookImpl) -> str:
    return str(implementation.plugin_name)


def _check_api(module: Any, origin: str) -> None:
    supported = getattr(module, "xpgrad_api", None)
    if supported is None:
        return
    low, high = supported
    if not low <= hookspecs.API_VERSION <= high:
        raise PluginError(
            f"{origin}: the plugin supports versions {low} to {high} of the plugin contract, "
            f"but this xpgrad has version {hookspecs.API_VERSION}; upgrade the plugin or xpgrad"
        )


plugins = Plugins()
