"""`Backend`: the interface of an array library to xpgrad."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.device import Device
from xpgrad.backend.kernels import KernelNamespace
from xpgrad.backend.spec import Spec
from xpgrad.errors import BackendUnavailable, SpecifierError, XpgradError
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Namespace, Shape

if TYPE_CHECKING:
    from xpgrad.backend.capabilities import Capabilities
    from xpgrad.backend.programs import Programs

MAX_SPECS = 4096


class Backend:
    """Interface of an array library to xpgrad.

    Subclass `ArrayAPIBackend` rather than this class: it derives most methods from the library's namespace.

    Attributes
    ----------
    name : str
        Name of the entry point; devices are named ``@name`` or ``@name:index``.
    array_types : tuple of type
        The types of its arrays; subclasses are not included unless listed.
    scalar_types : tuple of type
        Types of the library's scalars, which are treated as Python scalars: they never widen an array.
    namespace : module
        The library's Array API namespace.
    module : module
        The module that users import: the namespace, unless that is a compatibility layer.
    xp : KernelNamespace
        The namespace extended by all kernels; gradient rules call its functions.
    version : str
        The library's version, for reports.
    immutable : bool
        Whether arrays are read-only, so that they need not be copied.
    in_place_from : float
        Number of elements from which the kernel `accumulate` is used to add in place.
    blocks_from : float
        Number of elements from which the gradients of elementwise functions are computed by `Programs.blockwise`, and
        into memory that only the sweep refers to. It may be finite only if every view of an array refers to the array.
    evaluate : callable or None
        Computes a sequence of arrays, which then hold their values, if the library computes when values are read: after
        each step optimizers call it with parameters, states and persistent values.
    has_current_device : bool
        Whether the library computes on its own current device, regardless of the device of its arrays; `activate` and
        `follow` set it.
    declared : Capabilities or None
        Features that the library does not support; None if it supports everything.
    zero_dimensional_widen : bool
        Whether the library's operators promote 0-d arrays like other arrays, as the standard requires. If they treat
        them as scalars, elementwise functions cast operands of different floating-point dtypes first.
    has_layouts : bool
        Whether arrays of one shape can be partitioned in different ways; `laid_out` then gives a gradient the layout of
        its array.
    carries_tangents : bool
        Whether arrays carry derivatives, as in forward mode, even if no Variable requires a gradient.
    programs : Programs or None
        Properties of the library's functions that compiled functions use; None for the defaults of `Programs`.
    base : Backend or None
        For arrays of a transformation, such as arrays that `compile` records: the backend of the arrays within them.
    """

    name: str
    array_types: tuple[type, ...]
    scalar_types: tuple[type, ...] = ()
    namespace: Namespace
    module: Namespace = None
    version: str = "unknown"
    immutable: bool = False
    in_place_from: float = math.inf
    blocks_from: float = math.inf
    evaluate: Any = None
    has_current_device: bool = False
    declared: "Capabilities | None" = None
    zero_dimensional_widen: bool = True
    has_layouts: bool = False
    carries_tangents: bool = False
    programs: "Programs | None" = None
    base: "Backend | None" = None

    def __init__(self) -> None:
        self._specs: dict[Any, Spec] = {}
        self._constants: dict[Dtype, dict[Any, Any]] = {}
        self._complex: dict[Dtype, bool] = {}
        self._wide: dict[Dtype, Dtype] = {}
        self.dtypes: dict[tuple[type, Any], Dtype] = {}  # the library's dtypes by their spellings, those used so far
        self._memories: dict[str, Any] = {}
        self.index_checks: dict[DeviceHandle, bool] = {}  # whether a device checks index arrays, once that was needed
        self.xp = KernelNamespace(self)

    def __repr__(self) -> str:
        name = getattr(self, "name", "unnamed")
        return f"<{type(self).__name__} {name}, {getattr(self.module, '__name__', name)} {self.version}>"

    @property
    def capabilities(self) -> "Capabilities":
        """Return the features that the library does not support, from `declared`."""
        from xpgrad.backend.capabilities import Capabilities  # only certificates need it

        return Capabilities() if self.declared is None else self.declared

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """Sizes at which the backend switches algorithms, by kernel or function of the standard; empty by default.

        They are lengths of axes, or numbers of elements; those under "" are of all functions. The conformance suite
        tests around them.
        """
        return {}

    def overrides(self) -> Mapping[str, Kernel]:
        """Return this backend's own kernels by name. They must not return `NotImplemented`."""
        return {}

    def lazy_override(self, name: str) -> Kernel | None:
        """Return this backend's own kernel `name`, created or imported at its first use, or None."""
        return None

    def build(self) -> bool | None:
        """Compile kernels in advance; return whether compilation succeeded, or None without kernels to compile."""
        return None

    # Devices

    def devices(self) -> Sequence[Device]:
        """Return the devices, the default one first."""
        raise NotImplementedError(f"{self.name}: Backend.devices is not implemented")

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        raise NotImplementedError(f"{self.name}: Backend.handle_of is not implemented")

    @property
    def default_device(self) -> Device:
        """The device that ``@name`` means."""
        devices = self.devices()
        if not devices:
            raise BackendUnavailable(f"{self.name}: the library has no device here")
        return devices[0]

    def device(self, index: str | None) -> Device:
        """Return the device specified by ``@name:`` and `index`; None means the default device."""
        if index is None:
            return self.default_device
        wanted = f"@{self.name}:{index}"
        for device in self.devices():
            if device.name == wanted:
                return device
        known = ", ".join(map(str, self.devices()))
        raise SpecifierError(f"get_device: unknown device {wanted!r}; {self.name} has {known}")

    def device_of(self, array: Array) -> Device:
        """Return the device of `array`."""
        return self.device_for(self.handle_of(array))

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device with the library's device object `handle`."""
        for device in self.devices():
            if device.handle == handle:
                return device
        return Device(self, handle, f"@{self.name}:{handle}")

    def activate(self, device: Device) -> Callable[[], None] | None:
        """Make `device` the library's current device in this thread; return a function that undoes this, or None."""
        return None

    def method(self, name: str) -> Callable[..., Any] | None:
        """Return a method of the library's arrays as a function of Variables; None if Variables have its like."""
        return None

    def follow(self, function: Kernel) -> Kernel:
        """Return `function` wrapped to compute on the device of its arrays; itself, if the library does so anyway."""
        return function

    def adapted(self, rule: Kernel) -> Kernel:
        """Return a gradient rule as raw sweeps call it; a transformation may wrap it."""
        return rule

    @property
    def root(self) -> "Backend":
        """The backend of the arrays within arrays of transformations; this backend for plain arrays."""
        return self if self.base is None else self.base.root

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` has finished. Synchronous libraries need not override this."""

    def memory_used(self, device: Device) -> int | None:
        """Return the number of bytes that the library's arrays use on `device`; None if it is unknown."""
        return None

    def free_memory(self, device: Device) -> None:
        """Release the memory that the library caches on `device`. Libraries without a cache need not override this."""

    def profiler(self) -> Any:
        """Return the module of `CUDAProfileHook` and `CupyMemoryProfileHook`; only a GPU backend has this module."""
        raise BackendUnavailable(f"{self.name}: the library has no profiler of CUDA")

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`; equal ones are the same object."""
        key = array.shape, array.dtype, self.handle_of(array)
        found = self._specs.get(key)
        return found if found is not None else self._new_spec(*key)

    def spec_for(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        """Return the spec with this shape, dtype and device."""
        return self._specs.get((shape, dtype, device)) or self._new_spec(shape, dtype, device)

    def _new_spec(self, shape: Shape, dtype: Dtype, device: DeviceHandle) -> Spec:
        if len(self._specs) >= MAX_SPECS:
            self._specs.clear()  # specs in use stay valid; their identity is only a shortcut for equality
        return self._specs.setdefault((shape, dtype, device), Spec(shape, dtype, device, self))

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Return whether `dtype` is of `kind`, as the standard's `isdtype` defines it."""
        return bool(self.namespace.isdtype(dtype, kind))

    def wide(self, dtype: Dtype) -> Dtype:
        """Return the dtype for sums and counts: float32 for narrower floating-point dtypes, else `dtype`."""
        found = self._wide.get(dtype)
        if found is None:
            half = self.is_kind(dtype, "real floating") and self.finfo(dtype).bits < 32
            single = self.namespace.empty((0,), dtype=self.namespace.float32).dtype if half else dtype
            found = self._wide[dtype] = single
        return found

    def real(self, dtype: Dtype) -> Dtype:
        """Return the dtype of the real and imaginary parts of a complex dtype; `wide` of another."""
        if not self.is_kind(dtype, "complex floating"):
            return self.wide(dtype)
        part = self.namespace.float64 if self.finfo(dtype).bits == 64 else self.namespace.float32
        return self.namespace.empty((0,), dtype=part).dtype

    def finfo(self, dtype: Dtype) -> Any:
        """Return the library's `finfo` of a floating-point dtype or array."""
        return self.namespace.finfo(dtype)

    def default_dtype(self, kind: str) -> Dtype:
        """Return the default dtype of the library for "int", "float" or "complex"."""
        return self.namespace.asarray({"int": 0, "float": 0.0, "complex": 0j}[kind]).dtype

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]  # some libraries use types as dtypes

    def _constants_of(self, dtype: Dtype) -> dict[Any, Any]:
        """Return the cache of scalars that `prepare` converted for arrays of `dtype`."""
        return self._constants.setdefault(dtype, {})

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return the operand that kernels get for a Python scalar next to an array of `spec`.

        By default it is the scalar itself. A backend may return a 0-d array where that is exact, and cache it in
        `spec.constants`, which is looked up first.
        """
        return value

    def restore(self, result: Any) -> Array:
        """Return the result of a kernel as an array of this backend: some libraries return scalars for 0-d arrays."""
        return result

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from Python scalars, nested lists of scalars, or an array of this library."""
        return self.namespace.asarray(obj, dtype=dtype, device=device)

    def ones(self, spec: Spec) -> Array:
        """Return ones with this shape, dtype and device: the gradient that a sweep starts from."""
        return self.namespace.ones(spec.shape, dtype=spec.dtype, device=spec.device)

    def copy(self, array: Array) -> Array:
        """Return a copy that shares no memory with `array`."""
        return self.namespace.asarray(array, copy=True)

    def empty(self, spec: Spec) -> Array:
        """Return a new array with this shape, dtype and device, whose elements are not initialised."""
        return self.namespace.empty(spec.shape, dtype=spec.dtype, device=spec.device)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on another device of this backend."""
        raise NotImplementedError(f"{self.name}: Backend.move is not implemented")

    def to_host(self, array: Array) -> Array:
        """Return a copy of `array` as an array of the host backend."""
        raise NotImplementedError(f"{self.name}: Backend.to_host is not implemented")

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy of the host backend's `array` on `device`."""
        raise NotImplementedError(f"{self.name}: Backend.from_host is not implemented")

    def dlpack_device(self, device: Device) -> Any:
        """Return the DLPack device type and number of `device`; None if arrays cannot be imported by DLPack.

        This is determined once, by exporting and importing an empty array. It is None if the library's `from_dlpack`
        returns an array on another device, as for a device that does not own its memory, or a read-only array where
        the library's arrays are writable.
        """
        if device.name not in self._memories:
            try:
                probe = self.namespace.empty((0,), device=device.handle)
                back = self.namespace.from_dlpack(probe)
                if not self.immutable and self.capabilities.lacking(["index_assignment", "in_place_update"]) is None:
                    back[...] = 0.0
                memory = tuple(map(int, probe.__dlpack_device__())) if self.device_of(back) == device else None
            except Exception:  # a third-party library may raise anything if it does not support this
                memory = None
            self._memories[device.name] = memory
        return self._memories[device.name]

    def exports(self, array: Array, memory: Any) -> bool:
        """Return whether `array` can be exported by DLPack from `memory`, a DLPack device type and number."""
        if memory is None or not hasattr(array, "__dlpack__"):
            return False
        try:
            return bool(tuple(map(int, array.__dlpack_device__())) == memory)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            return False

    def from_dlpack(self, array: Array, device: Device) -> Array:
        """Return an array of this library that shares the memory of another library's `array`, which is on `device`."""
        made = self.namespace.from_dlpack(array)
        return made if self.device_of(made) == device else NotImplemented

    def suits(self, shape: Shape, dtype: str) -> bool:
        """Return whether this backend should hold arrays of this shape and of the dtype with this name.

        Used only by `to_intel64`, for a backend with the name or prefix ``intel64``; other arrays go to the host.
        """
        return True

    def stopped(self, array: Array) -> Array:
        """Return `array` as a constant of forward mode: without the tangents that it has in transformations."""
        return array

    def sent(self, array: Array, device: Device) -> Array:
        """Return a copy of `array` on a device of another backend if a transformation has its own way, or decline.

        It declines by returning `NotImplemented`.
        """
        return NotImplemented

    def function_outputs(self, function: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """Return the outputs of a `FunctionNode` for these arrays; None if its `forward` is to compute them."""
        return None

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the object that lives as long as the memory of `array`, and the number of bytes of that memory.

        It takes weak references. For a view, return the array that it refers to. By default it is the array.
        """
        spec = self.spec(array)
        return array, spec.size * spec.itemsize

    def is_view(self, array: Array) -> bool:
        """Return whether writing to `array` could change another array. When in doubt, return True."""
        return not self.immutable

    def check(self, array: Array) -> None:
        """Raise `UnknownArray` for an array that must not be in a graph, such as an array with its library's tape."""

    def refusal(self, error: Exception) -> type[XpgradError] | None:
        """Return the error class for an exception of a general class, or None if the arguments are not its cause.

        For a RuntimeError about shapes or dtypes, return `ShapeError` or `DtypeError`. Python's specific classes, such
        as TypeError, need no translation.
        """
        return None

    def laid_out(self, array: Array, spec: Spec) -> Array:
        """Return the gradient of an array of `spec` in the layout of that array; called if `has_layouts` is True."""
        return array

    # Values, for debug mode and printing

    def has_values(self, array: Array) -> bool:
        """Return whether the elements of `array` are available: the elements of a traced array are not."""
        return True

    def is_pending(self, array: Array) -> bool:
        """Return whether the elements of `array` are still to be computed, when somebody reads them."""
        return False

    def any_true(self, conditions: Array) -> bool:
        """Return whether any element is true, in any element of a batch: for code that selects algorithms by values."""
        return bool(self.namespace.any(conditions))

    def largest(self, array: Array) -> float:
        """Return the value of a 0-d array of real numbers, or the largest value of a batch, for branches on values."""
        return float(array)

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is NaN."""
        if not self.is_kind(array.dtype, ("real floating", "complex floating")):
            return False
        return bool(self.namespace.any(self.namespace.isnan(array)))

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays of the same shape have equal values; NaNs are considered equal."""
        xp, same = self.namespace, a == b
        if self.is_kind(a.dtype, ("real floating", "complex floating")):
            same = same | (xp.isnan(a) & xp.isnan(b))
        return bool(xp.all(same))

    def fingerprint(self, array: Array) -> Any:
        """Return a value that changes when `array` is written to: by default a checksum computed on the host."""
        return Device.services.host().fingerprint(self.to_host(array))

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as text whose later lines are indented by the length of `prefix`."""
        return Device.services.host().array_text(self.to_host(array), prefix, separator)

    # Methods of the host backend

    def from_foreign(self, array: Array) -> Array:
        """Return a copy of another library's array in host memory."""
        raise NotImplementedError(f"{self.name}: Backend.from_foreign is implemented by the host backend only")

    def generator(self, seed: int | None) -> Any:
        """Return a random number generator with `random` and `standard_normal`; None gives a random seed."""
        raise NotImplementedError(f"{self.name}: Backend.generator is implemented by the host backend only")


class CarriesGraphs(Backend):
    """A backend whose arrays can be part of a graph; Variables hold plain arrays that share their memory."""

    def held(self, array: Array) -> Array:
        """Return an array that shares the memory of `array` and is never in a graph, for a Variable to hold."""
        return array

    def shown(self, array: Array) -> Array:
        """Return the array that users get for a Variable's array: outside any graph, always the same object."""
        return array

    def variable_of(self, array: Array) -> Any:
        """Return the Variable of `array` in its graph, or None if it is in no graph."""
        return None

    def attach(self, array: Array, variable: Any) -> Any:
        """Make `variable` the Variable of `array` and return None, or return the one to which it is to be connected."""
        raise NotImplementedError(f"{self.name}: CarriesGraphs.attach is not implemented")

    def connected(self, variable: Any) -> Array:
        """Return a view of the array of `variable` that is part of its graph and has a separate gradient."""
        raise NotImplementedError(f"{self.name}: CarriesGraphs.connected is not implemented")
