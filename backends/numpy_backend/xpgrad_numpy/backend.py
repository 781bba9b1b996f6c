"""The NumPy backend: one device, 0-d arrays restored, Python scalars as cached 0-d arrays where that is exact."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import xpgrad
from xpgrad.errors import DtypeError
from xpgrad.plugin import Backend, Capabilities, Device, Programs, Spec, class_name
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape
from xpgrad_numpy.kernels import KERNELS, network, special_function, transform
from xpgrad_numpy.kernels.precision import foreign_limits, is_foreign, is_foreign_float, wide
from xpgrad_numpy.kernels.rows import pointwise
from xpgrad_numpy.namespace import NAMESPACE

MAX_CONSTANTS = 1024
CPU = "cpu"


class CpuDevice(Device):
    """The host, the only device of NumPy; ``CpuDevice()`` returns it."""

    __slots__ = ()

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(xpgrad.get_device("@numpy").backend if backend is None else backend, CPU, "@numpy")

    def __repr__(self) -> str:
        return "<CpuDevice (numpy)>"


class NumPyBackend(Backend):
    """NumPy arrays in host memory, which is also the backend through which other libraries exchange arrays."""

    name = "numpy"
    array_types = (np.ndarray, np.memmap)
    scalar_types = (np.generic,)
    namespace = NAMESPACE
    module = np
    version = np.__version__
    declared = Capabilities(
        {
            "several_devices": "NumPy has the host's memory only",
            "asynchronous": "NumPy computes at once",
            "memory_used": "NumPy does not count what its arrays hold",
        }
    )
    in_place_from = 4096  # below that a fresh array is faster than adding in place
    blocks_from = 2**18  # from which on new memory is slower than memory in use

    restore = staticmethod(np.asarray)  # type: ignore[assignment]  # NumPy's scalars become 0-d arrays again

    def __init__(self) -> None:
        super().__init__()
        self._device = CpuDevice(self)

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """The sizes at which kernels take another path."""
        from xpgrad_numpy.thresholds import THRESHOLDS  # used only by the conformance suite; loads all kernels

        return THRESHOLDS

    @functools.cached_property
    def programs(self) -> Programs:  # type: ignore[override]  # made at its first use
        """NumPy's functions in compiled programs and in blocks."""
        from xpgrad_numpy.programs import NumPyPrograms  # only for compiled functions and large arrays

        return NumPyPrograms(self)

    def overrides(self) -> Mapping[str, Kernel]:
        """Return NumPy's own loops, and the kernels that are worth writing by hand."""
        return KERNELS

    def lazy_override(self, name: str) -> Kernel | None:
        """Return a kernel of `xpgrad.functions`, or SciPy's special or `fft` function if SciPy is installed."""
        return network(name) or pointwise(name, self.xp) or transform(name, self.xp) or special_function(name, self.xp)

    def build(self) -> bool:
        """Compile the kernels in C; return whether that was possible."""
        from xpgrad_numpy.kernels import direct, erf, gathers, joint, pooling, rows, scans  # only for this command

        done = [each.build() for each in (rows, direct, erf, gathers, joint, pooling, scans)]
        return all(done)

    def devices(self) -> Sequence[Device]:
        """Return the host."""
        return (self._device,)

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return ``"cpu"``."""
        return CPU

    def device_of(self, array: Array) -> Device:
        """Return the host."""
        return self._device

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        found = self._specs.get((array.shape, array.dtype, CPU))
        return found if found is not None else self._new_spec(array.shape, array.dtype, CPU)

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        if (dtype.kind not in "biufc" or is_foreign(dtype)) and not is_foreign_float(dtype):
            raise TypeError(f"numpy: arrays of dtype {dtype} cannot be differentiated; convert to a numeric dtype")
        if not dtype.isnative:  # NumPy's results are in native byte order, so the gradient would have another dtype
            raise DtypeError(
                f"numpy: expected an array of native byte order, got {dtype.str}; "
                "convert it with a.astype(a.dtype.newbyteorder('='))"
            )
        return super()._new_spec(shape, dtype, device)

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` is of a kind of the standard's `isdtype`."""
        return _is_kind(dtype, kind)

    def finfo(self, dtype: Dtype) -> Any:
        """Return the limits of a floating-point dtype, or of the dtype of an array."""
        dtype = dtype.dtype if isinstance(dtype, (np.ndarray, np.generic)) else np.dtype(dtype)
        return foreign_limits(dtype) if is_foreign_float(dtype) else np.finfo(dtype)

    def wide(self, dtype: Dtype) -> Dtype:
        """Return float32 for narrower floating-point dtypes, as the dtype of sums and counts; else `dtype`."""
        return wide(dtype)

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the name of `dtype` without its byte order."""
        return _name_of(dtype)

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a read-only 0-d array for a finite, non-zero float or int operand: exact, and 140 ns faster."""
        if type(value) is not float and type(value) is not int:
            return value
        if is_foreign(spec.dtype) and spec.differentiable:
            return np.array(value, spec.dtype)  # a Python number would make it float32
        if spec.complex or not spec.differentiable or not value:
            return value
        try:
            if not math.isfinite(value):
                return value
            made = np.array(value, spec.dtype)
        except OverflowError:
            return value
        made.flags.writeable = False
        if len(spec.constants) >= MAX_CONSTANTS:
            spec.constants.clear()
        spec.constants[value] = made
        return made

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or an array."""
        return np.array(obj, dtype)

    def archives(self) -> Any:
        """Return the module that reads and writes files of arrays."""
        from xpgrad_numpy import archives  # only for serializers

        return archives

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype."""
        made = np.empty(spec.shape, spec.dtype)
        made.fill(1)
        return made

    def copy(self, array: Array) -> Array:
        """Return a copy in C order that shares no memory with `array`."""
        return np.array(array, copy=True)

    def empty(self, spec: Spec) -> Array:
        """Return a new array of this shape and dtype, whose elements are not initialised."""
        return np.empty(spec.shape, spec.dtype)

    def to_host(self, array: Array) -> Array:
        """Return a copy: this is the host."""
        return np.array(array, copy=True)

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy: this is the host."""
        return np.array(array, copy=True)

    def from_foreign(self, array: Array) -> Array:
        """Return a copy of another library's array in host memory."""
        if hasattr(array, "__dlpack__"):
            try:
                return np.array(np.from_dlpack(array), copy=True)
            except (BufferError, RuntimeError, TypeError, ValueError):
                pass  # dtypes or devices that DLPack does not support
        made = np.array(array, copy=True)
        if made.dtype.hasobject:
            raise TypeError(
                f"numpy: {class_name(type(array))} gives its values neither through DLPack nor as a buffer;"
                " its backend must say how (to_host)"
            )
        return made

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the array that a view refers to, and its size."""
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array, array.nbytes

    def is_view(self, array: Array) -> bool:
        """Return whether `array` shares its memory with another."""
        return array.base is not None

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is not a number."""
        return array.dtype.kind in "fc" and bool(np.isnan(array).any())

    def fingerprint(self, array: Array) -> Any:
        """Return shape, dtype and a checksum of the bytes."""
        return array.shape, array.dtype, hash(array.tobytes())

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as NumPy prints them."""
        return np.array2string(array, prefix=prefix, separator=separator)

    def generator(self, seed: int | None) -> "np.random.Generator":  # not evaluated: it would import numpy.random
        """Return a new stream of random numbers for the random kernels' defaults."""
        return np.random.default_rng(seed)

    def random_state(self, source: Any = None) -> dict[str, Any]:
        """Return the state of a generator, by default of NumPy's global functions, as JSON can hold it."""
        if source is None:
            source = np.random
        found = source.get_state(legacy=False) if hasattr(source, "get_state") else source.bit_generator.state
        return _with_lists(found)

    def set_random_state(self, source: Any, state: dict[str, Any]) -> None:
        """Restore the state of a generator, or with None of NumPy's global generator, from `random_state`."""
        if source is None:
            source = np.random
        if hasattr(source, "set_state"):
            source.set_state(state)
        else:
            source.bit_generator.state = state


def _with_lists(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of a generator with lists in place of arrays."""
    return {
        key: _with_lists(x) if isinstance(x, dict) else x.tolist() if isinstance(x, np.ndarray) else x
        for key, x in state.items()
    }


@functools.lru_cache(maxsize=256)
def _name_of(dtype: Dtype) -> str:
    """Return the name of a dtype, which NumPy composes at each call."""
    return str(np.dtype(dtype).name)


@functools.lru_cache(1024)
def _is_kind(dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
    if isinstance(dtype, np.dtype) and is_foreign(dtype):
        kinds = (kind,) if isinstance(kind, str) else kind
        return is_foreign_float(dtype) and not {"real floating", "numeric"}.isdisjoint(kinds)
    return bool(np.isdtype(dtype, kind))
