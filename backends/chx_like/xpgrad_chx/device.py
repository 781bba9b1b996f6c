"""Devices: the memory of chx arrays. A device belongs to a kind of memory, which belongs to a context.

``native:N`` is host memory, as NumPy's arrays use it; several numbers pretend several devices. ``cuda:N`` is memory of
CUDA device N, as CuPy's arrays use it; CuPy is imported when the first such device is requested.
"""

import functools
from contextvars import ContextVar
from typing import Any

import xpgrad
from xpgrad.types import Kernel
from xpgrad_chx.errors import BackendError, DeviceError

NATIVE_DEVICES = 2
"""The number of native devices: enough for tests to detect computations on the wrong one."""
NATIVE, CUDA = "native", "cuda"


class Device:
    """A place for arrays: one object per device, so equality is identity. Devices are pickled by name.

    Attributes
    ----------
    name : str
        ``native:0``
    backend : Backend
    index : int
    buffers : xpgrad's backend
        Whose arrays hold the memory: NumPy's or CuPy's.
    handle : object
        The library's handle of the device.
    on_host : bool
    """

    __slots__ = ("__dict__", "backend", "buffers", "handle", "index", "name", "on_host")

    def __init__(self, backend: "Backend", index: int, place: xpgrad.Device) -> None:
        self.backend, self.index, self.name = backend, index, f"{backend.name}:{index}"
        self.buffers, self.handle, self.on_host = place.backend.root, place.handle, backend.name == NATIVE

    @property
    def context(self) -> "Context":
        """The context that the device belongs to."""
        return self.backend.context

    @functools.cached_property
    def place(self) -> xpgrad.Device:
        """The corresponding device of xpgrad."""
        return xpgrad.get_device(self)

    @functools.cached_property
    def _functions(self) -> dict[str, Kernel]:
        return {}

    def function(self, name: str) -> Kernel:
        """Return the function `name` of the library of the buffers; extensions have a prefix, as in ``linalg.inv``."""
        found = self._functions.get(name)
        if found is None:
            found = self.buffers.namespace
            for part in name.split("."):
                found = getattr(found, part)
            self._functions[name] = found
        return found

    def kernel(self, name: str) -> Kernel:
        """Return the kernel `name` of the buffers' library; if only the host has the kernel, one that declines."""
        try:
            return self.buffers.xp.kernel(name)
        except RuntimeError:  # a PluginError: the vjp of an input
            return _decline

    def follow(self, function: Kernel) -> Kernel:
        """Return a function of buffers wrapped to compute on this device."""
        return function if self.on_host else self.buffers.follow(function)

    def synchronize(self) -> None:
        """Wait until all work on the device is done."""
        if not self.on_host:
            xpgrad.get_device(self.handle).synchronize()

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return get_device, (self.name,)


def _decline(*args: Any, **parameters: Any) -> Any:
    return NotImplemented


class Backend:
    """A kind of memory: ``native`` or ``cuda``.

    Attributes
    ----------
    name : str
    context : Context
    """

    def __init__(self, name: str, context: "Context") -> None:
        self.name, self.context = name, context
        self._devices: dict[int, Device] = {}

    def get_device(self, index: int = 0) -> Device:
        """Return device number `index`.

        Raises
        ------
        DeviceError
            The device does not exist.
        BackendUnavailable
            CUDA or CuPy is missing; the message names which.
        """
        found = self._devices.get(index)
        if found is None:
            if self.name == NATIVE and index not in range(NATIVE_DEVICES):
                raise DeviceError(f"get_device: expected native:0 to native:{NATIVE_DEVICES - 1}, got native:{index}")
            try:
                place = xpgrad.get_device("@numpy" if self.name == NATIVE else f"@cupy:{index}")
            except xpgrad.BackendUnavailable as error:
                raise xpgrad.BackendUnavailable(f"chx: there is no {self.name}:{index} here; {error}") from error
            found = self._devices.setdefault(index, Device(self, index, place))
        return found

    def get_device_count(self) -> int:
        """Return the number of devices; without CUDA there is no cuda device."""
        if self.name == NATIVE:
            return NATIVE_DEVICES
        try:
            return len(xpgrad.get_device("@cupy:0").backend.devices())
        except (xpgrad.BackendUnavailable, xpgrad.SpecifierError):
            return 0

    def known_devices(self) -> list[Device]:
        """Return the native devices, or the CUDA devices requested so far."""
        if self.name == NATIVE:
            return [self.get_device(index) for index in range(NATIVE_DEVICES)]
        return list(self._devices.values())

    def __repr__(self) -> str:
        return f"<Backend {self.name}>"


class Context:
    """A separate set of devices. Programs need only the default context."""

    def __init__(self) -> None:
        self._backends = {name: Backend(name, self) for name in (NATIVE, CUDA)}

    def __repr__(self) -> str:
        return f"<Context of {' and '.join(self._backends)}>"

    def get_backend(self, name: str) -> Backend:
        """Return the kind of memory `name`."""
        if name not in self._backends:
            raise BackendError(f"Backend not found: {name!r}; there are native and cuda")
        return self._backends[name]

    def get_device(self, name: Any, index: int | None = None) -> Device:
        """Return the device for a specifier such as ``native:0``, or for a name and a number."""
        word, colon, number = str(name).partition(":")
        if colon:
            if index is not None or not number.isdecimal():
                raise DeviceError(f"get_device: expected a specifier such as 'native:0', got {name!r}")
            index = int(number)
        return self.get_backend(word).get_device(index or 0)


_global = Context()
_scope: ContextVar[Context | None] = ContextVar("xpgrad_chx_context", default=None)


def get_default_context() -> Context:
    """Return the context of the innermost `context_scope` of this thread, else the global context."""
    return _scope.get() or _global


class context_scope:  # noqa: N801 - ChainerX's name
    """Context manager that makes `context` the default context of this thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._before: list[Context | None] = []

    def __repr__(self) -> str:
        return f"context_scope({self._context!r})"

    def __enter__(self) -> Context:
        before, depth = _scope.get(), len(self._before)
        try:
            self._before.append(before)
            _scope.set(self._context)
        except BaseException:  # a KeyboardInterrupt: `__exit__` does not run after an exception in `__enter__`
            _scope.set(before)
            del self._before[depth:]
            raise
        return self._context

    def __exit__(self, *_: object) -> None:
        try:
            _scope.set(self._before[-1])
        except BaseException:  # a KeyboardInterrupt
            _scope.set(self._before[-1])
            raise
        finally:
            self._before.pop()


def get_backend(name: str) -> Backend:
    """Return the kind of memory `name` of the default context."""
    return get_default_context().get_backend(name)


def get_device(*device: Any) -> Device:
    """Return a device.

    Parameters
    ----------
    *device
        ``"native"``, ``"native:0"``, ``"native", 0``, a Device, a Device of xpgrad, or None for the default device.
    """
    first = device[0] if device else None
    if first is None:
        return get_default_device()
    if isinstance(first, tuple):
        return get_device(*first)
    if isinstance(first, Device):
        return first
    handle = getattr(first, "handle", None)
    if isinstance(handle, Device):
        return handle
    if not isinstance(first, str):
        raise DeviceError(f"get_device: expected a specifier such as 'native:0' or a Device, got {first!r}")
    return get_default_context().get_device(*device)


def get_default_device() -> Device:
    """Return the device where arrays are created: xpgrad's current device if that is a chx device, else native:0."""
    handle = xpgrad.get_device().handle
    return handle if isinstance(handle, Device) else get_default_context().get_device(NATIVE)


def set_default_device(device: Any) -> None:
    """Make a device current in this thread, for both chx and xpgrad."""
    get_device(device).place.use()


def using_device(*device: Any) -> xpgrad.using_device:
    """Return a context manager that makes a device current in this thread, for both chx and xpgrad."""
    return xpgrad.using_device(get_device(*device).place)
