"""`Device`: a place where a backend keeps arrays."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xpgrad.types import Array, DeviceHandle, Namespace

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend  # a backend and its devices know each other


class Services(NamedTuple):
    """What devices and backends ask of the modules above this one, which `xpgrad.backend.services` hands to them.

    Attributes
    ----------
    get_device : callable
        Returns the device that a specifier names.
    device_of : callable
        Returns the device of an array, or None if no backend serves the array.
    send : callable
        Returns nested arrays on a device.
    use : callable
        Makes a device the current one of this thread.
    context : callable
        Returns a context manager that does so for a while.
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
    """A place where a backend keeps arrays.

    Two devices are equal when their names are; a device is pickled by its name.

    Parameters
    ----------
    backend : Backend
    handle : object
        What the array library itself takes for `device=`.
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
        """The array types that live here."""
        return self.backend.array_types

    def is_array_supported(self, array: Array) -> bool:
        """Tell whether `array` lies on this device."""
        return type(array) in self.backend.array_types and self.backend.device_of(array) == self

    def send(self, arrays: Any) -> Any:
        """Return `arrays` (an array, or nested lists and tuples of them) on this device.

        An array that is already here is returned as it is, one that occurs twice is moved once, None stays None.
        """
        return self.services.send(arrays, self)

    def send_array(self, array: Array) -> Array:
        """Return `array` on this device; the array itself if it is here already."""
        return self.send(array)

    @staticmethod
    def from_array(array: Array) -> "Device | None":
        """Return the device of `array`, or None if no backend serves it."""
        return Device.services.device_of(array)

    def create_context(self) -> AbstractContextManager["Device"]:
        """Return a context manager that makes this the current device of its thread."""
        return self.services.context(self)

    def use(self) -> None:
        """Make this the current device of this thread."""
        self.services.use(self)

    def synchronize(self) -> None:
        """Wait until all work that was started on this device is done."""
        self.backend.synchronize(self)

    def memory_used(self) -> int | None:
        """Return how many bytes the library's arrays hold here; None where it does not say."""
        return self.backend.memory_used(self)

    def free_memory(self) -> None:
        """Give back to the device what the library holds here for arrays to come."""
        self.backend.free_memory(self)

    def __enter__(self) -> None:
        raise RuntimeError(f"a device is no context manager: use `with xpgrad.using_device({self.name!r}):`")

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'name', 'without a name')}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.services.get_device, (self.name,)
