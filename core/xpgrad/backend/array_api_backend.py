"""`ArrayAPIBackend`: a backend that derives everything which an Array API namespace can give."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.capabilities import Capabilities
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import PluginError
from xpgrad.types import Array, DeviceHandle, Kernel, Namespace

HOST_INDEX = "cpu"
"""What a backend calls its device in host memory, if it has several devices."""


class ArrayAPIBackend(Backend):
    """A backend that derives everything from an Array API namespace.

    Parameters
    ----------
    name : str
        The entry point's name.
    namespace : module
        The library's Array API namespace, or array_api_compat's of it.
    array_types : iterable of type
        The types of its arrays, all of them: subclasses do not count.
    scatter_add : callable
        ``scatter_add(spec, [(index, values), ...])`` returns zeros of `spec` with all `values` added at their `index`;
        positions that occur more than once accumulate. The standard lacks it, and every gather's gradient needs it; a
        library without one takes `scatter_add_by_sorting`.
    devices : dict, iterable, callable or None
        The library's devices, the default one first: a dict from index to the library's own object (`None` as the index
        makes the device ``@name``), the objects alone, which are called by their `str` or numbered, or a function that
        returns either and is called when a device is first needed. By default what the namespace says of itself.
    scalar_types : iterable of type
        The library's scalars that are no arrays; where a kernel gives one, it is made the 0-d array that it was. (A
        library with such scalars on several devices overrides `restore`.)
    kernels : dict
        More kernels by name, each a function of raw arrays. Unlike those of the hook `xpgrad_kernels`, they may not
        decline.
    immutable : bool
        Arrays can never be written to.
    synchronize, is_view, to_host, from_host, move : callable, optional
        Replacements for the methods of `Backend` of these names; they get the library's device objects.
    module : module, optional
        What users know as the library, where `namespace` is a layer around it.
    version : str, optional
    capabilities : Capabilities, optional
        What the library lacks; by default nothing.

    Notes
    -----
    By default an array reaches the host through DLPack, from the device with the index ``cpu`` if there is one: an
    array on another device is moved there first. The host's arrays come in through `asarray`, or else DLPack.
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
        capabilities: Capabilities | None = None,
    ) -> None:
        super().__init__()
        self.name, self.namespace, self.array_types = name, namespace, tuple(array_types)
        self.scalar_types, self.immutable, self.module = tuple(scalar_types), immutable, module
        self.version = version or str(getattr(module or namespace, "__version__", "unknown"))
        self._given_devices = devices
        self._devices: tuple[Device, ...] = ()
        self._overrides = dict(kernels or {})
        if scatter_add is not None:
            self._overrides["scatter_add"] = scatter_add
        self._synchronize, self._is_view, self._move = synchronize, is_view, move
        self._to_host, self._from_host, self.declared = to_host, from_host, capabilities

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels that were given to the constructor."""
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
                    f"{self.name}: two devices have one name; give `devices` as a dict from index to device"
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
        """Return the array's `device` attribute, as the standard has it."""
        return array.device

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` is done."""
        if self._synchronize is not None:
            self._synchronize(device.handle)

    # Arrays

    def restore(self, result: Any) -> Array:
        """Return a scalar of the library as an array, and anything else as it is."""
        return self.asarray(result) if isinstance(result, self.scalar_types) else result

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
        if self._to_host is not None:
            return self._to_host(array)
        near = next((device for device in self.devices() if device.name == f"@{self.name}:{HOST_INDEX}"), None)
        if near is not None and near.handle != self.handle_of(array):
            array = self.move(array, near)
        return plugins.host.from_foreign(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host backend's `array` on `device`."""
        if self._from_host is not None:
            return self._from_host(array, device.handle)
        try:
            return self.namespace.asarray(array, device=device.handle, copy=True)
        except TypeError:  # the standard has only the library's own arrays there, and objects with a buffer
            return self.namespace.asarray(self.namespace.from_dlpack(array), device=device.handle, copy=True)
