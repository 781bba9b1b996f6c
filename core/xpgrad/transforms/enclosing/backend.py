"""`TransformedBackend`: what the backends of all transformations have from the one below them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import shared_lock
from xpgrad.types import Array, DeviceHandle, Dtype

B = TypeVar("B", bound="TransformedBackend")
_lock = shared_lock()
_made: dict[tuple[Any, Backend, int], Any] = {}


class TransformedBackend(Backend):
    """The backend of a transformation's arrays, each of which holds arrays of `base`.

    Devices, dtypes and scalars are those of the base.

    Parameters
    ----------
    title : str
        The name of the transformation: ``trace``.
    base : Backend
    depth : int
        How many transformations are active with it; arrays of each depth have a type of their own.
    """

    base: Backend  # never None here

    def __init__(self, title: str, base: Backend, depth: int) -> None:
        super().__init__()
        self.base = base  # pyright: ignore[reportIncompatibleVariableOverride]  # it may be None for others
        self.depth = depth
        self.name, self.version = f"{title}({base.name})", base.version
        self.declared, self.dtypes = base.declared, base.dtypes
        self.carries_tangents = self.carries_tangents or base.carries_tangents
        self.zero_dimensional_widen = base.zero_dimensional_widen
        self._base_types = frozenset(base.array_types)
        self._raw: frozenset[type] = self._base_types  # and those of all levels below
        if isinstance(base, TransformedBackend):
            self._raw |= base._raw
        self._handles: dict[str, Device] = {}

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """The sizes at which the base takes another path."""
        return self.base.thresholds

    # Devices, which are the base's

    def devices(self) -> Sequence[Device]:
        """Return the devices of the base, as this backend's."""
        return [self.over(device) for device in self.base.devices()]

    def over(self, device: Device) -> Device:
        """Return the device of this backend over a device of its base."""
        found = self._handles.get(device.name)
        if found is None:
            index = device.name.removeprefix(f"@{self.base.name}")
            name = f"@{self.name}{index}" if index != device.name else f"@{self.name}:{device.name}"
            kind = type(device)  # with the attributes that the plugin's devices have
            found = self._handles[device.name] = kind.__new__(kind)
            Device.__init__(found, self, device.handle, name)
        return found

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device with the library's device object `handle`."""
        return self.over(self.base.device_for(handle))

    def activate(self, device: Device) -> Callable[[], None] | None:
        """Make the base's device the library's current one."""
        return self.base.activate(self.base.device_for(device.handle))

    def synchronize(self, device: Device) -> None:
        """Wait until all work on the base's device has finished."""
        self.base.synchronize(self.base.device_for(device.handle))

    # Dtypes and scalars, too

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` is of `kind`."""
        return self.base.is_kind(dtype, kind)

    def wide(self, dtype: Dtype) -> Dtype:
        """Return the dtype for sums and counts."""
        return self.base.wide(dtype)

    def finfo(self, dtype: Dtype) -> Any:
        """Return the limits of a floating-point dtype."""
        return self.base.finfo(dtype.dtype if type(dtype) in self.array_types else dtype)

    def default_dtype(self, kind: str) -> Dtype:
        """Return the default dtype of the library."""
        return self.base.default_dtype(kind)

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the short name of `dtype`."""
        return self.base.dtype_name(dtype)

    def constants_of(self, dtype: Dtype) -> dict[Any, Any]:
        """Return the base's cache of converted scalars."""
        return self.base.constants_of(dtype)

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a scalar as the operand that the base makes of it."""
        return self.base.prepare(value, base_spec(spec))

    # Arrays of other libraries enter as they are

    def exports(self, array: Array, memory: Any) -> bool:
        """Return False: no other library shares an array of a transformation."""
        return False

    def dlpack_device(self, device: Device) -> Any:
        """Return None: arrays of other libraries enter as they are."""
        return None

    def refusal(self, error: Exception) -> Any:
        """Return the error class for an exception of the base."""
        return self.base.refusal(error)


def base_spec(spec: Spec) -> Spec:
    """Return the spec of the base's array for that of a transformation's array of the same shape."""
    base: Any = spec.backend.base
    found: Spec = base.spec_for(spec.shape, spec.dtype, spec.device)
    return found


def backend_over(make: Callable[[Backend, int], B], base: Backend, depth: int) -> B:
    """Return ``make(base, depth)``, the same one each time, also to threads that are the first to ask for it."""
    key = make, base, depth
    found: B | None = _made.get(key)
    if found is None:
        with _lock:
            found = _made.get(key)
            if found is None:
                found = make(base, depth)
                plugins.by_type[found.array_types[0]] = found
                _made[key] = found
    return found
