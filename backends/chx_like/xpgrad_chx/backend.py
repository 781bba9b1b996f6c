"""The chx backend: chx arrays as raw arrays of Variables, and their graphs as parts of xpgrad's graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import xpgrad
import xpgrad_chx
from xpgrad.plugin import Backend, Capabilities, CarriesGraphs, Device, Spec, class_name
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape
from xpgrad_chx import graph
from xpgrad_chx.array import ndarray
from xpgrad_chx.device import CUDA, NATIVE, get_backend, get_device
from xpgrad_chx.kernels import kernel
from xpgrad_chx.memory import Memory, another, over
from xpgrad_chx.programs import ChainerxPrograms

MAX_CONSTANTS = 1024


class ChainerxDevice(Device):
    """A device of chx arrays; `device` is the corresponding device of `xpgrad_chx`."""

    __slots__ = ()

    def __init__(self, device: xpgrad_chx.Device, backend: Backend | None = None) -> None:
        super().__init__(device.place.backend if backend is None else backend, device, device.name)

    @property
    def device(self) -> xpgrad_chx.Device:
        """The corresponding device of `xpgrad_chx`."""
        return self.handle  # type: ignore[no-any-return]  # its handle

    @property
    def fallback_device(self) -> Device:
        """The device of the library whose buffers these are: NumPy's host, or CuPy's device of the same number."""
        if self.handle.on_host:
            return xpgrad.get_device("@numpy")
        return xpgrad.get_device(f"@cupy:{self.handle.index}")

    @staticmethod
    def from_fallback_device(device: Device) -> Device:
        """Return the chx device over the same memory."""
        if device == xpgrad.get_device("@numpy"):
            return xpgrad.get_device("native:0")
        if device.backend.name == "cupy":
            return xpgrad.get_device(f"cuda:{device.name.rpartition(':')[2]}")
        raise xpgrad.SpecifierError(f"from_fallback_device: expected @numpy or @cupy:N, got {device}")


class ChainerxBackend(CarriesGraphs):
    """Arrays that carry their own graph. Variables hold plain ones over the same memory."""

    name = "chx"
    array_types = (ndarray,)
    namespace = xpgrad_chx
    version = xpgrad.__version__
    declared = Capabilities(
        {
            "asynchronous": "chx arrays in host memory are computed at once",
            "memory_used": "what chx arrays hold is counted by the library of their buffers",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[xpgrad_chx.Device, Device] = {}
        self._constants_on: dict[Any, dict[Any, Any]] = {}
        self._buffers = xpgrad.get_device("@numpy").backend
        self.in_place_from = self._buffers.in_place_from
        self.programs = ChainerxPrograms(self, self._buffers)

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the only kernel without a default; other kernels are found by name."""
        return {"scatter_add": self._kernel("scatter_add")}

    def lazy_override(self, name: str) -> Kernel | None:
        """Return the kernel `name` of the library of the buffers."""
        return kernel(name, self._buffers, ndarray)

    def _kernel(self, name: str) -> Kernel:
        found = kernel(name, self._buffers, ndarray)
        assert found is not None
        return found

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the native devices, and the CUDA devices that have been requested."""
        known = [*get_backend(NATIVE).known_devices(), *get_backend(CUDA).known_devices()]
        return [self.device_for(device) for device in known]

    def device(self, index: str | None) -> Device:
        """Return the device for the part of a specifier after ``@chx:``, which `xpgrad_chx.get_device` takes."""
        return self.default_device if index is None else self.parse(index)

    def parse(self, specifier: Any) -> Device:
        """Return the device for ``native:0``, ``cuda:0`` or a device of `xpgrad_chx`."""
        try:
            return self.device_for(get_device(specifier))
        except xpgrad_chx.ChainerxError as error:
            raise xpgrad.SpecifierError(str(error)) from None

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the corresponding device of `xpgrad_chx`."""
        return array._device

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device that corresponds to `handle`, a device of `xpgrad_chx`."""
        found = self._places.get(handle)
        if found is None:
            found = self._places[handle] = ChainerxDevice(handle, self)
        return found

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` is done."""
        device.handle.synchronize()

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        data, device = array._data, array._device
        found = self._specs.get((data.shape, data.dtype, device))
        return found if found is not None else self._new_spec(data.shape, data.dtype, device)

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        device.buffers.spec_for(shape, dtype, device.handle)  # raises for dtypes without derivatives
        spec = super()._new_spec(shape, dtype, device)
        spec.constants = self._constants_on.setdefault((dtype, device), {})  # constants are arrays on that device
        return spec

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` is of a kind of the standard's `isdtype`."""
        return self._buffers.is_kind(dtype, kind)

    def finfo(self, dtype: Dtype) -> Any:
        """Return the limits of a floating-point dtype, or of the dtype of an array, from the library of the buffers."""
        return self._buffers.finfo(getattr(dtype, "dtype", dtype))

    def wide(self, dtype: Dtype) -> Dtype:
        """Return the dtype of sums and counts of elements of `dtype`, from the library of the buffers."""
        return self._buffers.wide(dtype)

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the name of `dtype`, from the library of the buffers."""
        return self._buffers.dtype_name(dtype)

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a 0-d array for a scalar if the backend of the buffers does so."""
        device = spec.device
        made = device.buffers.prepare(value, device.buffers.spec_for((), spec.dtype, device.handle))
        if made is value:
            return value
        if len(spec.constants) >= MAX_CONSTANTS:
            spec.constants.clear()
        constant = spec.constants[value] = over(ndarray, made, device)
        return constant

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or an array."""
        return xpgrad_chx.asarray(obj, dtype=dtype, device=device, copy=True)

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype."""
        device = spec.device
        return over(
            ndarray, device.buffers.ones(device.buffers.spec_for(spec.shape, spec.dtype, device.handle)), device
        )

    def copy(self, array: Array) -> Array:
        """Return a copy that shares no memory with `array`."""
        return over(ndarray, array._device.buffers.copy(array._data), array._device)

    def empty(self, spec: Spec) -> Array:
        """Return a new array of this shape and dtype, whose elements are not initialised."""
        device = spec.device
        made = device.buffers.empty(device.buffers.spec_for(spec.shape, spec.dtype, device.handle))
        return over(ndarray, made, device)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy on another device."""
        source, target = array._device, device.handle
        if source.buffers is target.buffers:
            place = target.place.fallback_device
            moved = source.buffers.move(array._data, place) if target.handle != source.handle else None
            return over(ndarray, source.buffers.copy(array._data) if moved is None else moved, target)
        return over(ndarray, self.device_for(target).fallback_device.send(array._data), target)  # type: ignore[attr-defined]  # chx's devices have it

    def to_host(self, array: Array) -> Array:
        """Return a copy as an array of the host's library."""
        return array._device.buffers.to_host(array._data)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host's array on `device`."""
        fallback = self.device_for(device.handle).fallback_device  # type: ignore[attr-defined]  # chx's devices have it
        return over(ndarray, device.handle.buffers.from_host(array, fallback), device.handle)

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the buffer, and its size."""
        found: tuple[Any, int] = array._device.buffers.owner(array._data)
        return found

    def is_view(self, array: Array) -> bool:
        """Return whether `array` shares its memory with another."""
        return array._device.buffers.is_view(array._data)  # type: ignore[no-any-return]  # its answer

    def check(self, array: Array) -> None:
        """Accept every array, because Variables connect to the graph of a raw array."""

    # Sharing

    def device_over(self, device: Device) -> Device:
        """Return the chx device over the memory of `device` of NumPy or CuPy, or a chx device unchanged."""
        return device if device.backend is self else ChainerxDevice.from_fallback_device(device)

    def wrap(self, array: Array) -> Array:
        """Return a chx array that shares the memory of a NumPy or CuPy `array`; a chx array is returned unchanged.

        Raises
        ------
        ValueError
            The array belongs to another library.
        """
        if isinstance(array, Memory):
            return array
        device = Device.from_array(array)
        if device is None or device.backend.name not in ("numpy", "cupy"):
            raise xpgrad.SpecifierError(f"to_chx: expected a NumPy, CuPy or chx array, got {class_name(type(array))}")
        return over(ndarray, array, ChainerxDevice.from_fallback_device(device).handle)

    def unwrap(self, array: Array) -> Array:
        """Return the NumPy or CuPy array that shares the memory of a chx array.

        Raises
        ------
        GraphError
            The array is in a graph, which would be lost.
        """
        if array._graph is not None and array.is_backprop_required(xpgrad_chx.anygraph):
            raise xpgrad.GraphError("from_chx: the array is in a graph; use as_grad_stopped() first")
        return array._data

    # Graphs of arrays

    def held(self, array: Array) -> Array:
        """Return a plain view of `array` for a Variable to hold; an array that is held already, unchanged."""
        if hasattr(array, "_shown"):
            return array
        plain = another(array)
        if array._graph is None:
            plain._shown = array
        return plain

    def shown(self, array: Array) -> Array:
        """Return the array that users get from a Variable: in no graph, and the same object at each read."""
        try:
            found = array._shown
        except AttributeError:
            found = None
        if found is None or found._graph is not None:
            found = array._shown = another(array)
        return found

    def variable_of(self, array: Array) -> Any:
        """Return the Variable that an array in a graph owns, None for other arrays."""
        return None if array._graph is None else array._graph.variable

    def attach(self, array: Array, variable: Any) -> Any:
        """Let `variable`, which has the array's node, be the array's Variable, or return a Variable to be connected to.

        The first Variable over an array in a graph shares its node and gradient; further ones are recorded views.
        """
        connection = array._graph
        if connection.attached:
            return graph.view(array)._graph.variable
        connection.variable, connection.attached = variable, True
        return None

    def connected(self, variable: Any) -> Array:
        """Return a view of the array of a Variable that is in the Variable's graph."""
        return graph.view(variable)

    def fingerprint(self, array: Array) -> Any:
        """Return the fingerprint of the buffer, computed by its library."""
        return array._device.buffers.fingerprint(array._data)

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as the host's library prints them."""
        return self._buffers.array_text(self.to_host(array), prefix, separator)
