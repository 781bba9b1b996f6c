"""The backend of dpnp: arrays in the memory of SYCL's devices."""

from typing import Any

import dpnp

import xpgrad
from xpgrad.errors import SpecifierError
from xpgrad.plugin import ArrayAPIBackend, BackendUnavailable, Device, Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Shape
from xpgrad_dpnp import devices, exchange
from xpgrad_dpnp import namespace as standard
from xpgrad_dpnp.capabilities import capabilities
from xpgrad_dpnp.first_calls import make_first_calls
from xpgrad_dpnp.kernels import COUNTED_FROM, KERNELS
from xpgrad_dpnp.order import finish_all

IN_PLACE_FROM = 65536
MAX_CONSTANTS = 1024
FLOATS = frozenset(map(dpnp.dtype, ("float32", "float64")))
DTYPES = frozenset(
    ["bool", "complex64", "complex128", "float16", "float32", "float64"]
    + [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
)


class DpnpBackend(ArrayAPIBackend):
    """Arrays of dpnp on every device that SYCL lists.

    Work goes to the one queue that dpnp keeps for a device, and is waited for only when values are requested. Arrays
    on a queue that the program created are on a separate device, because dpnp does not mix queues.
    """

    in_place_from = IN_PLACE_FROM

    def __init__(self) -> None:
        found = devices.present()
        self.refused = found.refused
        if not found.handles:
            failed = "".join(f"; {name}: {reason}" for name, reason in found.refused.items())
            raise BackendUnavailable(
                f"dpnp: SYCL finds no device that can be used{failed}; install the driver of the device, or for the "
                "CPU set OCL_ICD_FILENAMES to libintelocl.so of intel-opencl-rt before dpctl is imported"
            )
        super().__init__(
            name="dpnp",
            namespace=standard,
            array_types=(dpnp.ndarray,),
            kernels=KERNELS,
            module=dpnp,
            version=str(dpnp.__version__),
            capabilities=capabilities(found.handles),
            thresholds={"scatter_add": (COUNTED_FROM,)},
        )
        self._devices = tuple(self._made(name, handle) for name, handle in found.handles.items())
        self._by_handle = {device.handle: device for device in self._devices}
        make_first_calls(self._devices[0].handle)

    def _made(self, index: str, handle: DeviceHandle) -> Device:
        kind = devices.Intel64Device if devices.is_processor(handle) else Device
        return kind(self, handle, f"@dpnp:{index}")

    @staticmethod
    def loaded() -> "DpnpBackend":
        """Return the backend of this process."""
        backend = xpgrad.get_device("@dpnp").backend.root
        assert isinstance(backend, DpnpBackend)
        return backend

    # Devices

    def device(self, index: str | None) -> Device:
        """Return the device for a filter string of SYCL; a shorter one such as ``cpu`` means the first match.

        Raises
        ------
        BackendUnavailable
            SYCL does not find the device, or dpnp cannot use it.
        SpecifierError
            It is no filter string.
        """
        if index is None:
            return self.default_device
        name = f"@dpnp:{index}"
        for device in self._by_handle.values():
            if device.name == name:
                return device
        if not devices.is_filter(index):
            return super().device(index)
        found = devices.selected(index)
        if found is None:
            here = ", ".join(map(str, self.devices()))
            raise BackendUnavailable(f"dpnp: SYCL sees no device {index} here, only {here}; install its driver")
        if found in self.refused:
            raise BackendUnavailable(f"dpnp: the device {found} cannot be used: {self.refused[found]}")
        return super().device(found)

    def processor(self, number: str) -> Device:
        """Return the CPU with this number in SYCL's list, or the first CPU for an empty string."""
        if number and not number.isdecimal():
            raise SpecifierError(f"get_device: expected '@intel64' or '@intel64:number', got '@intel64:{number}'")
        return self.device(f"cpu:{number}" if number else "cpu")

    def device_of_object(self, thing: object) -> Device | None:
        """Return the device for a device or queue of dpctl or dpnp; None for other objects."""
        handle = devices.handle_of_object(thing)
        if isinstance(handle, str):
            raise BackendUnavailable(f"dpnp: got {handle}")
        return None if handle is None else self.device_for(handle)

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device of a queue: one of `devices`, or a separate device for a queue that the program created."""
        found = self._by_handle.get(handle)
        if found is None:
            name = f"{handle.sycl_device.filter_string}:queue{len(self._by_handle) - len(self._devices) + 1}"
            found = self._by_handle.setdefault(handle, self._made(name, handle))
        return found

    def synchronize(self, device: Device) -> None:
        """Wait until all work on the queue of `device` is done."""
        finish_all(device.handle.sycl_queue)

    # Arrays

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        spec = super()._new_spec(shape, dtype, device)
        spec.constants = self._constants.setdefault((dtype, device), {})  # the constants of `prepare` are on the device
        return spec

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a 0-d array for a finite float or int that meets floats: dpnp moves a number to the device each time.

        Zero stays: as a key, it is the same with either sign.
        """
        if (type(value) is not float and type(value) is not int) or spec.dtype not in FLOATS or not value:
            return value
        if not abs(value) <= dpnp.finfo(spec.dtype).max:
            return value
        if len(spec.constants) >= MAX_CONSTANTS:
            spec.constants.clear()
        made = spec.constants[value] = dpnp.asarray(value, dtype=spec.dtype, device=spec.device)
        return made

    def suits(self, shape: Shape, dtype: str) -> bool:
        """Return whether `to_intel64` takes an array: dpnp must support its dtype."""
        return dtype in DTYPES

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as a NumPy array in C order."""
        return exchange.to_host(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of a NumPy array of any strides and byte order, on a device."""
        return exchange.from_host(array, device.handle)

    def from_dlpack(self, array: Array, device: Device) -> Array:
        """Return an array on `device` over the memory of another library's `array`, if it belongs to the device."""
        made = dpnp.from_dlpack(array, device=device.handle, copy=False)
        return made if self.device_of(made) == device else NotImplemented
