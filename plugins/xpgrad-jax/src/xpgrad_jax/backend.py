"""The backend of jax: arrays on any device of jax, and tracers within `jax.jit`."""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from xpgrad.plugin import ArrayAPIBackend, Capabilities, Device, Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel
from xpgrad_jax import dtypes, namespace
from xpgrad_jax.kernels.convolution import CONVOLUTION, suited
from xpgrad_jax.kernels.fused import NAMES, fused
from xpgrad_jax.kernels.indexing import scatter_add
from xpgrad_jax.places import TRACED, TracedDevice, copies_on, handle_for, placement, title

MAX_KEPT = 4096
MAX_ONES = 1024
"""Elements of an array of ones that is kept for the next sweep."""
MISSING = {
    "index_assignment": "jax arrays are immutable",
    "in_place_update": "jax arrays are immutable",
    "checked_index_arrays": "jax takes the nearest element or NaN for a number out of range; only debug mode looks",
    "pickle_keeps_device": "jax brings every array that was pickled back on its default device",
    "subnormal_numbers": "on the host, XLA flushes them to zero",
    "memory_used": "jax does not say it for host memory",
}


class JaxBackend(ArrayAPIBackend):
    """jax arrays.

    A tracer counts as an array on an unknown device: it may be combined with arrays of any device, and moving it has no
    effect. An array over several devices is on one device of xpgrad, named after all of these.
    """

    def __init__(self) -> None:
        with jax.ensure_compile_time_eval():  # the first jax array may occur within a function that jax traces
            self._array_type = type(jnp.zeros(()))
        super().__init__(
            "jax",
            namespace,
            (self._array_type, *_subclasses(Tracer)),
            scatter_add=scatter_add,
            immutable=True,
            module=jnp,
            version=jax.__version__,
            capabilities=Capabilities(missing=MISSING),
            thresholds={"": (MAX_ONES,)},
        )
        self._traced = TracedDevice(self)
        self._handles: dict[Any, DeviceHandle] = {}
        self._seen: dict[Any, Spec] = {}
        self._ones: dict[Spec, Array] = {}

    def lazy_override(self, name: str) -> Kernel | None:
        """Return a convolution of jax, or a kernel of several calls, compiled; or None."""
        body = self.xp.default(name) if name in NAMES or name in CONVOLUTION else None
        if body is None:
            return None
        return suited(CONVOLUTION[name], body) if name in CONVOLUTION else fused(body)

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the devices of jax's default platform, then host devices: ``@jax:gpu:0``, ``@jax:cpu:0``."""
        if not self._devices:
            found = list(jax.local_devices())
            try:
                found += [device for device in jax.local_devices(backend="cpu") if device not in found]
            except RuntimeError:  # JAX_PLATFORMS excludes the host
                pass
            self._devices = tuple(self._device(handle) for handle in found)
        return self._devices

    def device(self, index: str | None) -> Device:
        """Return the device for ``cpu:1``; ``gpu`` is the first of its kind, ``cpu:0+cpu:1`` both together."""
        if index is not None and "+" in index:
            handles = [super(JaxBackend, self).device(part).handle for part in index.split("+")]
            return self._device(copies_on(handles))
        for device in self.devices() if index is not None else ():
            if device.handle.platform == index:
                return device
        return super().device(index)

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device for jax's `handle`: a device, a sharding over several, or the handle of tracers."""
        if handle is TRACED:
            return self._traced
        return self._device(handle_for(handle) if isinstance(handle, jax.sharding.Sharding) else handle)

    def _device(self, handle: DeviceHandle) -> Device:
        return Device(self, handle, f"@{self.name}:{title(handle)}")

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the device of `array`, or the sharding that has a copy on each of its devices."""
        if type(array) is not self._array_type:
            return TRACED
        sharding = array.sharding
        found = self._handles.get(sharding)
        if found is None:
            if len(self._handles) >= MAX_KEPT:
                self._handles.clear()
            found = self._handles[sharding] = handle_for(sharding)
        return found

    def dlpack_device(self, device: Device) -> Any:
        """Return DLPack's device type and number of `device`, also while jax traces."""
        with jax.ensure_compile_time_eval():
            return super().dlpack_device(device)

    def synchronize(self, device: Device) -> None:
        """Wait for every array on `device`."""
        everything: Any = jax.live_arrays()  # type: ignore[no-untyped-call]  # jax has no types there
        here = [array for array in everything if self.handle_of(array) == device.handle]
        jax.block_until_ready(here)  # type: ignore[no-untyped-call]  # as above

    def memory_used(self, device: Device) -> int | None:
        """Return the bytes in use on `device`; jax does not report it for host memory."""
        statistics = device.handle.memory_stats() if isinstance(device.handle, jax.Device) else None
        return None if statistics is None else int(statistics["bytes_in_use"])

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`; equal ones are the same object.

        Weakly typed arrays have separate specs, because the other operand decides the dtype of a result.
        """
        place = array.sharding if type(array) is self._array_type else None
        key = array.shape, array.dtype, place, array.weak_type
        found = self._seen.get(key)
        if found is None:
            shape, dtype, _, weak = key
            handle = self.handle_of(array)
            if len(self._seen) >= MAX_KEPT:
                self._seen.clear()
            made = Spec(shape, dtype, handle, self) if weak else self.spec_for(shape, dtype, handle)
            found = self._seen.setdefault(key, made)
        return found

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return dtypes.name_of(dtype)

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype on this device, the same array again if it is small."""
        found = self._ones.get(spec)
        if found is None:
            found = jax.device_put(np.ones(spec.shape, spec.dtype), placement(spec.device))
            if spec.size <= MAX_ONES and type(found) is self._array_type:
                if len(self._ones) >= MAX_KEPT:
                    self._ones.clear()
                self._ones[spec] = found
        return found

    def move(self, array: Array, device: Device) -> Array:
        """Return `array` on another device."""
        return jax.device_put(array, placement(device.handle))

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as a NumPy array, assembled if it is on several devices."""
        return np.array(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of a NumPy array on `device`."""
        dtypes.checked(array.dtype, f"to {device}")
        return jax.device_put(np.array(array), placement(device.handle))  # jax may keep a reference to the memory

    def has_values(self, array: Array) -> bool:
        """Return whether `array` is not a tracer, whose values are known only when the compiled function runs."""
        return type(array) is self._array_type

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as text, or the name of a tracer."""
        return str(array) if self.handle_of(array) is TRACED else super().array_text(array, prefix, separator)


def _subclasses(kind: type) -> Iterator[type]:
    each: type
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
