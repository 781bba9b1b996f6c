"""`Device`: a device on which a backend stores arrays."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xpgrad.types import Array, DeviceHandle, Namespace

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend  # a backend and its devices refer to each other


class Services(NamedTuple):
    """Functions of higher modules that devices and backends use; `xpgrad.backend.services` sets them.

    Attributes
    ----------
    get_device : callable
        Returns the device of a specifier.
    device_of : callable
        Returns the device of an array, or None if no backend serves the array.
    send : callable
        Returns nested arrays on a device.
    use : callable
        Makes a device the current one of this thread.
    context : callable
        Returns a context manager that does so temporarily.
    host : callable
        Returns the host backend.
    """

    get_device: Callable[[Any], "Device"]
    device_of: Callable[[Array], "Device | None"]
    send: Callable[[Any, "Device"], Any]
    use: Callable[["Device"], None]
    context: Callable[["Device"], AbstractContextManager["Device"]]
    host: Callable[[], "Backend"]


class Device:
    """A device on which a backend stores arrays.

    Two devices are equal if their names are equal; a device is pickled by its name.

    Parameters
    ----------
    backend : Backend
    handle : object
        The array library's own device object, as it takes for `device=`.
    name : str
        The specifier, as `get_device` takes it: ``@npu:0``.
    """

    __slots__ = ("backend", "handle", "name")

    services: ClassVar[Services]

    def __init__(self, backend: "Backend", handle: DeviceHandle, name: str) -> None:
        self.backend, self.handle, self.name = backend, handle, name

    @property
    def xp(self) -> Namespace:
        """The array module of the device's library."""
        return self.backend.namespace if self.backend.module is None else self.backend.module

    @property
    def supported_array_types(self) -> tuple[type, ...]:
        """The array types of the device's backend."""
        return self.backend.array_types

    def is_array_supported(self, array: Array) -> bool:
        """Return whether `array` is on this device."""
        return type(array) in self.backend.array_types and self.backend.device_of(array) == self

    def send(self, arrays: Any) -> Any:
        """Return `arrays` (an array, or nested lists and tuples of them) on this device.

        An array already on this device is returned unchanged, a repeated array is moved once, and None stays None.
        """
        return self.services.send(arrays, self)

    def send_array(self, array: Array) -> Array:
        """Return `array` on this device; an array already on the device is returned unchanged."""
        return self.send(array)

    @classmethod
    def from_array(cls, array: Array) -> "Device | None":
        """Return the device of `array`, or None if no backend serves it, or if it is of another class of devices."""
        return found if isinstance(found := cls.services.device_of(array), cls) else None

    def create_context(self) -> AbstractContextManager["Device"]:
        """Return a context manager that makes this the current device of its thread."""
        return self.services.context(self)

    def use(self) -> None:
        """Make this the current device of this thread."""
        self.services.use(self)

    def synchronize(self) -> None:
        """Wait until all work on this device has finished."""
        self.backend.synchronize(self)

    def memory_used(self) -> int | None:
        """Return the number of bytes that the library's arrays use on this device; None if it is unknown."""
        return self.backend.memory_used(self)

    def free_memory(self) -> None:
        """Release the memory that the library caches on this device."""
        self.backend.free_memory(self)

    def __enter__(self) -> None:
        raise RuntimeError(f"a device is not a context manager; use `with xpgrad.using_device({self.name!r}):`")

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'name', 'unnamed')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.services.get_device, (self.name,)
