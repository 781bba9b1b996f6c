"""The CuPy backend: NVIDIA GPUs, one current at a time in each thread."""

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cupy
import numpy as np

import xpgrad
from xpgrad.plugin import Backend, BackendUnavailable, Capabilities, Device, Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Namespace
from xpgrad_cupy import exchange
from xpgrad_cupy import namespace as standard
from xpgrad_cupy.detection import why_broken
from xpgrad_cupy.kernels import KERNELS, special

IN_PLACE_FROM = 1024
CUDA = 2  # the kind of memory, as DLPack numbers it


class Handle(cupy.cuda.Device):  # type: ignore[misc]  # CuPy has no types
    """CuPy's device object with a hash, since it is part of cache keys."""

    def __hash__(self) -> int:
        return int(self.id)


class GpuDevice(Device):
    """A GPU, as CuPy uses it; `device` is CuPy's own device object."""

    __slots__ = ()

    def __init__(self, device: Any, owner: Backend | None = None) -> None:
        super().__init__(backend() if owner is None else owner, Handle(device.id), f"@cupy:{device.id}")

    @staticmethod
    def from_device_id(number: int) -> Device:
        """Return the device of this number."""
        return backend().device(str(number))

    @property
    def device(self) -> Any:
        """CuPy's own device object."""
        return cupy.cuda.Device(self.handle.id)

    def __repr__(self) -> str:
        return f"<GpuDevice (cupy):{self.handle.id}>"


class CuPyBackend(Backend):
    """CuPy arrays in the memory of NVIDIA GPUs.

    All work is queued on the current stream of the calling thread, which is synchronized only when values are read.
    With several GPUs, functions run with the GPU of their arrays as the current one, which is restored afterwards.

    Raises
    ------
    BackendUnavailable
        No GPU can run a kernel.
    """

    name = "cupy"
    array_types = (cupy.ndarray,)
    namespace: Namespace = standard
    module = cupy
    version = cupy.__version__
    in_place_from = IN_PLACE_FROM
    declared = Capabilities(
        {
            "checked_index_arrays": "CuPy wraps numbers out of range around: a check would wait for the GPU",
            "random_numbers_of_the_host": "random numbers are drawn on the GPU, by another generator",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        if not cupy.cuda.is_available():
            raise BackendUnavailable("cupy: CuPy finds no GPU that it can use; see cupy.show_config()")
        self._broken: dict[int, str | None] = {}
        count = cupy.cuda.runtime.getDeviceCount()
        handles = [Handle(number) for number in range(count)]
        self._devices: tuple[Device, ...] = tuple(GpuDevice(handle, self) for handle in handles)
        if count > 1:
            self.has_current_device = True
            self.namespace = Followed(standard, self.follow)
            self.in_place_from = 0  # so that every sum of the sweep is a kernel, which follows its arrays
        self._default = next((d for d in self._devices if self._why_broken(d) is None), None)
        if self._default is None:
            raise BackendUnavailable(str(self._why_broken(self._devices[0])))

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """The sizes at which copies and fused kernels take another path."""
        from xpgrad_cupy.fusion.plan import FEW_ROWS, LONG_ROW, VERY_LONG_ROW  # used only by the conformance suite

        return {"": (exchange.PINNED_FROM // 4, FEW_ROWS, LONG_ROW, VERY_LONG_ROW)}

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the kernels that need fewer launches than the functions of the standard."""
        return KERNELS

    def lazy_override(self, name: str) -> Kernel | None:
        """Return CuPy's special function `name`."""
        return special.find(name)

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the GPUs that CuPy lists; whether a GPU can compute is tested when it is first used."""
        return self._devices

    @property
    def default_device(self) -> Device:
        """The first GPU that runs a kernel."""
        assert self._default is not None
        return self._default

    def device(self, index: str | None) -> Device:
        """Return the GPU with this number, by default the default GPU.

        Raises
        ------
        BackendUnavailable
            The GPU is listed but runs no kernel, or its number is too large.
        """
        if index is not None and index.isdecimal() and int(index) >= len(self._devices):
            here = ", ".join(map(str, self._devices))
            raise BackendUnavailable(f"cupy: there is no GPU {int(index)} here, only {here}")
        device = super().device(index)
        reason = self._why_broken(device)
        if reason is not None:
            raise BackendUnavailable(reason)
        return device

    def _why_broken(self, device: Device) -> str | None:
        number = device.handle.id
        if number not in self._broken:
            self._broken[number] = why_broken(cupy, number)
        return self._broken[number]

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return CuPy's device object for the GPU of `array`."""
        return self._devices[int(array.data.device_id)].handle

    def device_of(self, array: Array) -> Device:
        """Return the GPU of `array`."""
        return self._devices[int(array.data.device_id)]

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the GPU that CuPy calls `handle`."""
        return self._devices[int(handle)]

    def activate(self, device: Device) -> Callable[[], None] | None:
        """Make `device` CuPy's current one in this thread; return a function that restores the former one, or None."""
        if not self.has_current_device:
            return None
        before = cupy.cuda.runtime.getDevice()
        cupy.cuda.Device(device.handle.id).use()
        return lambda: cupy.cuda.Device(before).use()

    def follow(self, function: Kernel) -> Kernel:
        """Return `function` wrapped to run with the GPU of its arrays current; unchanged for a single GPU."""
        if not self.has_current_device:
            return function

        @functools.wraps(function)
        def on_its_gpu(*args: Any, **kwargs: Any) -> Any:
            number = number_of(args)
            if number is None or number == cupy.cuda.runtime.getDevice():
                return function(*args, **kwargs)
            with cupy.cuda.Device(number):
                return function(*args, **kwargs)

        return on_its_gpu

    def synchronize(self, device: Device) -> None:
        """Wait until all work on the GPU is done, in every stream."""
        cupy.cuda.Device(device.handle.id).synchronize()

    def memory_used(self, device: Device) -> int | None:
        """Return the number of bytes of CuPy's default pool that arrays use on this GPU."""
        with cupy.cuda.Device(device.handle.id):
            return int(cupy.get_default_memory_pool().used_bytes())

    def free_memory(self, device: Device) -> None:
        """Free the unused blocks of CuPy's default pools: the pool of this GPU and the pool of pinned host memory."""
        with cupy.cuda.Device(device.handle.id):
            cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()

    def profiler(self) -> types.ModuleType:
        """Return the module that marks functions for profilers and counts the bytes of CuPy's pool."""
        from xpgrad_cupy import profiling  # for two hooks only

        return profiling

    # Arrays

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the array that a view refers to, and its size."""
        root = array if array.base is None else array.base
        return root, root.nbytes

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype`, a NumPy dtype, has a kind of the standard's `isdtype`."""
        return bool(np.isdtype(dtype, kind))

    def default_dtype(self, kind: str) -> Dtype:
        """Return int64, float64 or complex128."""
        return np.dtype({"int": np.int64, "float": np.float64, "complex": np.complex128}[kind])

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or an array; by default on the device of an array argument."""
        number = obj.data.device_id if device is None and type(obj) is cupy.ndarray else device
        with cupy.cuda.Device(None if number is None else int(number)):
            return cupy.array(obj, dtype)

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype on this GPU."""
        with cupy.cuda.Device(spec.device.id):
            return cupy.ones(spec.shape, spec.dtype)

    def copy(self, array: Array) -> Array:
        """Return a copy in C order on the GPU of `array`."""
        with array.device:
            return array.copy()

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on another GPU."""
        return exchange.to_gpu(array, device.handle.id)

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` in host memory, after the work that computes its values is done."""
        return exchange.to_host(array)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host's `array` on the GPU."""
        return exchange.from_host(array, device.handle.id)

    def dlpack_device(self, device: Device) -> Any:
        """Return DLPack's number for CUDA, and the number of the GPU."""
        return CUDA, device.handle.id

    def is_view(self, array: Array) -> bool:
        """Return whether `array` shares its memory with another."""
        return array.base is not None

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is not a number."""
        if array.dtype.kind not in "fc":
            return False
        with array.device:
            return bool(cupy.isnan(array).any())

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays of one shape hold equal values, NaNs counting as equal."""
        with a.device:
            return super().same_values(a, b)


class Followed:
    """A namespace whose functions run with the GPU of their arrays as current device."""

    def __init__(self, module: Namespace, follow: Callable[[Kernel], Kernel]) -> None:
        self._module, self._follow = module, follow

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, (types.ModuleType, types.SimpleNamespace)):
            value = Followed(value, self._follow)
        elif callable(value) and not isinstance(value, type) and not name.startswith("__"):
            value = self._follow(value)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(self._module)


def number_of(args: Any) -> int | None:
    """Return the GPU number of the first array or spec in arguments and nested sequences."""
    for x in args:
        if type(x) is cupy.ndarray:
            return int(x.data.device_id)
        if type(x) is Spec:
            return int(x.device.id)
        if type(x) in (list, tuple):
            found = number_of(x)
            if found is not None:
                return found
    return None


def is_device(obj: object) -> bool:
    """Return whether `obj` is CuPy's own device object."""
    return isinstance(obj, cupy.cuda.Device)


def backend() -> Backend:
    """Return the backend that xpgrad has loaded."""
    return xpgrad.get_device("@cupy").backend
