"""The plugin manager: finds the backend of a name, a device or an array, and loads its plugin when needed."""

from collections.abc import Iterable, Iterator
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.contract import PluginRecord
from xpgrad.backend.device import Device
from xpgrad.backend.discovery import HOST, Entry, to_install
from xpgrad.backend.holder import ArrayHolder
from xpgrad.backend.loading import OWN, Loader, root_of
from xpgrad.backend.naming import class_name
from xpgrad.errors import BackendUnavailable, PluginError, UnknownArray
from xpgrad.types import Array

PYTHON_SCALARS = frozenset((bool, int, float, complex))


class Plugins(Loader):
    """All plugins of the process.

    Attributes
    ----------
    default_device : Device or None
        The default device of the process, once it has been requested or set.
    """

    def __init__(self) -> None:
        super().__init__()
        self.default_device: Device | None = None
        self._paths: dict[tuple[int, str, str], Any] = {}

    def __repr__(self) -> str:
        loaded = ", ".join(backend.name for backend in self.backends()) or "none"
        return f"<the plugins of xpgrad; loaded: {loaded}>"

    def names(self) -> Iterable[str]:
        """Return the names of all installed backends, loadable or not."""
        return self.installed.backends.keys()

    def knows(self, name: str) -> bool:
        """Return whether a backend of this name is installed."""
        return name in self.installed.backends

    # By name and by prefix

    def backend(self, name: str) -> Backend:
        """Return the backend `name`, loading its plugin.

        Raises
        ------
        BackendUnavailable
            It is not installed, disabled or broken, or its library or hardware is missing; the message gives the
            reason.
        """
        entries = self.installed.backends.get(name)
        if entries is None:
            raise BackendUnavailable(
                f"{name}: no backend of this name is installed; {to_install(name)}; "
                f"installed: {', '.join(sorted(self.names()))}"
            )
        if name in self.installed.disabled:
            raise BackendUnavailable(f"{name}: {self.installed.disabled[name]}")
        own = [entry for entry in entries if entry.distribution == OWN]
        if len(entries) > 1 and not own:
            origins = " and ".join(sorted(entry.origin for entry in entries))
            raise BackendUnavailable(f"{name}: {origins} both register this name; uninstall one of these packages")
        return self._given_by(next(iter(own or entries)), name)

    @property
    def host(self) -> Backend:
        """The backend of arrays in host memory."""
        return self.backend_of_prefix(HOST)

    def backend_of_prefix(self, prefix: str) -> Backend:
        """Return the backend that has claimed a prefix of device specifiers: ``cpu``, ``gpu``, ``native``."""
        entries = self.installed.prefixes.get(prefix)
        if not entries:
            off = [f"{name}: {why}" for name, why in self.installed.disabled.items()]
            raise BackendUnavailable("; ".join([f"no available backend serves {prefix!r}", *off]))
        return self._given_by(next((entry for entry in entries if entry.distribution == OWN), entries[0]), prefix)

    def device_of_prefix(self, prefix: str) -> Device:
        """Return the device of a prefix without an index: from the plugin's hook, or else its backend's default."""
        backend = self.backend_of_prefix(prefix)
        return self.parse_device(prefix) or backend.default_device

    def _given_by(self, entry: Entry, name: str) -> Backend:
        record = self.load(entry)
        if record.backend is None:
            raise self._unavailable(record, name)
        return record.backend

    @staticmethod
    def _unavailable(record: PluginRecord, name: str) -> BackendUnavailable:
        reason, prefix = record.reason(), record.names[0] if record.names else name
        error = BackendUnavailable(reason if reason.startswith(f"{prefix}:") else f"{prefix}: {reason}")
        error.__cause__ = record.error
        return error

    # Executors

    def executors(self, backend: Backend) -> Iterator[tuple[str, Any]]:
        """Yield plugin and executor for a backend, as the hooks return them, in order of preference."""
        self.load_executors()
        return self.answers("xpgrad_executor", backend=backend)

    def load_executors(self) -> list[PluginRecord]:
        """Return the records of the plugins in the group ``xpgrad.executors``, loading them at the first call."""
        return [self.load(entry) for entries in self.installed.executors.values() for entry in entries]

    # By array

    def backend_of(self, array: Array) -> Backend:
        """Return the backend that serves `array`.

        Raises
        ------
        UnknownArray
            No backend lists exactly this type.
        BackendUnavailable
            The plugin for such arrays cannot be used; the message gives the reason.
        """
        found = self.by_type.get(type(array))
        return found if found is not None else self._recognise(array)

    def _recognise(self, array: Array) -> Backend:
        if isinstance(array, ArrayHolder):
            raise UnknownArray("expected an array, got a Variable; use its .array")
        kind, failed = type(array), []
        for base in kind.__mro__:
            for entry in self.installed.modules.get(root_of(base), ()):
                record = self.load(entry)
                if record.error is not None:
                    failed.append(record)
        if kind in self.by_type:
            return self.by_type[kind]
        title = class_name(kind)
        for base in kind.__mro__[1:]:
            if base in self.by_type:
                known = class_name(base)
                raise UnknownArray(
                    f"{title} is a subclass of {known} that no backend lists; convert it to a plain {known}"
                )
        if failed and kind not in self.scalar_types:
            raise BackendUnavailable("; ".join(record.reason() for record in failed)) from failed[0].error
        known = self.type_names()
        raise UnknownArray(f"{title} is not an array of an installed backend ({known}); {self.remedy(array)}")

    def type_names(self) -> str:
        """Return the main array types of the loaded backends, for messages, without arrays of transformations."""
        self.backend_of_prefix(HOST)  # loads it, so that its types are known
        backends = [backend for backend in self.by_type.values() if backend.base is None]
        return ", ".join(sorted({class_name(backend.array_types[0]) for backend in backends}))

    def remedy(self, obj: object) -> str:
        """Return advice for messages about `obj`, which is not an array of any backend."""
        library = _library_of(obj)
        if library is None or self.is_scalar(obj):
            how = "its method toarray" if hasattr(obj, "toarray") else f"{self.host.name}.asarray"
            return f"nothing is converted silently; make an array with {how}"
        if library in self.installed.disabled:
            return f"the backend {library} is {self.installed.disabled[library]}"
        entries = self.installed.modules.get(library)
        if entries:
            return f"{entries[0].origin} does not list this type among those of arrays; did a function return it?"
        install = f"pip install xpgrad-{library}, or write it: xpgrad new-backend {library}"
        return f"no plugin for {library} is installed; {install}"

    def is_scalar(self, obj: object) -> bool:
        """Return whether `obj` is a Python scalar, or a library's scalar that is not an array."""
        if isinstance(obj, self.scalar_types):
            return True
        if root_of(type(obj)) in self.installed.modules:
            try:
                self.backend_of(obj)  # loads the library's plugin, which may list its type
            except (UnknownArray, BackendUnavailable):
                return isinstance(obj, self.scalar_types)
        return False

    def plain(self, obj: Any) -> Any:
        """Return a library's scalar as a Python scalar, and any other object unchanged."""
        if type(obj) in self.by_type or not hasattr(obj, "item") or not self.is_scalar(obj):
            return obj
        return obj.item()

    def backend_of_scalar(self, obj: object) -> Backend | None:
        """Return the backend of a library's scalar; None for Python scalars and other objects."""
        if not self.is_scalar(obj):
            return None
        return next((backend for backend in self.backends() if isinstance(obj, backend.scalar_types)), None)

    def array_of(self, obj: Any) -> Any:
        """Return a library's scalar as a 0-d array of that library, and any other object unchanged."""
        if type(obj) in self.by_type or type(obj) in PYTHON_SCALARS:
            return obj
        self.backends_beside(obj)  # may be the first object of its library
        backend = self.backend_of_scalar(obj)
        return obj if backend is None else backend.asarray(obj)

    # Devices

    def parse_device(self, specifier: str) -> Device | None:
        """Return the device that a plugin finds for `specifier`, or None.

        This loads the plugins that claim its prefix, with or without ``@``, or whose backend has that name.
        """
        prefix = specifier.removeprefix("@").partition(":")[0]
        named = () if prefix in self.installed.disabled else self.installed.backends.get(prefix, ())
        claimed = [self.load(entry) for entry in self.installed.prefixes.get(prefix, ()) or named]
        device = self._parsed(specifier)
        failed = next((record for record in claimed if record.error is not None), None)
        if device is None and failed is not None:
            raise self._unavailable(failed, prefix)
        return device

    def backends_beside(self, obj: object) -> list[Backend]:
        """Return the loaded backends, including backends for the library of `obj`, a dtype or device."""
        for entry in self.installed.modules.get(root_of(type(obj)), ()):
            self.load(entry)
        return self.backends()

    def parse_foreign_device(self, specifier: object) -> Device | None:
        """Return the device for an array library's own device object."""
        devices = (device for backend in self.backends_beside(specifier) for device in backend.devices())
        own = (d for d in devices if type(d.handle) is type(specifier) and d.handle == specifier)
        return self._parsed(specifier) or next(own, None)

    def _parsed(self, specifier: object) -> Device | None:
        device = self.ask("xpgrad_device", specifier=specifier)
        if device is not None and not isinstance(device, Device):
            raise PluginError(f"a hook xpgrad_device returned {device!r} for {specifier!r}; expected a Device or None")
        return device

    def transfer(self, source: Device, target: Device) -> Any:
        """Return a plugin's direct path between two devices, or None; cached until another plugin is loaded."""
        key = self.generation, source.name, target.name
        if key not in self._paths:
            self._paths[key] = self.ask("xpgrad_transfer", source=source, target=target)
        return self._paths[key]


def _library_of(obj: Any) -> str | None:
    """Return the root package of the library of an array-like object, or None for other objects."""
    if not hasattr(obj, "__dlpack__") and not hasattr(obj, "__array_namespace__"):
        return None
    try:
        library = obj.__array_namespace__()  # the type may be of an inner package, such as jaxlib for JAX
        return str(library.__name__).partition(".")[0]
    except Exception:  # a third-party method
        return root_of(type(obj))


plugins = Plugins()
