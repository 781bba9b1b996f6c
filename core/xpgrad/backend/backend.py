"""What xpgrad asks of an array library: a `Backend`."""

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

MAX_SPECS = 4096


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
    has_current_device : bool
        The library computes on a current device of its own, wherever the arrays are; `activate` and `follow` change it.
    carries_graphs : bool
        Arrays can be part of a graph by themselves, so Variables hold plain ones over the same memory.
    declared : Capabilities or None
        What the library lacks; None for nothing.
    zero_dimensional_widen : bool
        The library's operators promote 0-d arrays like others, as the standard says. Where they take them for scalars,
        elementwise functions cast operands of several floating-point dtypes first.
    has_layouts : bool
        Arrays of one shape are cut or spread in many ways, and `laid_out` gives a gradient the layout of its array.
    """

    name: str
    array_types: tuple[type, ...]
    scalar_types: tuple[type, ...] = ()
    namespace: Namespace
    module: Namespace = None
    version: str = "unknown"
    immutable: bool = False
    in_place_from: float = math.inf
    has_current_device: bool = False
    carries_graphs: bool = False
    declared: "Capabilities | None" = None
    zero_dimensional_widen: bool = True
    has_layouts: bool = False

    def __init__(self) -> None:
        self._specs: dict[Any, Spec] = {}
        self._constants: dict[Dtype, dict[Any, Any]] = {}
        self._complex: dict[Dtype, bool] = {}
        self._wide: dict[Dtype, Dtype] = {}
        self._memories: dict[str, Any] = {}
        self.xp = KernelNamespace(self)

    def __repr__(self) -> str:
        name = getattr(self, "name", "without a name")
        return f"<{type(self).__name__} {name}, {getattr(self.module, '__name__', name)} {self.version}>"

    @property
    def capabilities(self) -> "Capabilities":
        """What the library lacks: what is `declared`, or else nothing."""
        from xpgrad.backend.capabilities import Capabilities  # for those who certify, not for every program

        return Capabilities() if self.declared is None else self.declared

    def overrides(self) -> Mapping[str, Kernel]:
        """Return this backend's own kernels by name. They never decline."""
        return {}

    def lazy_override(self, name: str) -> Kernel | None:
        """Return this backend's own kernel `name` of a function or from a library that is imported at its first use."""
        return None

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
        devices = self.devices()
        if not devices:
            raise BackendUnavailable(f"{self.name}: the library has no device here")
        return devices[0]

    def device(self, index: str | None) -> Device:
        """Return the device that stands behind ``@name:`` in a specifier; None means the default one."""
        if index is None:
            return self.default_device
        wanted = f"@{self.name}:{index}"
        for device in self.devices():
            if device.name == wanted:
                return device
        here = ", ".join(map(str, self.devices()))
        raise SpecifierError(f"get_device: unknown device {wanted!r}; {self.name} has {here}")

    def device_of(self, array: Array) -> Device:
        """Return the device of `array`."""
        return self.device_for(self.handle_of(array))

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device that the library calls `handle`."""
        for device in self.devices():
            if device.handle == handle:
                return device
        return Device(self, handle, f"@{self.name}:{handle}")

    def activate(self, device: Device) -> Callable[[], None] | None:
        """Make `device` the library's own current device in this thread; return what undoes that, or None."""
        return None

    def follow(self, function: Kernel) -> Kernel:
        """Return `function` so that it computes on the device of its arrays: itself, where the library does so."""
        return function

    def synchronize(self, device: Device) -> None:
        """Wait until all work on `device` is done. Libraries that run at once need nothing."""

    def memory_used(self, device: Device) -> int | None:
        """Return how many bytes the library's arrays hold on `device`; None where it does not say."""
        return None

    def free_memory(self, device: Device) -> None:
        """Give back what the library holds on `device` for arrays to come. Those without such a store need nothing."""

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
        if len(self._specs) >= MAX_SPECS:
            self._specs.clear()  # the objects in use stay; equality of specs is only ever a shortcut
        return self._specs.setdefault((shape, dtype, device), Spec(shape, dtype, device, self))

    def is_kind(self, dtype: Dtype, kind: str | tuple[str, ...]) -> bool:
        """Tell whether `dtype` is of a kind of the standard's `isdtype`."""
        return bool(self.namespace.isdtype(dtype, kind))

    def wide(self, dtype: Dtype) -> Dtype:
        """Return float32 for narrower floating-point dtypes, whose sums and counts are made in it; else `dtype`."""
        found = self._wide.get(dtype)
        if found is None:
            half = self.is_kind(dtype, "real floating") and self.finfo(dtype).bits < 32
            single = self.namespace.empty((0,), dtype=self.namespace.float32).dtype if half else dtype
            found = self._wide[dtype] = single
        return found

    def finfo(self, dtype: Dtype) -> Any:
        """Return what the library knows of the limits of a floating-point dtype, or of that of an array."""
        return self.namespace.finfo(dtype)

    def default_dtype(self, kind: str) -> Dtype:
        """Return the default dtype of the library for "int", "float" or "complex"."""
        return self.namespace.asarray({"int": 0, "float": 0.0, "complex": 0j}[kind]).dtype

    def dtype_name(self, dtype: Dtype) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]  # a type may stand for a dtype

    def constants_of(self, dtype: Dtype) -> dict[Any, Any]:
        """Return the cache of scalars that `prepare` made for arrays of `dtype`."""
        return self._constants.setdefault(dtype, {})

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return what the kernels get for a Python scalar that meets an array of `spec`.

        The scalar itself, here. A backend may put a 0-d array in its place where that is exact, and cache it in
        `spec.constants`, where the call path looks first.
        """
        return value

    def restore(self, result: Any) -> Array:
        """Return what a kernel gave as an array of this backend: some libraries make scalars of 0-d arrays."""
        return result

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from Python scalars, nested lists of them, or an array of this library."""
        return self.namespace.asarray(obj, dtype=dtype, device=device)

    def ones(self, spec: Spec) -> Array:
        """Return ones of this shape and dtype on this device: where a sweep starts from."""
        return self.namespace.ones(spec.shape, dtype=spec.dtype, device=spec.device)

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

    def dlpack_device(self, device: Device) -> Any:
        """Return what DLPack calls the memory of `device`, type and number; None if arrays cannot come in that way.

        Found out by an empty array, once: if the library's `from_dlpack` does not bring it back to `device`, which is
        so for a device that is not where its memory is, the answer is None; also if what comes back is read-only, and
        the library's arrays are not.
        """
        if device.name not in self._memories:
            try:
                probe = self.namespace.empty((0,), device=device.handle)
                back = self.namespace.from_dlpack(probe)
                if self._writes():
                    back[...] = 0.0
                memory = tuple(map(int, probe.__dlpack_device__())) if self.device_of(back) == device else None
            except Exception:  # a stranger's library: whatever it says, it does not do this
                memory = None
            self._memories[device.name] = memory
        return self._memories[device.name]

    def _writes(self) -> bool:
        return not self.immutable and self.capabilities.lacking(["index_assignment", "in_place_update"]) is None

    def exports(self, array: Array, memory: Any) -> bool:
        """Tell whether `array` lies in `memory`, as DLPack calls it, and can be handed out from there."""
        if memory is None or not hasattr(array, "__dlpack__"):
            return False
        try:
            return bool(tuple(map(int, array.__dlpack_device__())) == memory)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            return False

    def from_dlpack(self, array: Array, device: Device) -> Array:
        """Return an array of this library over the memory of another library's `array`; it must lie on `device`."""
        made = self.namespace.from_dlpack(array)
        return made if self.device_of(made) == device else NotImplemented

    def suits(self, shape: Shape, dtype: str) -> bool:
        """Tell whether arrays of this shape, and of the dtype with this name, are well kept here.

        `to_intel64` asks, of a backend called ``intel64`` or one that claims this prefix; others go to the host.
        """
        return True

    def is_view(self, array: Array) -> bool:
        """Tell whether writing to `array` could show in another array. When in doubt, say yes."""
        return not self.immutable

    def check(self, array: Array) -> None:
        """Raise `UnknownArray` for an array that must not enter a graph, such as one with its library's own tape."""

    def refusal(self, error: Exception) -> type[XpgradError] | None:
        """Return what the library means by an error of a class that says nothing, or None if it is not about arguments.

        `ShapeError` or `DtypeError`, for a RuntimeError. What Python's own classes say is understood without this.
        """
        return None

    def laid_out(self, array: Array, spec: Spec) -> Array:
        """Return the gradient of an array of `spec` in the layout of that array; asked where `has_layouts` says so."""
        return array

    # Arrays that carry their own graph

    def held(self, array: Array) -> Array:
        """Return an array over the memory of `array`, in no graph and never to be in one, for a Variable to hold."""
        return array

    def shown(self, array: Array) -> Array:
        """Return the array that users see of what a Variable holds: in no graph, and the same at each call."""
        return array

    def variable_of(self, array: Array) -> Any:
        """Return the Variable that `array` has in its graph, None if it is in none."""
        return None

    def attach(self, array: Array, variable: Any) -> Any:
        """Make `variable` the one that `array` has, and return None; or return one to which it is to be connected."""
        raise NotImplementedError(f"{self.name}: Backend.attach is not implemented")

    def connected(self, variable: Any) -> Array:
        """Return a view of the array of `variable` that is in its graph, with a gradient of its own."""
        raise NotImplementedError(f"{self.name}: Backend.connected is not implemented")

    # Values, for debug mode and printing

    def has_values(self, array: Array) -> bool:
        """Tell whether the elements of `array` can be looked at: those of an array that is being traced cannot."""
        return True

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

    def fingerprint(self, array: Array) -> Any:
        """Return what differs after `array` was written to: here a checksum of its values, computed on the host."""
        return Device.services.host().fingerprint(self.to_host(array))

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values as text whose later lines are indented by the length of `prefix`."""
        return Device.services.host().array_text(self.to_host(array), prefix, separator)

    # What is asked of the host backend only

    def from_foreign(self, array: Array) -> Array:
        """Return a copy of another library's array that lies in host memory."""
        raise NotImplementedError(f"{self.name}: Backend.from_foreign is not implemented; it is the host backend's")

    def generator(self, seed: int | None) -> Any:
        """Return a new stream of random numbers with `random` and `standard_normal`, seeded by chance for None."""
        raise NotImplementedError(f"{self.name}: Backend.generator is not implemented; it is the host backend's")
