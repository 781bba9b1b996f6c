"""`TransformedBackend`: methods that the backends of all transformations inherit from the backend below."""

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xpgrad.array_api.array_object import METHODS
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import Declaration
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.standard import OPERATORS, python_operator
from xpgrad.config import called_with, plain_at
from xpgrad.errors import EscapedArray
from xpgrad.graph.variable import Variable, as_array, constant_variable
from xpgrad.locks import shared_lock
from xpgrad.transforms.enclosing.namespace import TransformedKernels, TransformedNamespace
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel

SCALARS = frozenset((int, float, bool, complex, str, type(None), type(Ellipsis)))
"""Types of arguments that are no arrays, and hold none."""
B = TypeVar("B", bound="TransformedBackend")
_lock = shared_lock()
_made: dict[tuple[Any, Backend, int], Any] = {}


class Operators(dict[str, Kernel]):
    """The operators of a transformation's arrays by name, as in `standard.OPERATORS`; made when they are first used."""

    def __init__(self, make: Callable[[str, Kernel], Kernel]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Kernel:
        made = self[name] = self._make(OPERATORS[name], python_operator(name))
        return made


def _of_values(name: str) -> Any:
    """Return the method `name` of backends, which the base computes from the values of an array."""
    return lambda self, array, *options: getattr(self.base, name)(array.values, *options)


class TransformedBackend(Backend):
    """The backend of a transformation's arrays, each of which holds arrays of `base`.

    Devices, dtypes and scalars belong to the base.

    Parameters
    ----------
    transformation : str
        Its name: ``trace``.
    base : Backend
    depth : int
        Number of active transformations; arrays of each depth have a separate type.
    array_type : type
        A subclass of `TransformedArray`, the base of that type.

    Attributes
    ----------
    kind : type
        The type of its arrays.
    operators : Operators
    operands : frozenset of type
        Operands of operators in addition to the libraries' scalars: its arrays, arrays of lower levels, and Python
        scalars.
    """

    base: Backend  # never None here

    def __init__(self, transformation: str, base: Backend, depth: int, array_type: type) -> None:
        super().__init__()
        self.base = base  # pyright: ignore[reportIncompatibleVariableOverride]  # it may be None for others
        for name in "_constants_of", "default_dtype", "dtype_name", "is_kind", "refusal", "wide":
            setattr(self, name, getattr(base, name))
        self.transformation, self.depth = transformation, depth
        self.name, self.version = f"{transformation}({base.name})", base.version
        self.declared, self.dtypes = base.declared, base.dtypes
        self.carries_tangents = self.carries_tangents or base.carries_tangents
        self.zero_dimensional_widen = base.zero_dimensional_widen
        own = {"__slots__": (), "backend": self, "__module__": array_type.__module__}
        if any(hasattr(kind, "__array__") for kind in base.array_types):
            own["__array__"] = lambda x, *args, **options: x.exported().__array__(*args, **options)
        self.kind: Any = type(array_type.__name__, (array_type,), own)
        self.array_types = (self.kind,)
        self._base_types = frozenset(base.array_types)
        self._raw: frozenset[type] = self._base_types  # and the types of all levels below
        if isinstance(base, TransformedBackend):
            self._raw |= base._raw
        self.operands = self._raw | SCALARS | {self.kind}
        self.operators = Operators(self.operator)
        self.namespace = TransformedNamespace(self, base.namespace)
        self.module = TransformedNamespace(self, base.namespace if base.module is None else base.module)
        self.xp = TransformedKernels(self)
        self._handles: dict[str, Device] = {}

    def overrides(self) -> Mapping[str, Kernel]:
        """Return no overrides: `xp` finds the kernels."""
        return {}

    # Differences between transformations

    @abstractmethod
    def operator(self, name: str, function: Kernel) -> Kernel:
        """Return the operator `function` of the base, which computes ``name``, as one of this backend's arrays."""

    @abstractmethod
    def library_function(self, name: str, function: Kernel) -> Kernel:
        """Return a function of the base's namespace, ``linalg.det``, as one of this backend's arrays."""

    @abstractmethod
    def declared_kernel(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return a kernel; `body` is its default body, which computes with this backend's arrays."""

    @abstractmethod
    def drawn(self, name: str) -> Kernel:
        """Return a kernel that draws random numbers from the stream of the base's device."""

    @abstractmethod
    def getitem(self, x: Array, index: Any) -> Array:
        """Return ``x[index]``."""

    @abstractmethod
    def array_function(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of NumPy with arrays of this backend."""

    @abstractmethod
    def protocol(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a ufunc of NumPy with arrays of this backend."""

    @abstractmethod
    def constant(self, array: Array) -> Array:
        """Return an array of the base as one of this backend, in the level that is active."""

    @abstractmethod
    def mapped(self, name: str, array: Array, function: Callable[[Array], Array]) -> Array:
        """Return the result of a linear function of the base that keeps or copies all elements."""

    def replacement(self, name: str) -> Kernel | None:
        """Return the base's replacement of a kernel as a function of this backend's arrays, or None."""
        return None

    def write(self, name: str, function: Kernel, args: tuple[Any, ...]) -> Any:
        """Call a function that writes to its first argument, or raise."""
        raise args[0].error(
            f"{args[0].level.title}: {args[0].noun} cannot be written to; assign to elements of its Variable, "
            "v[index] = value, or use xp.where"
        )

    def attribute(self, array: Array, name: str) -> Any:
        """Return an attribute that the library's arrays have beyond the standard, as Variables have it; or raise."""
        found = self.root.method(name) or METHODS.get(name)
        if found is None or not hasattr(self.root.array_types[0], name):
            raise AttributeError(
                f"{array.noun} has no attribute {name!r}; use functions of the Array API standard", name=name, obj=array
            )
        if isinstance(found, property):
            return self.by_variables(found.fget, (array,), {})
        return lambda *args, **kwargs: self.by_variables(found, (array, *args), kwargs)

    def by_variables(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of Variables with arrays of this backend, and return arrays."""
        return called_with(plain_at(self.level()), self._called_plain, function, args, kwargs)

    def _called_plain(self, function: Any, args: Any, kwargs: Any) -> Any:
        return _unwrapped(function(*self._wrapped(args), **self._wrapped(kwargs)))

    def _wrapped(self, tree: Any) -> Any:
        kind = type(tree)
        if kind is self.kind:
            return constant_variable(tree)
        if kind in self._base_types:
            return constant_variable(self.constant(tree))
        if kind is tuple or kind is list:
            return kind([self._wrapped(item) for item in tree])
        if kind is dict:
            return {name: self._wrapped(item) for name, item in tree.items()}
        return tree

    # Levels, and arrays in nested arguments

    def level(self) -> Any:
        """Return the level of this thread whose arrays these are, for functions that take no arrays."""
        level = around()
        while level is not None:
            if level.depth == self.depth and level.transformation == self.transformation:
                return level
            level = level.outer
        raise EscapedArray(f"{self.name}: no such transformation is active in this thread; call the function within it")

    def replaced(self, tree: Any, chosen: Callable[[Any], Any]) -> Any:
        """Return nested arguments with ``chosen(x)`` for each array `x`, and the base's specs and devices."""
        kind = type(tree)
        if kind in SCALARS:
            return tree
        if isinstance(tree, Variable):
            tree = as_array(tree)
            kind = type(tree)
        if kind is self.kind:
            return chosen(tree)
        if isinstance(tree, (tuple, list)):
            if kind is tuple and SCALARS.issuperset(map(type, tree)):
                return tree
            return getattr(tree, "_make", kind)([self.replaced(item, chosen) for item in tree])
        if kind is dict:
            return {name: self.replaced(item, chosen) for name, item in tree.items()}
        if kind is slice:
            return slice(*[x if x is None else operator.index(x) for x in (tree.start, tree.stop, tree.step)])
        if isinstance(tree, Spec) and tree.backend is self:
            return base_spec(tree)
        if isinstance(tree, Device) and tree.backend is self:
            return self.base.device_for(tree.handle)
        return tree

    def made_of(self, out: Any, make: Callable[[Array], Any]) -> Any:
        """Return the result of a function of the base, with ``make(array)`` for each array."""
        if type(out) in self._base_types:
            return make(out)
        if isinstance(out, self.base.scalar_types):
            return make(self.base.restore(out))
        if isinstance(out, (tuple, list)):
            return getattr(out, "_make", type(out))([self.made_of(item, make) for item in out])
        return out

    def static(self, function: Kernel) -> Kernel:
        """Return a function whose result does not depend on values as one of this backend's arrays."""
        return lambda *args, **kwargs: function(*self.replaced(args, _values), **self.replaced(kwargs, _values))

    # Arrays

    def restore(self, result: Any) -> Array:
        """Return the result of a kernel as an array of this backend."""
        return result if type(result) is self.kind else self.made_of(result, self.constant)

    def ones(self, spec: Spec) -> Array:
        """Return ones."""
        return self.constant(self.base.ones(base_spec(spec)))

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or an array of this backend."""
        if type(obj) is not self.kind:
            return self.constant(self.base.asarray(obj, dtype=dtype, device=device))
        return self.mapped("asarray", obj, functools.partial(self.base.asarray, dtype=dtype, device=device))

    def copy(self, array: Array) -> Array:
        """Return a copy."""
        return self.mapped("copy", array, self.base.copy)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy on another device of the library."""
        target = self.base.device_for(device.handle)
        return self.mapped("to_device", array, lambda x: self.base.move(x, target))

    def to_host(self, array: Array) -> Array:
        """Return a copy on the host, or raise if its values are not available."""
        return self.base.to_host(array.values_for("it was moved to the host"))

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array on a device."""
        return self.constant(self.base.from_host(array, self.base.device_for(device.handle)))

    any_true, array_text, fingerprint, has_nan, has_values, is_pending, largest, owner = map(
        _of_values,
        ("any_true", "array_text", "fingerprint", "has_nan", "has_values", "is_pending", "largest", "owner"),
    )

    def is_view(self, array: Array) -> bool:
        """Return whether writing to `array` could change another."""
        return not self.immutable and self.base.is_view(array.values)

    def check(self, array: Array) -> None:
        """Raise for an array of a call that has ended."""
        array.level.check()

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays have equal values."""
        return self.base.same_values(a.values, b.values)

    @property
    def thresholds(self) -> Mapping[str, Sequence[int]]:
        """The sizes at which the base takes another path."""
        return self.base.thresholds

    # Devices of the base

    def devices(self) -> Sequence[Device]:
        """Return the devices of the base as devices of this backend."""
        return [self.over(device) for device in self.base.devices()]

    def over(self, device: Device) -> Device:
        """Return the device of this backend over a device of its base."""
        found = self._handles.get(device.name)
        if found is None:
            index = device.name.removeprefix(f"@{self.base.name}")
            name = f"@{self.name}{index}" if index != device.name else f"@{self.name}:{device.name}"
            kind = type(device)  # with the attributes of the plugin's devices
            found = self._handles[device.name] = kind.__new__(kind)
            Device.__init__(found, self, device.handle, name)
        return found

    def device_for(self, handle: DeviceHandle) -> Device:
        """Return the device with the library's device object `handle`."""
        return self.over(self.base.device_for(handle))

    def activate(self, device: Device) -> Callable[[], None] | None:
        """Make the base's device the current device of the library."""
        return self.base.activate(self.base.device_for(device.handle))

    def synchronize(self, device: Device) -> None:
        """Wait until all work on the base's device has finished."""
        self.base.synchronize(self.base.device_for(device.handle))

    # Dtypes and scalars

    def finfo(self, dtype: Dtype) -> Any:
        """Return the limits of a floating-point dtype."""
        return self.base.finfo(dtype.dtype if type(dtype) in self.array_types else dtype)

    def prepare(self, value: Any, spec: Spec) -> Any:
        """Return a scalar as the operand that the base prepares."""
        return self.base.prepare(value, base_spec(spec))

    # Arrays of other libraries are lifted without conversion

    def exports(self, array: Array, memory: Any) -> bool:
        """Return False: no other library shares an array of a transformation."""
        return False

    def dlpack_device(self, device: Device) -> Any:
        """Return None: arrays of other libraries are lifted without conversion."""
        return None


def _unwrapped(tree: Any) -> Any:
    if isinstance(tree, Variable):
        return tree._array
    if isinstance(tree, (tuple, list)):
        return getattr(tree, "_make", type(tree))([_unwrapped(item) for item in tree])
    return tree


def _values(x: Array) -> Array:
    return x.values


def base_spec(spec: Spec) -> Spec:
    """Return the spec of the base's array for the spec of a transformation's array of the same shape."""
    base: Any = spec.backend.base
    found: Spec = base.spec_for(spec.shape, spec.dtype, spec.device)
    return found


def backend_over(make: Callable[[Backend, int], B], base: Backend, depth: int) -> B:
    """Return ``make(base, depth)``, always the same object, including concurrent first calls of several threads."""
    key = make, base, depth
    found: B | None = _made.get(key)
    if found is None:
        with _lock:
            found = _made.get(key)
            if found is None:
                found = make(base, depth)
                plugins.by_type[found.array_types[0]] = found
                _made[key] = found
    return found
