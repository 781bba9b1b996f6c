"""What xpgrad asks of an array library: a `Backend`, and `ArrayAPIBackend`, which derives it from a namespace."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.kernels import KernelNamespace
from xpgrad.backend.spec import Spec
from xpgrad.errors import SpecifierError
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Namespace, Shape

MOST_SPECS = 4096


class Backend:
    """An array library as xpgrad sees it.

    Subclass `ArrayAPIBackend` rather than this class: it derives everything that the library's namespace can give.

    Attributes
    ----------
    name : str
        The entry point's name; devices are called ``@name`` or ``@name:index``.
    array_types : tuple of type
        Exactly the types whose instances are arrays of this backend; subclasses do not count unless listed.
    scalar_types : tuple of type
        The library's own scalars, which count as Python's: they never widen an array.
    namespace : module
        The library's Array API namespace.
    module : module
        What users know as the library: the namespace, unless that is a compatibility layer around it.
    xp : KernelNamespace
        The namespace with every kernel that xpgrad knows, which rules compute with.
    version : str
        The library's version, for reports.
    immutable : bool
        Arrays can never be written to, so they need no copies.
    in_place_from : float
        Number of elements from which the kernel `accumulate` is asked to add in place.
    """

    name: str
    array_types: tuple[type, ...]
    scalar_types: tuple[type, ...] = ()
    namespace: Namespace
    module: Namespace = None
    version: str = "unknown"
    immutable: bool = False
    in_place_from: float = math.inf

    def __init__(self) -> None:
        self._specs: dict[Any, Spec] = {}
        self._constants: dict[Dtype, dict[Any, Any]] = {}
        self._complex: dict[Dtype, bool] = {}
        self.xp = KernelNamespace(self)

    def overrides(self) -> Mapping[str, Kernel]:
        """Return this backend's own kernels by name. They never decline."""
        return {}

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the devices, the default one first."""
        raise NotImplementedError(f"{self.name}: Backend.devices is not implemented")

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return what the library calls the device of `array`."""
        raise NotImplementedError(f"{self.name}: Backend.handle_of is not implemented")

    @property
    def default_device(self) -> Device:
        """The device that ``@name`` means."""
        return self.devices()[0]

    def device(self, index: str | None) -> Device:
        """Return the device that stands behind ``@name:`` in a specifier; None means the default one."""
        if index is None:
            return self.default_device
        wanted = f"@{self.name}:{index}"
        for device in self.devices():
            if device.name == wanted:
                return device
        raise SpecifierError(f"get_device: unknown device {wanted!r}; {self.name} has {', '.join(map(str, self.devices()))}")

    def device_of(self, array: Array) -> Device:
        """Return the device of `array`."""
        return self.device_for(self.handle_of(array))

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device that the library calls `handle`."""
        for device in self.devices():
            if device.handle == handle:
                return device
        return Device(self, handle, f"@{self.name}:{handle}")

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` is done. Libraries that run at once need nothing."""

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`; equal ones are the same object."""
        key = array.shape, array.dtype, self.handle_of(array)
        found = self._specs.get(key)
        return found if found is not None else self._new_spec(*key)

    def spec_for(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        """Return the spec of these three."""
        return self._specs.get((shape, dtype, device)) or self._new_spec(shape, dtype, device)

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        if len(self._specs) >= MOST_SPECS:
            self._specs.clear()  # the objects in use stay; equality of specs is only ever a shortcut
        return self._specs.setdefault((shape, dtype, device), Spec(shape, dtype, device, self))

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Tell whether `dtype` is of a kind of the standard's `isdtype`."""
        return bool(self.namespace.isdtype(dtype, kind))

    def default_dtype(self, kind: str) -> Dtype:
        """Return the default dtype of the library for "float" or "complex"."""
        return self.namespace.asarray(0.0 if kind == "float" else 0j).dtype

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return str(dtype).rpartition(".")[2]

    def constants_of(self, dtype: Dtype) -> dict[Any, Any]:
        """Return the cache of scalars that `prepare` made for arrays of `dtype`."""
        return self._constants.setdefault(dtype, {})

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return what the kernels get for a Python scalar that meets an array of `spec`.

        The scalar itself, here. A backend may put a 0-d array in its place where that is exact, and cache it in
        `spec.constants`, where the call path looks first.
        """
        return value

    def restore(self, result: Any, spec_hint: Spec | None = None) -> Array:
        """Return what a kernel gave as an array of this backend: some libraries make scalars of 0-d arrays."""
        return result

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from Python scalars, nested lists of them, or an array of this library."""
        return self.namespace.asarray(obj, dtype=dtype, device=device)

    def copy(self, array: Array) -> Array:
        """Return a copy in memory of its own."""
        return self.namespace.asarray(array, copy=True)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on another device of this backend."""
        raise NotImplementedError(f"{self.name}: Backend.move is not implemented")

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as an array of the host backend."""
        raise NotImplementedError(f"{self.name}: Backend.to_host is not implemented")

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host backend's `array` on `device`."""
        raise NotImplementedError(f"{self.name}: Backend.from_host is not implemented")

    def is_view(self, array: Array) -> bool:
        """Tell whether writing to `array` could show in another array. When in doubt, say yes."""
        return not self.immutable

    def check(self, array: Array) -> None:
        """Raise `UnknownArray` for an array that must not enter a graph, such as one with its library's own tape."""

    # Values, for debug mode and printing

    def has_nan(self, array: Array) -> bool:
        """Tell whether any element is not a number."""
        if not self.is_kind(array.dtype, ("real floating", "complex floating")):
            return False
        return bool(self.namespace.any(self.namespace.isnan(array)))

    def same_values(self, a: Array, b: Array) -> bool:
        """Tell whether two arrays of one shape hold equal values, NaNs counting as equal."""
        xp, same = self.namespace, a == b
        if self.is_kind(a.dtype, ("real floating", "complex floating")):
            same = same | (xp.isnan(a) & xp.isnan(b))
        return bool(xp.all(same))


    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as text whose later lines are indented by the length of `prefix`."""
        from xpgrad.backend.plugins import plugins

        return plugins.role("cpu").array_text(self.to_host(array), prefix, separator)


class ArrayAPIBackend(Backend):
    """A backend that derives everything from an Array API namespace.

    Parameters
    ----------
    name : str
        The entry point's name.
    namespace : module
        The library's Array API namespace, or array_api_compat's of it.
    array_types : tuple of type
        The types of its arrays, all of them.
    scatter_add : callable
        ``scatter_add(spec, [(index, values), ...])`` returns zeros of `spec` with all `values` added at their `index`;
        positions that occur more than once accumulate. The standard lacks it, and every gather's gradient needs it.
    devices : dict, sequence, callable or None
        The library's devices: a dict from index to the library's own object, a sequence of those, or a function that
        returns either; by default what the namespace says of itself.
    scalar_types : tuple of type
        The library's scalars that are no arrays.
    kernels : dict
        More kernels by name, each a function of raw arrays.
    immutable : bool
        Arrays can never be written to.
    synchronize, is_view, to_host, from_host, move : callable, optional
        Replacements for the methods of `Backend` of these names; they get the library's device objects.
    version : str, optional

    Notes
    -----
    `to_host` and `from_host` go through DLPack by default, with the buffer protocol of the host library as the last
    resort.
    """

    def __init__(
        self,
        name: str,
        namespace: Namespace,
        array_types: Iterable[type],
        *,
        scatter_add: Kernel | None = None,
        devices: Any = None,
        scalar_types: Iterable[type] = (),
        kernels: Mapping[str, Kernel] | None = None,
        immutable: bool = False,
        synchronize: Callable[[Any], None] | None = None,
        is_view: Callable[[Array], bool] | None = None,
        to_host: Callable[[Array], Array] | None = None,
        from_host: Callable[[Array, DeviceHandle], Array] | None = None,
        move: Callable[[Array, DeviceHandle], Array] | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__()
        self.name, self.namespace, self.array_types = name, namespace, tuple(array_types)
        self.scalar_types, self.immutable = tuple(scalar_types), immutable
        self.version = version or str(getattr(namespace, "__version__", "unknown"))
        self._given_devices, self._devices = devices, ()  # type: tuple[Any, tuple[Device, ...]]
        self._overrides = dict(kernels or {})
        if scatter_add is not None:
            self._overrides["scatter_add"] = scatter_add
        self._synchronize, self._is_view, self._move = synchronize, is_view, move
        self._to_host, self._from_host = to_host, from_host

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels that were given to the constructor."""
        return self._overrides

    def devices(self) -> Sequence[Device]:
        """Return the devices, the default one first."""
        if not self._devices:
            given = self._given_devices() if callable(self._given_devices) else self._given_devices
            if given is None:
                info = self.namespace.__array_namespace_info__()
                default = info.default_device()
                given = [default, *(handle for handle in info.devices() if handle not in (None, default))]
            self._devices = tuple(self._named(given))
        return self._devices

    def _named(self, given: Any) -> Iterable[Device]:
        if isinstance(given, Mapping):
            for index, handle in given.items():
                yield Device(self, handle, f"@{self.name}" if index is None else f"@{self.name}:{index}")
        else:
            for position, handle in enumerate(given):
                text = str(handle)
                plain = len(text) <= 16 and text.replace(":", "").replace("_", "").isalnum()
                yield Device(self, handle, f"@{self.name}:{text if plain else position}")

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the array's `device` attribute, as the standard has it."""
        return array.device

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` is done."""
        if self._synchronize is not None:
            self._synchronize(device.handle)

    def is_view(self, array: Array) -> bool:
        """Tell whether writing to `array` could show in another array; yes where the library does not say."""
        if self.immutable:
            return False
        return True if self._is_view is None else self._is_view(array)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on another device of this backend."""
        if self._move is not None:
            return self._move(array, device.handle)
        return array.to_device(device.handle)

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as an array of the host backend."""
        from xpgrad.backend.plugins import plugins

        if self._to_host is not None:
            return self._to_host(array)
        return plugins.role("cpu").from_foreign(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host backend's `array` on `device`."""
        if self._from_host is not None:
            return self._from_host(array, device.handle)
        return self.namespace.asarray(array, device=device.handle, copy=True)

    def from_foreign(self, array: Array) -> Array:
        """Return a copy of another library's array that lies in host memory; asked of the host backend only."""
        return self.namespace.asarray(self.namespace.from_dlpack(array), copy=True)
