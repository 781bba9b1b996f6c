"""`DualBackend`: the backend of dual arrays over arrays of another backend."""

import functools
import operator
from collections.abc import Callable
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.kernels import OWNER, Declaration, table
from xpgrad.backend.spec import Spec
from xpgrad.backend.transfer import transfer
from xpgrad.errors import EscapedArray, GradientError
from xpgrad.graph.definition import Definition
from xpgrad.graph.slot import slot
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.rules import GRADIENTS, ROWS
from xpgrad.transforms.dual.tangents import derived, gradient_kernel
from xpgrad.transforms.dual.transposition import node_outputs
from xpgrad.transforms.enclosing.backend import SCALARS, TransformedBackend, backend_over
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape

NO_TANGENT = frozenset(("empty_like", "full_like", "nonzero", "ones_like", "zeros_like"))
"""Functions of the library whose results do not change with the values of their first array."""


class DualBackend(TransformedBackend):
    """Arrays of `base` with tangents.

    Parameters
    ----------
    base : Backend
    depth : int
        Number of active transformations; arrays of each depth have a separate type.
    """

    carries_tangents = True
    immutable = True  # inputs of a tangent must not change

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("dual", base, depth, DualArray)
        self.scalar_types = base.scalar_types
        self._functions: dict[str, Callable[..., Any]] = {}

    # Functions

    def function(self, name: str, kernel: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Return the primitive `name` as a function of dual arrays, always the same object.

        `kernel` computes it on arrays of the base; operators have a different kernel from the function.
        """
        key = name if kernel is None else f"{name}()"
        found = self._functions.get(key)
        if found is None:
            definition: Any = table.definition(name)
            found = self._functions[key] = self.derived(definition, kernel)
        return found

    def derived(self, definition: Definition, kernel: Kernel | None) -> Callable[..., Any]:
        """Return a primitive as a function of dual arrays; `kernel` computes it on arrays of the base."""
        return derived(self, definition, kernel)

    def primitive(self, definition: Definition) -> Callable[..., Any]:
        """Return a primitive as a function of dual arrays."""
        return self.derived(definition, None)

    def replacement(self, name: str) -> Kernel | None:
        """Return the base's gradient kernel if a row has its tangent, or None."""
        found = self.base.xp.find(name) if name in GRADIENTS else None
        return None if found is None else functools.partial(gradient_kernel, self, ROWS[name], self.base.follow(found))

    def operator(self, name: str, function: Kernel) -> Kernel:
        """Return an operator as a function of dual arrays: another kernel of the primitive."""
        return self.function(name, function)

    def getitem(self, x: Array, index: Any) -> Array:
        """Return ``x[index]``."""
        return self.function("getitem", _item)(x, index=index)

    def library_function(self, name: str, function: Kernel) -> Kernel:
        """Return a function of the library: the primitive of its name, or the result of `by_library`."""
        if name in ("asarray", "astype"):
            return functools.partial(_asarray if name == "asarray" else _astype, self)
        definition: Any = table.definition(name)
        if definition is None:
            return self.by_library(name, self.base.follow(function))

        def called(*args: Any, **kwargs: Any) -> Any:
            operands, parameters = definition.bind(args, kwargs)
            return self.function(name)(*operands, **parameters)

        return called

    def declared_kernel(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return a kernel: for a primitive with its tangent, for any other kernel by its body."""
        name = declaration.name
        if name == "accumulate":  # which may write to its first argument
            return self.function("add")
        if name == "scatter_add":
            return self._scattered
        definition: Any = table.definition(name)
        if definition is not None and definition.kernel is declaration:
            return self.function(name) if OWNER not in name else self.primitive(definition)
        return self._by_body(declaration, body)

    def _by_body(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return a kernel that no primitive has: the base's without tangents, else its default body."""

        def called(*args: Any, **parameters: Any) -> Any:
            if body is not None and self.has_tangent((args, parameters)):
                return body(*args, **parameters)
            kernel, levels = self.base.xp.kernel_of(declaration), list[Any]()
            out = kernel(*self.opened(args, levels), **self.opened(parameters, levels))
            return self.closed(self.level(), out)

        return called

    def _scattered(self, spec: Any, parts: list[Any], /) -> Any:
        """Return zeros with values added at their indices; the tangents are added at the same indices."""
        base, levels = self.base, list[Any]()
        plain, opened = self.opened(spec, levels), self.opened(parts, levels)
        values = [value.tangent if type(value) is self.kind else None for _, value in parts]
        moved = [(index, t) for (index, _), t in zip(opened, values, strict=True) if t is not None]
        primal = base.xp.scatter_add(plain, opened)
        return self.kind(self.level(), primal, base.xp.scatter_add(plain, moved) if moved else None)

    def drawn(self, name: str) -> Kernel:
        """Return a kernel that draws random numbers from the stream of the base's device, without a tangent."""

        def drawn(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Any:
            self.level().note_draw()
            return self.constant(random.draw(name, shape, dtype, self.base.device_for(device)))

        return drawn

    def by_library(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the library that is not a primitive as a function of dual arrays.

        Without a tangent, the library's function is called. Otherwise the function of Variables is called, which
        consists of primitives.
        """
        short = name.rpartition(".")[2]

        def called(*args: Any, **kwargs: Any) -> Any:
            level, levels = self.level(), list[Any]()
            if not self.has_tangent((args[1:] if short in NO_TANGENT else args, kwargs)):
                return self.closed(level, function(*self.opened(args, levels), **self.opened(kwargs, levels)))
            if (name, self) in level.deriving:
                raise self._missing(name)
            level.deriving.append((name, self))
            try:
                return self.by_variables(self._of_variables(name), args, kwargs)
            finally:
                level.deriving.pop()

        return called

    def _of_variables(self, name: str) -> Any:
        try:
            return operator.attrgetter(name)(slot.functions.namespace(self))
        except AttributeError:
            raise self._missing(name) from None

    def _missing(self, name: str) -> GradientError:
        return GradientError(
            f"jvp: {name} of {self.base.name} has no derivative in forward mode; call functions of xpgrad.array_api, "
            "or apply stop_gradient to its arguments"
        )

    def array_function(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of NumPy, as one of Variables."""
        return self.by_variables(function, args, kwargs)

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
        """Return the outputs of a function node: its forward on the primals, and tangents by transposed backward."""
        outputs: tuple[Array, ...] | None = node_outputs(self, function, arrays)
        return outputs

    # Arrays in nested arguments

    def opened(self, tree: Any, levels: list[Any]) -> Any:
        """Return nested arguments with primals; their levels are added to `levels`."""
        return tree if type(tree) in SCALARS else self.replaced(tree, functools.partial(_opened, levels))

    def has_tangent(self, tree: Any) -> bool:
        """Return whether an array in nested arguments has a tangent."""
        if type(tree) is self.kind:
            return tree.tangent is not None
        if isinstance(tree, (tuple, list)):
            return any(map(self.has_tangent, tree))
        return isinstance(tree, dict) and any(map(self.has_tangent, tree.values()))

    def closed(self, level: Any, out: Any) -> Any:
        """Return the result of a function of the base with its arrays as dual arrays without a tangent."""
        return self.made_of(out, lambda array: self.kind(level, array, None))

    # Operations of a backend on arrays

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return self.base.handle_of(array.like)

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        like = array.like
        return self.spec_for(like.shape, like.dtype, self.base.handle_of(like))

    def constant(self, array: Array) -> Array:
        """Return an array of the base without a tangent."""
        return self.kind(self.level(), array, None)

    def mapped(self, name: str, array: Array, function: Callable[[Array], Array]) -> Array:
        """Return the results of a linear function of the base for primal and tangent."""
        level, primal = joined(None, array), function(array.primal)
        counts = array.tangent is not None and self.is_kind(primal.dtype, ("real floating", "complex floating"))
        return self.kind(level, primal, function(array.tangent) if counts else None)

    def sent(self, array: Array, device: Device) -> Array:
        """Return a copy on a device of another library, with its tangent."""
        target = device.backend
        if not isinstance(target, DualBackend) or target.depth != self.depth or target is self:
            return NotImplemented
        place = target.base.device_for(device.handle)
        level, t = joined(None, array), array.tangent
        return target.kind(level, transfer(array.primal, place), None if t is None else transfer(t, place))

    def stopped(self, array: Array) -> Array:
        """Return `array` without a tangent, at all levels."""
        return self.kind(joined(None, array), self.base.stopped(array.primal), None)

    def has_nan(self, array: Array) -> bool:
        """Return whether any element of the primal or of the tangent is NaN."""
        parts = (array.primal, array.tangent)
        return any(part is not None and self.base.has_nan(part) for part in parts)


def joined(level: Any, array: DualArray) -> Any:
    """Return the level of `array`, which must equal `level` unless that is None.

    Raises
    ------
    EscapedArray
        The level has ended, or is not `level`.
    """
    own = array.level
    if not own.live:
        own.check()
    if level is not None and level is not own:
        raise EscapedArray(
            f"{own.title}: arrays of two calls of a transformation were mixed; pass one as an argument of the other"
        )
    return own


def _opened(levels: list[Any], x: Array) -> Array:
    own = x.level
    if not own.live or (levels and own is not levels[-1]):
        joined(levels[-1] if levels else None, x)  # raises
    levels.append(own)
    return x.primal


def _item(x: Array, index: Any) -> Array:
    return x[index]


def _asarray(
    backend: DualBackend, obj: Any, /, *, dtype: Dtype | None = None, device: Any = None, copy: bool | None = None
) -> Any:
    make = functools.partial(backend.base.namespace.asarray, dtype=dtype, device=device, copy=copy)
    if type(obj) is backend.kind:
        return backend.mapped("asarray", obj, make)
    return backend.constant(make(backend.opened(obj, [])))


def _astype(backend: DualBackend, x: Any, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Any:
    cast = backend.base.xp.astype
    return backend.mapped("astype", x, lambda each: cast(each, dtype, copy=copy))


def over(base: Backend, depth: int = 1) -> DualBackend:
    """Return the backend of dual arrays over arrays of `base`, always the same object."""
    return backend_over(DualBackend, base, depth)
