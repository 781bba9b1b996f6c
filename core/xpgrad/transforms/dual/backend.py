"""`DualBackend`: the backend of dual arrays over those of another backend."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import table
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.transfer import transfer
from xpgrad.config import call_plain
from xpgrad.errors import EscapedArray, GradientError
from xpgrad.graph.definition import Definition
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.namespaces import DualKernels, DualNamespace
from xpgrad.transforms.dual.tangents import derived
from xpgrad.transforms.dual.transposition import node_outputs
from xpgrad.transforms.enclosing.backend import TransformedBackend, backend_over, base_spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel

PLAIN = frozenset((int, float, bool, complex, str, type(None), type(Ellipsis)))
NO_TANGENT = frozenset(("empty_like", "full_like", "nonzero", "ones_like", "zeros_like"))
"""Functions of the library whose results do not change with the values of their first array."""


class DualBackend(TransformedBackend):
    """Arrays of `base` with tangents.

    Parameters
    ----------
    base : Backend
    depth : int
        How many transformations are active with it; arrays of each depth have a type of their own.
    """

    carries_tangents = True
    immutable = True  # what a tangent was computed from must not change

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("dual", base, depth)
        self.kind: type[DualArray] = type(
            "DualArray", (DualArray,), {"__slots__": (), "backend": self, "__module__": DualArray.__module__}
        )
        self.array_types = (self.kind,)
        self.scalar_types = base.scalar_types
        self.namespace = DualNamespace(self, base.namespace)
        self.module = DualNamespace(self, base.namespace if base.module is None else base.module)
        self.xp = DualKernels(self)
        self._functions: dict[str, Callable[..., Any]] = {}

    def overrides(self) -> Mapping[str, Kernel]:
        """Return no kernels: those of the base are found by their primitives."""
        return {}

    # Levels

    def level(self) -> Any:
        """Return the level of this thread whose arrays these are, for functions that take no arrays."""
        level = around()
        while level is not None:
            if level.depth == self.depth and level.device(self.base.default_device).backend is self:
                return level
            level = level.outer
        raise EscapedArray(f"{self.name}: no function is in forward mode in this thread; call it within jvp")

    def meets(self, other: Any) -> bool:
        """Return whether an operator takes `other`: a dual array, one of the levels below, or a scalar."""
        kind = type(other)
        return kind is self.kind or kind in PLAIN or kind in self._raw or plugins.is_scalar(other)

    # Functions

    def function(self, name: str, kernel: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Return the primitive `name` as a function of dual arrays, the same one each time.

        `kernel` computes it on arrays of the base; operators have another one than the function.
        """
        key = name if kernel is None else f"{name}()"
        found = self._functions.get(key)
        if found is None:
            definition: Any = table.definition(name)
            found = self._functions[key] = derived(self, definition, kernel)
        return found

    def primitive(self, definition: Definition) -> Callable[..., Any]:
        """Return a primitive as a function of dual arrays."""
        return derived(self, definition, None)

    def by_library(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the library that is no primitive as one of dual arrays.

        Without a tangent it is the library's. Else it is that of Variables, which consists of primitives.
        """
        short = name.rpartition(".")[2]

        def called(*args: Any, **kwargs: Any) -> Any:
            level, levels = self.level(), list[Any]()
            if not self.has_tangent((args[1:] if short in NO_TANGENT else args, kwargs)):
                return self.closed(level, function(*self.opened(args, levels), **self.opened(kwargs, levels)))
            if name in level.deriving:
                raise self._missing(name)
            level.deriving.append(name)
            try:
                return self.by_variables(self._of_variables(name), args, kwargs)
            finally:
                level.deriving.pop()

        return called

    def _of_variables(self, name: str) -> Any:
        found: Any = slot.functions.namespace(self)
        try:
            for part in name.split("."):
                found = getattr(found, part)
        except AttributeError:
            raise self._missing(name) from None
        return found

    def _missing(self, name: str) -> GradientError:
        return GradientError(
            f"jvp: {name} of {self.base.name} has no derivative in forward mode; call functions of xpgrad.array_api, "
            "or apply stop_gradient to its arguments"
        )

    def by_variables(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function of Variables with dual arrays, and return dual arrays."""
        return _unwrapped(call_plain(function, *self._wrapped(args), **self._wrapped(kwargs)))

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

    def protocol(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a ufunc of NumPy with dual arrays; memory from outside that it writes to gets the primals."""
        if not hasattr(self.base.array_types[0], "__array_ufunc__"):
            return NotImplemented
        if options.get("out") is not None:
            function = ufunc if method == "__call__" else getattr(ufunc, method)
            return function(*self.opened(inputs, []), **options)
        definition: Any = table.definition(ufunc.__name__)
        if method == "__call__" and not options and definition is not None and len(definition.inputs) == ufunc.nin:
            return self.function(ufunc.__name__)(*inputs)
        return self.by_variables(ufunc if method == "__call__" else getattr(ufunc, method), inputs, options)

    def function_outputs(self, function: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """Return the outputs of a function node: its forward on the primals, and what its backward transposes to."""
        outputs: tuple[Array, ...] | None = node_outputs(self, function, arrays)
        return outputs

    # Arrays in nested arguments

    def opened(self, tree: Any, levels: list[Any]) -> Any:
        """Return nested arguments with primals; their levels are added to `levels`."""
        kind = type(tree)
        if kind in PLAIN:
            return tree
        if kind is self.kind:
            levels.append(joined(levels[-1] if levels else None, tree))
            return tree.primal
        if isinstance(tree, (tuple, list)):
            return getattr(tree, "_make", kind)([self.opened(item, levels) for item in tree])
        if kind is dict:
            return {name: self.opened(item, levels) for name, item in tree.items()}
        if kind is slice:
            return slice(*self.opened((tree.start, tree.stop, tree.step), levels))
        if isinstance(tree, Spec) and tree.backend is self:
            return base_spec(tree)
        if isinstance(tree, Device) and tree.backend is self:
            return self.base.device_for(tree.handle)
        return tree

    def has_tangent(self, tree: Any) -> bool:
        """Return whether an array in nested arguments has a tangent."""
        if type(tree) is self.kind:
            return tree.tangent is not None
        if isinstance(tree, (tuple, list)):
            return any(map(self.has_tangent, tree))
        return isinstance(tree, dict) and any(map(self.has_tangent, tree.values()))

    def closed(self, level: Any, out: Any) -> Any:
        """Return what a function of the base returned with its arrays as dual ones without a tangent."""
        if type(out) not in self._base_types and self.base.scalar_types and isinstance(out, self.base.scalar_types):
            out = self.base.restore(out)
        if type(out) in self._base_types:
            return self.kind(level, out, None)
        if isinstance(out, (tuple, list)):
            return getattr(out, "_make", type(out))([self.closed(level, item) for item in out])
        return out

    # What a backend does with arrays

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return self.base.handle_of(array.like)

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        like = array.like
        return self.spec_for(like.shape, like.dtype, self.base.handle_of(like))

    def constant(self, array: Array) -> DualArray:
        """Return an array of the base without a tangent."""
        return self.kind(self.level(), array, None)

    def restore(self, result: Any) -> Array:
        """Return the result of a kernel as a dual array."""
        return result if type(result) is self.kind else self.closed(self.level(), result)

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or a dual array, whose tangent it has."""
        if type(obj) is not self.kind:
            return self.constant(self.base.asarray(obj, dtype, device))
        return self.mapped(obj, functools.partial(self.base.asarray, dtype=dtype, device=device))

    def mapped(self, array: Array, function: Callable[[Array], Array]) -> DualArray:
        """Return the results of a linear function of the base for primal and tangent."""
        level, primal = joined(None, array), function(array.primal)
        counts = array.tangent is not None and self.is_kind(primal.dtype, ("real floating", "complex floating"))
        return self.kind(level, primal, function(array.tangent) if counts else None)

    def ones(self, spec: Spec) -> Array:
        """Return ones."""
        return self.constant(self.base.ones(base_spec(spec)))

    def copy(self, array: Array) -> Array:
        """Return a copy."""
        return self.mapped(array, self.base.copy)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy on another device of the library."""
        target = self.base.device_for(device.handle)
        return self.mapped(array, lambda each: self.base.move(each, target))

    def sent(self, array: Array, device: Device) -> Array:
        """Return a copy on a device of another library, with its tangent."""
        target = device.backend
        if not isinstance(target, DualBackend) or target.depth != self.depth or target is self:
            return NotImplemented
        place = target.base.device_for(device.handle)
        level, t = joined(None, array), array.tangent
        return target.kind(level, transfer(array.primal, place), None if t is None else transfer(t, place))

    def to_host(self, array: Array) -> Array:
        """Return a copy of the primal on the host."""
        return self.base.to_host(array.value())

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array on a device, without a tangent."""
        return self.constant(self.base.from_host(array, self.base.device_for(device.handle)))

    def stopped(self, array: Array) -> Array:
        """Return `array` without a tangent, at all levels."""
        return self.kind(joined(None, array), self.base.stopped(array.primal), None)

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the owner of the values."""
        return self.base.owner(array.value())

    def is_pending(self, array: Array) -> bool:
        """Return whether the values are."""
        return self.base.is_pending(array.value())

    def is_view(self, array: Array) -> bool:
        """Return False: nothing writes to dual arrays."""
        return False

    def check(self, array: Array) -> None:
        """Raise for an array of a call that has ended."""
        array.level.check()

    def has_values(self, array: Array) -> bool:
        """Return whether the elements of the primal are available."""
        return self.base.has_values(array.primal)

    def any_true(self, conditions: Array) -> bool:
        """Return whether any element is true."""
        return self.base.any_true(conditions.primal)

    def largest(self, array: Array) -> float:
        """Return the value of the primal."""
        return self.base.largest(array.primal)

    def has_nan(self, array: Array) -> bool:
        """Return whether any element of the primal or of the tangent is NaN."""
        parts = (array.primal, array.tangent)
        return any(part is not None and self.base.has_nan(part) for part in parts)

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays have equal primals."""
        return self.base.same_values(a.primal, b.primal)

    def fingerprint(self, array: Array) -> Any:
        """Return a value that changes when the primal is written to."""
        return self.base.fingerprint(array.primal)

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values of the primal."""
        return self.base.array_text(array.value(), prefix, separator)


def joined(level: Any, array: DualArray) -> Any:
    """Return the level of `array`, which must be `level` if there is one.

    Raises
    ------
    EscapedArray
        The level has ended, or is another one.
    """
    own = array.level
    if not own.live:
        own.check()
    if level is not None and level is not own:
        raise EscapedArray(
            f"{own.title}: arrays of two calls of a transformation were mixed; pass one as an argument of the other"
        )
    return own


def _unwrapped(tree: Any) -> Any:
    if isinstance(tree, Variable):
        return tree._array
    if isinstance(tree, (tuple, list)):
        return getattr(tree, "_make", type(tree))([_unwrapped(item) for item in tree])
    return tree


def over(base: Backend, depth: int = 1) -> DualBackend:
    """Return the backend of dual arrays over those of `base`, the same one each time."""
    return backend_over(DualBackend, base, depth)
