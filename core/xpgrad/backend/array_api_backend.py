"""`ArrayAPIBackend`: a backend derived from an Array API namespace."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import PluginError
from xpgrad.types import Array, DeviceHandle, Kernel, Namespace

if TYPE_CHECKING:
    from xpgrad.backend.capabilities import Capabilities

HOST_INDEX = "cpu"
"""Index of the device in host memory, for a backend with several devices."""


class ArrayAPIBackend(Backend):
    """A backend derived from an Array API namespace.

    Parameters
    ----------
    name : str
        The entry point's name.
    namespace : module
        The library's Array API namespace, or the namespace that array_api_compat provides.
    array_types : iterable of type
        All types of its arrays; subclasses are not included.
    scatter_add : callable
        ``scatter_add(spec, [(index, values), ...])`` returns zeros of `spec` with all `values` added at their `index`;
        values at repeated positions are added up. The standard has no such function, but the gradient of every gather
        needs it; for a library without one, pass `scatter_add_by_sorting`.
    devices : dict, iterable, callable or None
        The library's devices, the default one first: a dict from index to the library's device object (the index `None`
        gives the device ``@name``), an iterable of the objects, which are named by their `str` or numbered, or a
        function that returns either and is called when a device is first needed. By default, the devices that the
        namespace reports.
    scalar_types : iterable of type
        Types of the library's scalars that are not arrays; a result of such a type is converted to a 0-d array. (A
        library with such scalars on several devices overrides `restore`.)
    kernels : dict
        Further kernels by name, each a function of raw arrays. Unlike the kernels of the hook `xpgrad_kernels`, they
        may not return `NotImplemented`.
    immutable : bool
        Whether arrays are read-only.
    synchronize, is_view, to_host, from_host, move : callable, optional
        Replacements for the methods of `Backend` with these names; they take the library's device objects.
    module : module, optional
        The module that users import, where `namespace` is a compatibility layer.
    version : str, optional
    capabilities : Capabilities, optional
        Features that the library lacks; none by default.
    thresholds : mapping from kernel or function to sequence of int, optional
        Sizes at which another path is taken, as `Backend.thresholds`.

    Notes
    -----
    By default arrays are copied to the host through DLPack; if there is a device with the index ``cpu``, they are moved
    there first. Arrays of the host are converted by `asarray`, or else through DLPack.
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
        synchronize: Callable[[DeviceHandle], None] | None = None,
        is_view: Callable[[Array], bool] | None = None,
        to_host: Callable[[Array], Array] | None = None,
        from_host: Callable[[Array, DeviceHandle], Array] | None = None,
        move: Callable[[Array, DeviceHandle], Array] | None = None,
        module: Namespace = None,
        version: str | None = None,
        capabilities: "Capabilities | None" = None,
        thresholds: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        super().__init__()
        self.name, self.namespace, self.array_types = name, namespace, tuple(array_types)
        self.scalar_types, self.immutable, self.module = tuple(scalar_types), immutable, module
        self.version = version or str(getattr(module or namespace, "__version__", "unknown"))
        self._thresholds = dict(thresholds or {})
        self._given_devices = devices
        self._devices: tuple[Device, ...] = ()
        self._overrides = dict(kernels or {})
        if scatter_add is not None:
            self._overrides["scatter_add"] = scatter_add
        self._synchronize, self._is_view, self._move = synchronize, is_view, move
        self._to_host, self._from_host, self.declared = to_host, from_host, capabilities

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """Those passed to the constructor."""
        return self._thresholds

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels passed to the constructor."""
        return self._overrides

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the devices, the default one first."""
        if not self._devices:
            given = self._given_devices() if callable(self._given_devices) else self._given_devices
            if given is None:
                info = self.namespace.__array_namespace_info__()
                default = info.default_device()
                given = [default, *(handle for handle in info.devices() if handle not in (None, default))]
            named = list(self._named(given))
            made = {device.name: device for device in named}
            if len(made) < len(named):
                raise PluginError(
                    f"{self.name}: two devices have the same name; give `devices` as a dict from index to device"
                )
            self._devices = tuple(made.values())
        return self._devices

    def _named(self, given: Any) -> Iterator[Device]:
        if isinstance(given, Mapping):
            for index, handle in given.items():
                yield Device(self, handle, f"@{self.name}" if index is None else f"@{self.name}:{index}")
            return
        for position, handle in enumerate(given):
            text = str(handle)
            plain = len(text) <= 16 and text.replace(":", "").replace("_", "").isalnum()
            yield Device(self, handle, f"@{self.name}:{text if plain else position}")

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the standard's `device` attribute of the array."""
        return array.device

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` has finished."""
        if self._synchronize is not None:
            self._synchronize(device.handle)

    # Arrays

    def restore(self, result: Any) -> Array:
        """Return a scalar of the library as an array, and any other object unchanged."""
        return self.asarray(result) if isinstance(result, self.scalar_types) else result

    def is_view(self, array: Array) -> bool:
        """Return whether writing to `array` could change another array; True where the library does not say."""
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
        if self._to_host is not None:
            return self._to_host(array)
        on_host = next((device for device in self.devices() if device.name == f"@{self.name}:{HOST_INDEX}"), None)
        if on_host is not None and on_host.handle != self.handle_of(array):
            array = self.move(array, on_host)
        return plugins.host.from_foreign(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host backend's `array` on `device`."""
        if self._from_host is not None:
            return self._from_host(array, device.handle)
        try:
            return self.namespace.asarray(array, device=device.handle, copy=True)
        except TypeError:  # the standard requires only the library's own arrays and objects with a buffer
            return self.namespace.asarray(self.namespace.from_dlpack(array), device=device.handle, copy=True)


class FloatLimits:
    """A library's `finfo`, with the standard's attributes as Python floats.

    Parameters
    ----------
    info : object
    """

    def __init__(self, info: Any) -> None:
        self._info = info
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.smallest_normal = float(info.smallest_normal)
        self.dtype = info.dtype

    def __getattr__(self, name: str) -> Any:
        if name == "_info":  # not set yet, while the object is being copied
            raise AttributeError(name)
        return getattr(self._info, name)

    def __repr__(self) -> str:
        return repr(self._info)
