"""`BatchBackend`: the backend of batched arrays over arrays of another backend."""

import operator
from collections.abc import Callable
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.current import call_on
from xpgrad.backend.holder import unwrap
from xpgrad.backend.kernels import Declaration, table
from xpgrad.backend.spec import Spec
from xpgrad.errors import BatchError, UnknownArray
from xpgrad.transforms.batch import rows as _rows  # noqa: F401 - fills the table
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.elementwise import elementwise
from xpgrad.transforms.batch.rows.table import BY_BODY, Row, gradient_rows, rows
from xpgrad.transforms.enclosing.backend import SCALARS, TransformedBackend, backend_over
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape

NO_RULE = (
    "{}: {} has no rule for batches; write it with functions of the Array API standard, or call it outside of the "
    "batched function"
)
ABSENT = object()
"""The second argument of functions of one array; None is an argument of `clip`."""


class BatchBackend(TransformedBackend):
    """Arrays of `base` with a hidden axis.

    Parameters
    ----------
    base : Backend
    depth : int
        Number of active transformations; arrays of each depth have a separate type.
    """

    immutable = True

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("batch", base, depth, BatchArray)
        self._getitem = self.operator("x[]", operator.getitem)

    # Functions

    def current(self) -> Batching:
        """Return the batch of this thread, for functions that take no batched arrays."""
        batching: Batching = self.level().batching(self)
        return batching

    def operator(self, name: str, function: Kernel) -> Kernel:
        """Return an operator, which is computed by the row of the function `name`."""
        return self.by_row(name, rows.get(name), self.base.follow(function))

    library_function = operator

    def getitem(self, x: Array, index: Any) -> Array:
        """Return ``x[index]``."""
        return self._getitem(x, index)

    def replacement(self, name: str) -> Kernel | None:
        """Return the base's gradient kernel by its row, or None; other kernels are found by `declared_kernel`."""
        row = gradient_rows.get(name)
        found = None if row is None else self.base.xp.find(name)
        return None if found is None else self.by_row(name, row, self.base.follow(found))

    def declared_kernel(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return a kernel: by its row, by the base's kernel if it is elementwise, or by its default body."""
        name = declaration.name
        row = None if name in BY_BODY else rows.get(name)
        definition: Any = table.definition(name)
        if row is None and definition is not None and definition.elementwise:
            row = elementwise
        if row is None and body is not None:
            if name in BY_BODY:
                return body
            row = lambda b, function, *args, **options: body(*args, **options)  # noqa: E731
        return self.by_row(name, row, self.base.xp.kernel_of(declaration))

    def by_row(self, name: str, row: Row | None, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` of the base as a function of batched arrays.

        Parameters
        ----------
        name : str
        row : Row or None
            None if the function cannot be batched.
        function : callable
        """
        kind, types = self.kind, self._base_types
        if row is elementwise:
            return self._elementwise(function)

        scales = name in ("add", "multiply")

        def batched(*args: Any, **kwargs: Any) -> Any:
            if scales and len(args) == 2 and type(args[0]) is kind and args[0].later is None:
                x1, x2 = args
                if (type(x2) in SCALARS or (type(x2) in types and not x2.shape)) and x1.batching.level.live:
                    out = function(x1.values, x2)
                    return kind(x1.batching, out if type(out) in types else self.base.restore(out), x1.batched)
            b: Batching | None = None
            some = False
            for x in args:
                if type(x) is kind:
                    if b is None:
                        b = x.batching
                    elif x.batching is not b:
                        b.check_same(x.batching)
                    some = some or x.batched
                elif type(x) not in SCALARS:
                    b, some = self._scanned(x, b, some)
            for key, x in kwargs.items():
                if type(x) not in SCALARS:
                    kwargs[key] = array = unwrap(x)  # parameters of kernels may be Variables
                    b, some = self._scanned(array, b, some)
            if b is None:
                b = self.current()
            elif not b.level.live:
                b.level.check()
            if not some:
                given = [x.values if type(x) is kind else self.replaced(x, _values) for x in args]
                out = function(*given, **(kwargs and self.replaced(kwargs, _values)))
                return kind(b, out, False) if type(out) in types else self.made_of(out, b.same)
            if row is None:
                raise BatchError(NO_RULE.format(b.title, name))
            return self._computed(b, row, function, args, kwargs)

        return batched

    def _elementwise(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same as `by_row` for an elementwise function, without an additional frame for common operands."""
        kind, types = self.kind, self._base_types

        def general(*args: Any, **kwargs: Any) -> Any:
            b, some = self._scanned((args, kwargs), None, False)
            b = b or self.current()
            b.check()
            if not some:
                given = [self.replaced(x, _values) for x in args]
                return self.made_of(function(*given, **self.replaced(kwargs, _values)), b.same)
            return self._computed(b, elementwise, function, args, kwargs)

        def batched(x1: Any, x2: Any = ABSENT, /, *args: Any, **kwargs: Any) -> Any:
            if args or kwargs or x2 is ABSENT:
                if args or kwargs or type(x1) is not kind or not x1.batching.level.live:
                    return general(x1, *(() if x2 is ABSENT else (x2,)), *args, **kwargs)
                out = function(x1.values)
                lead = x1
            elif type(x1) is kind and x1.batching.level.live:
                lead = x1
                if type(x2) is kind:
                    if x2.batching is not x1.batching or x2.batched != x1.batched or x1.ndim != x2.ndim:
                        return general(x1, x2)
                    out = function(x1.values, x2.values)
                elif type(x2) in SCALARS or (type(x2) in types and not x2.shape):
                    out = function(x1.values, x2)
                else:
                    return general(x1, x2)
            else:
                return general(x1, x2)
            if type(out) not in types:
                out = self.base.restore(out)
            return kind(lead.batching, out, lead.batched)

        return batched

    def _computed(self, b: Batching, row: Row, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return the result of a row, or raise the error of the function for one batch element."""
        if not self._raw.isdisjoint(map(type, (*args, *kwargs.values()))):  # they are shared by all batch elements
            args = [b.level.enter(x) if type(x) in self._raw and x.shape else x for x in args]
            kwargs = {name: b.level.enter(x) if type(x) in self._raw else x for name, x in kwargs.items()}
        own: Exception | None
        try:
            return row(b, function, *args, **kwargs)
        except Exception as error:
            own = None if isinstance(error, BatchError) else self._of_a_member(function, args, kwargs)
            if own is None and isinstance(error, IndexError) and type(args[0]) is self.kind and not args[0].shape:
                # numbers of some libraries have the axes 0 and -1
                ones = [b.made(b.reshaped(x, (1,))) if type(x) is self.kind and x.batched else x for x in args]
                return self.replaced(row(b, function, *ones, **kwargs), lambda y: b.made(b.reshaped(y, ())))
            if own is None and isinstance(error, TypeError):  # a library's, for an array in place of a number
                for name in (name for name, x in kwargs.items() if self._scanned(x, b, False)[1]):
                    raise b.refused(f"it was the parameter {name}") from error
            if own is None:
                raise
        try:
            raise own
        finally:
            del own  # which holds this frame, and its arguments

    def _of_a_member(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Exception | None:
        """Return the error that `function` raises for one batch element, in terms of its shape, or None."""
        try:
            function(*[self.replaced(x, _first) for x in args], **self.replaced(kwargs, _first))
        except Exception as own:
            return own
        return None

    def drawn(self, name: str) -> Kernel:
        """Return a kernel that draws random numbers, by the stream of the base's device."""

        def drawn(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Array:
            level, place = self.level(), self.base.device_for(device)
            b = level.batching(self)
            if level.randomness == "same":
                return b.same(random.draw(name, shape, dtype, place))
            return b.made(random.draw(name, (b.size, *shape), dtype, place))

        return drawn

    def protocol(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a ufunc of NumPy with batched arrays: by the row of its name, or as a function of Variables."""
        if options.get("out") is not None:
            return NotImplemented
        if method == "__call__" and ufunc.__name__ in rows and not options:
            return getattr(self.namespace, ufunc.__name__)(*inputs)
        return self.by_variables(ufunc if method == "__call__" else getattr(ufunc, method), inputs, options)

    def array_function(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a library's function as one of Variables, if it is one, or the row of its name; or decline to write."""
        if kwargs.get("out") is not None:
            return NotImplemented
        try:
            return self.by_variables(function, args, kwargs)
        except TypeError:
            found = getattr(self.namespace, function.__name__, None)
            if found is None:
                raise
        return found(*args, **kwargs)

    def _scanned(self, tree: Any, b: Batching | None, some: bool) -> tuple[Batching | None, bool]:
        """Return the batch of the arrays in nested arguments, and whether any is batched."""
        if type(tree) is self.kind:
            if b is not None:
                b.check_same(tree.batching)
            return tree.batching, some or tree.batched
        if isinstance(tree, (tuple, list)):
            for item in tree:
                if type(item) not in SCALARS:
                    b, some = self._scanned(item, b, some)
        elif isinstance(tree, dict):
            for item in tree.values():
                b, some = self._scanned(item, b, some)
        return b, some

    def function_outputs(self, function: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """Return the outputs of a user's `FunctionNode`, from arrays of the base if all batch elements are equal."""
        if function.of_library:
            return None
        opened = self.replaced(arrays, _first)
        if not any(x.batched for x in arrays):
            made: Any = self.base.function_outputs(function, opened)  # it may be the array of an outer transformation
            if made is None:
                made = call_on(opened[0], function.forward, opened)
            return tuple(map(self._output, made)) if isinstance(made, tuple) else made
        try:
            outputs: tuple[Array, ...] = call_on(arrays[0], function.forward, arrays)
        except Exception as error:
            b = arrays[0].batching
            failed = error
        else:
            return outputs
        call_on(opened[0], function.forward, opened)  # also raises if an element is wrong
        raise BatchError(
            f"{b.title}: forward of {function.label} failed for batched arrays, but not for one batch element; call "
            "functions of the arrays' namespace in it, or define a rule for batches with transforms.custom_vmap"
        ) from failed

    def _output(self, y: Any) -> Any:
        try:
            return self.restore(y)
        except UnknownArray:
            return y  # `FunctionNode` raises the error

    # Arrays

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return self.base.handle_of(array.values if array.later is None else array.later.like)

    def spec(self, array: Array) -> Spec:
        """Return shape and dtype of a member, and device; equal ones are the same object."""
        if array.later is not None:
            return super().spec(array)
        values = array.values
        shape = values.shape
        return self.spec_for(shape[1:] if array.batched else shape, values.dtype, self.base.handle_of(values))

    def constant(self, array: Array) -> Array:
        """Return an array of the base as an array shared by all batch elements."""
        return self.current().same(array)

    def mapped(self, name: str, array: Array, function: Callable[[Array], Array]) -> Array:
        """Return the result of a function of the base that keeps or copies all elements."""
        return self.kind(array.batching, function(array.values), array.batched)

    def stopped(self, array: Array) -> Array:
        """Return `array` as a constant of forward mode."""
        return self.mapped("stopped", array, self.base.stopped)

    def has_values(self, array: Array) -> bool:
        """Return whether the elements are shared by all batch elements, and available."""
        return not array.batched and self.base.has_values(array.values)

    def largest(self, array: Array) -> float:
        """Return the largest value of all batch elements."""
        if not array.batched:
            return self.base.largest(array.values)
        return self.base.largest(self.base.restore(self.base.xp.max(array.values, axis=0, keepdims=False)))

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays have equal values for all batch elements."""
        front = a.batching.front
        values = (a.values, b.values) if a.batched == b.batched else (front(a), front(b))
        return self.base.same_values(*values)


def _values(x: BatchArray) -> Array:
    return x.values_for("it was a parameter") if x.batched else x.values  # of a Variable in a shape


def _first(x: BatchArray) -> Array:
    """Return the first element of a batch, to query the library; zeros for an empty batch."""
    if not x.batched:
        return x.values
    b = x.batching
    if b.size:
        return b.base.restore(x.values[(0, ...)])
    return b.base.namespace.zeros(x.shape, dtype=x.dtype, device=b.base.handle_of(x.values))


def over(base: Backend, depth: int = 1) -> BatchBackend:
    """Return the backend of batched arrays over arrays of `base`, always the same object."""
    return backend_over(BatchBackend, base, depth)
