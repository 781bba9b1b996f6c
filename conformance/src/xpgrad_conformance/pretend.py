"""A pretend library: wrappers of another backend's arrays, on simulated devices.

It provides a second, virtual device for backends with one device, and a backend for seeded faults.
"""

import math
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import DTYPES
from xpgrad.plugin import BINARY_OPERATORS, OPERATORS, Backend

METHODS = (*OPERATORS, *(f"r{name}" for name in BINARY_OPERATORS))
"""The names of the operators, reflected ones included."""


class PretendArray:
    """An array of a pretend library: an array of the inner backend, and a simulated device.

    Attributes
    ----------
    inner : array of the inner backend
        The value that operations use; it is available to them whether or not the host has waited.
    device : str
    late : array of the inner backend or None
        The value that the host reads before it has waited; None afterwards, or if the library computes synchronously.
    """

    library: "PretendLibrary"
    __hash__ = None  # type: ignore[assignment]  # as arrays are

    def __init__(self, inner: Any, device: str) -> None:
        self.inner, self.device, self.late = inner, device, None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.inner.shape)

    @property
    def dtype(self) -> Any:
        """The inner library's dtype."""
        return self.inner.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.inner.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def shown(self) -> Any:
        """The value that the host reads now, without waiting."""
        return self.inner if self.late is None else self.late

    def to_device(self, device: str, /) -> "PretendArray":
        """Return a copy on another device."""
        return self.library.array(self.library.inner.copy(self.inner), device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.library

    def __dlpack__(self, **options: Any) -> Any:
        self.library.wait()
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.inner.__dlpack_device__()

    def __getitem__(self, key: Any) -> Any:
        return self.library.call(lambda x, k: x[k], self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.library.call(lambda x, k, v: x.__setitem__(k, v), self, key, value)

    def __bool__(self) -> bool:
        return bool(self.inner)

    def __int__(self) -> int:
        return int(self.inner)

    def __index__(self) -> int:
        return int(self.inner.__index__())

    def __float__(self) -> float:
        return float(self.inner)

    def __complex__(self) -> complex:
        return complex(self.inner)

    def __repr__(self) -> str:
        return f"<pretend {self.device}: {self.inner!r}>"

    def __reduce__(self) -> Any:
        self.library.wait()
        return _unpickled, (plugins.backend_of(self).name, self.inner, self.device)


def _unpickled(backend: str, inner: Any, device: str) -> PretendArray:
    """Return a pretend array of the library of a backend."""
    library: PretendLibrary = plugins.backend(backend).namespace
    return library.array(inner, device)


def _operator(name: str) -> Callable[..., Any]:
    def method(self: PretendArray, *others: Any) -> Any:
        return self.library.call(lambda x, *ys: getattr(x, name)(*ys), self, *others)

    return method


for _name in METHODS:
    setattr(PretendArray, f"__{_name}__", _operator(f"__{_name}__"))


class PretendLibrary:
    """A namespace whose functions take and return `PretendArray`s.

    Parameters
    ----------
    inner : Backend
        The backend whose namespace computes the results.
    devices : sequence of str
        The first device is the default.
    lazy : bool
        The host reads correct results only after `wait`, as in an asynchronous library.
    index_dtype : str or None
        The dtype of results that are indices; None keeps the dtype of the inner library.
    """

    def __init__(
        self, inner: Backend, devices: Sequence[str], *, lazy: bool = False, index_dtype: str | None = None
    ) -> None:
        self.inner, self.devices, self.lazy, self.index_dtype = inner, tuple(devices), lazy, index_dtype
        self.Array: type[PretendArray] = type("Array", (PretendArray,), {"library": self})
        self.__name__ = ""
        self.names: dict[str, Any] = {}
        """Replacements for names of the inner namespace; names of extensions have a prefix: ``linalg.det``."""
        self.absent: set[str] = set()
        """Names that this library lacks."""
        self.unfinished: list[Callable[[], None]] = []
        """Deferred work that is done when the host waits; in a correct library it has no observable effect."""
        self._waiting: list[PretendArray] = []
        self._lock = threading.Lock()
        """Held while arrays are added to the pending arrays or finished: a thread may wait for arrays of other
        threads."""
        self._results = *inner.array_types, *inner.scalar_types

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.find(name)
        self.__dict__[name] = value
        return value

    def find(self, name: str) -> Any:
        """Return a name of the namespace; functions take pretend arrays."""
        if name in self.absent:
            raise AttributeError(f"this library has no {name}")
        if name in self.names:
            return self.names[name]
        found = self.inner.namespace
        for part in name.split("."):
            found = getattr(found, part)
        if isinstance(found, ModuleType) or (name in ("linalg", "fft") and not callable(found)):
            return _Extension(self, name)
        if name in DTYPES or not callable(found) or isinstance(found, type):
            return found
        return lambda *args, **kwargs: self.call(found, *args, **kwargs)

    def __array_namespace_info__(self) -> Any:
        return _Information(self)

    def array(self, inner: Any, device: str) -> PretendArray:
        """Return an array on a device that wraps `inner` without a copy."""
        made = self.Array(inner, device)
        if self.lazy:
            made.late = self.inner.namespace.zeros_like(inner) + self.inner.namespace.ones_like(inner)
            with self._lock:
                self._waiting.append(made)
        return made

    def wait(self) -> None:
        """Finish all work, so that the host reads correct results."""
        unfinished, self.unfinished = self.unfinished, []
        for finish in unfinished:
            finish()
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for array in waiting:
                array.late = None

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of the inner library on wrapped arrays; results are on the common device of the arguments."""
        seen: list[PretendArray] = []
        given = kwargs.pop("device", None)
        opened = [self.opened(arg, seen) for arg in args]
        named = {name: self.opened(value, seen) for name, value in kwargs.items()} if kwargs else kwargs
        devices = {array.device for array in seen}
        self.check_devices(devices)
        if given is not None and given not in self.devices:
            raise ValueError(f"unknown device {given!r}; choose one of {', '.join(self.devices)}")
        result = function(*opened, **named)
        for array in seen:  # a function that returns its argument returns the same object
            if result is array.inner and given in (None, array.device):
                return array
        return self.closed(result, given or self.place(devices))

    def place(self, devices: set[str]) -> str:
        """Return the device of a result whose arguments are on these devices."""
        return min(devices, default=self.devices[0])

    def check_devices(self, devices: set[str]) -> None:
        """Raise ValueError if arrays of one operation are on several devices."""
        if len(devices) > 1:
            raise ValueError(f"arrays on the devices {' and '.join(sorted(devices))} cannot be combined")

    def opened(self, item: Any, seen: "list[PretendArray]") -> Any:
        """Return `item` with pretend arrays replaced by the arrays that they wrap, and add these to `seen`."""
        if isinstance(item, PretendArray):
            seen.append(item)
            return item.inner
        kind = type(item)
        if kind is tuple or kind is list:
            return kind(self.opened(each, seen) for each in item)
        return item

    def closed(self, item: Any, device: str) -> Any:
        """Return a result with arrays of the inner library wrapped as arrays on a device."""
        if isinstance(item, self._results):
            return self.array(self.inner.restore(item), device)
        make = getattr(item, "_make", None)
        if make is not None:  # linalg's tuples have names
            return make(self.closed(each, device) for each in item)
        if type(item) in (list, tuple):
            return type(item)(self.closed(each, device) for each in item)
        return item


class _Extension:
    """linalg or fft of a pretend library."""

    def __init__(self, library: PretendLibrary, name: str) -> None:
        self._library, self._name = library, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._library.find(f"{self._name}.{name}")
        self.__dict__[name] = value
        return value


class _Information:
    """Result of ``__array_namespace_info__()``: information of the inner library, except for the devices."""

    def __init__(self, library: PretendLibrary) -> None:
        self._library, self._inner = library, library.inner.namespace.__array_namespace_info__()

    def capabilities(self) -> Any:
        return self._inner.capabilities()

    def default_device(self) -> str:
        return self._library.devices[0]

    def devices(self) -> list[str]:
        return list(self._library.devices)

    def default_dtypes(self, *, device: Any = None) -> Any:
        return self._inner.default_dtypes()

    def dtypes(self, *, device: Any = None, kind: Any = None) -> Any:
        found = self._inner.dtypes(kind=kind)
        return {name: dtype for name, dtype in found.items() if name not in self._library.absent}
