"""`BatchBackend`: the backend of batched arrays over those of another backend."""

from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.current import call_on
from xpgrad.backend.device import Device
from xpgrad.backend.holder import unwrap
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import BatchError, UnknownArray
from xpgrad.transforms.batch import rows as _rows  # noqa: F401 - fills the table
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.namespace import BatchKernels, BatchNamespace
from xpgrad.transforms.batch.rows.elementwise import elementwise
from xpgrad.transforms.batch.rows.table import Row, rows
from xpgrad.transforms.enclosing.backend import TransformedBackend, backend_over, base_spec
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Shape

NO_RULE = (
    "{}: {} has no rule for batches; write it with functions of the Array API standard, or call it outside of the "
    "batched function"
)
PLAIN = frozenset((int, float, bool, complex, str, type(None), type(Ellipsis)))


class BatchBackend(TransformedBackend):
    """Arrays of `base` with a hidden axis.

    Parameters
    ----------
    base : Backend
    depth : int
        How many transformations are active with it; arrays of each depth have a type of their own.
    """

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("batch", base, depth)
        self.kind: type[BatchArray] = type(
            "BatchArray", (BatchArray,), {"__slots__": (), "backend": self, "__module__": BatchArray.__module__}
        )
        self.array_types = (self.kind,)
        self.immutable = True
        self.namespace = BatchNamespace(self, base.namespace)
        self.module = BatchNamespace(self, base.namespace if base.module is None else base.module)
        self.xp = BatchKernels(self)
        self._operators: dict[str, Callable[..., Any]] = {}

    # Functions

    def current(self) -> Batching:
        """Return the batch of this thread, for functions that take no batched arrays."""
        level = around()
        while level is not None:
            batching = getattr(level, "batching", None)
            if batching is not None and level.depth == self.depth:
                found: Batching = batching(self)
                return found
            level = level.outer
        raise BatchError(f"{self.name}: no function is being batched in this thread")

    def meets(self, other: Any) -> bool:
        """Return whether an operator takes `other`: a batched array, one of the levels below, or a scalar."""
        kind = type(other)
        return kind is self.kind or kind in PLAIN or kind in self._raw or plugins.is_scalar(other)

    def operator(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operator, which is computed by the row of the function `name`."""
        found = self._operators.get(name)
        if found is None:
            found = self._operators[name] = self.by_row(name, rows.get(name), self.base.follow(function))
        return found

    def by_row(self, name: str, row: Row | None, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` of the base as a function of batched arrays.

        Parameters
        ----------
        name : str
        row : Row or None
            None if the function cannot be batched.
        function : callable
        """
        kind = self.kind
        if row is elementwise:
            return self._elementwise(function)

        def batched(*args: Any, **kwargs: Any) -> Any:
            b: Batching | None = None
            some = False
            for x in args:
                if type(x) is kind:
                    if b is None:
                        b = x.batching
                    elif x.batching is not b:
                        b.check_same(x.batching)
                    some = some or x.batched
                elif type(x) not in PLAIN:
                    b, some = self._scanned(x, b, some)
            for key, x in kwargs.items():
                if type(x) not in PLAIN:
                    kwargs[key] = array = unwrap(x)  # parameters of kernels may be Variables
                    b, some = self._scanned(array, b, some)
            if b is None:
                b = self.current()
            elif not b.level.live:
                b.level.check()
            if not some:
                return self._closed(b, function(*map(self._opened, args), **self._opened(kwargs)))
            if row is None:
                raise BatchError(NO_RULE.format(b.title, name))
            return self._computed(b, row, function, args, kwargs)

        return batched

    def _elementwise(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return what `by_row` does for an elementwise function, without a frame in between for the usual operands."""
        kind, types = self.kind, self._base_types

        def general(*args: Any, **kwargs: Any) -> Any:
            b, some = self._scanned((args, kwargs), None, False)
            b = b or self.current()
            b.check()
            if not some:
                return self._closed(b, function(*map(self._opened, args), **self._opened(kwargs)))
            return self._computed(b, elementwise, function, args, kwargs)

        def batched(x1: Any, x2: Any = None, /, *args: Any, **kwargs: Any) -> Any:
            if args or kwargs or x2 is None:
                if args or kwargs or type(x1) is not kind or not x1.batching.level.live:
                    return general(x1, *(() if x2 is None else (x2,)), *args, **kwargs)
                out = function(x1.values)
                lead = x1
            elif type(x1) is kind and x1.batching.level.live:
                lead = x1
                if type(x2) is kind:
                    if x2.batching is not x1.batching or x2.batched != x1.batched or x1.ndim != x2.ndim:
                        return general(x1, x2)
                    out = function(x1.values, x2.values)
                elif type(x2) in PLAIN or (type(x2) in types and not x2.shape):
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
        """Return what a row computes, or raise what the function raises for one member."""
        if not self._raw.isdisjoint(map(type, (*args, *kwargs.values()))):  # they are the same for all members
            args = [b.level.enter(x) if type(x) in self._raw and x.shape else x for x in args]
            kwargs = {name: b.level.enter(x) if type(x) in self._raw else x for name, x in kwargs.items()}
        own: Exception | None
        try:
            return row(b, function, *args, **kwargs)
        except Exception as error:
            own = None if isinstance(error, BatchError) else self._of_a_member(function, args, kwargs)
            if own is None:
                raise
        try:
            raise own
        finally:
            del own  # which holds this frame, and its arguments

    def _of_a_member(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Exception | None:
        """Return the error that `function` raises for one member, in terms of its shape, or None."""
        try:
            function(*[self._opened(x, _first) for x in args], **self._opened(kwargs, _first))
        except Exception as own:
            return own
        return None

    def drawn(self, name: str) -> Kernel:
        """Return a kernel that draws random numbers, by the stream of the base's device."""

        def drawn(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> BatchArray:
            b, place = self.current(), self.base.device_for(device)
            if b.level.randomness == "same":
                return b.same(random.draw(name, shape, dtype, place))
            return b.made(random.draw(name, (b.size, *shape), dtype, place))

        return drawn

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose result does not depend on values as one of batched arrays."""
        return lambda *args, **kwargs: function(*map(self._opened, args), **self._opened(kwargs))

    def protocol(self, name: str, args: Any, kwargs: Any) -> Any:
        """Return what a function of another library's name gives for batched arrays, or NotImplemented."""
        if kwargs.get("out") is not None:
            return NotImplemented
        function = getattr(self.namespace, name, None)
        return NotImplemented if function is None else function(*args, **kwargs)

    def _scanned(self, tree: Any, b: Batching | None, some: bool) -> tuple[Batching | None, bool]:
        """Return the batch of the arrays in nested arguments, and whether any is batched."""
        if type(tree) is self.kind:
            if b is not None:
                b.check_same(tree.batching)
            return tree.batching, some or tree.batched
        if isinstance(tree, (tuple, list)):
            for item in tree:
                if type(item) not in PLAIN:
                    b, some = self._scanned(item, b, some)
        elif isinstance(tree, dict):
            for item in tree.values():
                b, some = self._scanned(item, b, some)
        return b, some

    def _opened(self, tree: Any, chosen: Callable[[BatchArray], Array] | None = None) -> Any:
        """Return nested arguments with arrays of the library: by default those of what is the same for all members."""
        kind = type(tree)
        if kind is self.kind:
            return tree.values if chosen is None else chosen(tree)
        if isinstance(tree, (tuple, list)):
            return getattr(tree, "_make", kind)([self._opened(item, chosen) for item in tree])
        if kind is dict:
            return {name: self._opened(item, chosen) for name, item in tree.items()}
        if isinstance(tree, Spec) and tree.backend is self:
            return base_spec(tree)
        if isinstance(tree, Device) and tree.backend is self:
            return self.base.device_for(tree.handle)
        return tree

    def _closed(self, b: Batching, out: Any) -> Any:
        if type(out) in self._base_types:
            return b.same(out)
        if isinstance(out, self.base.scalar_types):
            return b.same(self.base.restore(out))
        if isinstance(out, (tuple, list)):
            return getattr(out, "_make", type(out))([self._closed(b, item) for item in out])
        return out

    def function_outputs(self, function: Any, arrays: tuple[Array, ...]) -> tuple[Array, ...] | None:
        """Return the outputs of a user's `FunctionNode`, of arrays of the base if they are the same for all members."""
        if function.of_library:
            return None
        opened = self._opened(arrays, _first)
        if not any(x.batched for x in arrays):
            made: Any = self.base.function_outputs(function, opened)  # it may be a transformation's, too
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
        call_on(opened[0], function.forward, opened)  # which raises if a member is wrong, too
        raise BatchError(
            f"{b.title}: forward of {function.label} failed for batched arrays, but not for one member; call functions "
            "of the arrays' namespace in it, or define a rule for batches with transforms.custom_vmap"
        ) from failed

    def _output(self, y: Any) -> Any:
        try:
            return self.restore(y)
        except UnknownArray:
            return y  # `FunctionNode` says what is wrong with it

    # Arrays

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return self.base.handle_of(array.values if array.later is None else array.later.like)

    def restore(self, result: Any) -> Array:
        """Return the result of a kernel as a batched array."""
        if type(result) is self.kind:
            return result
        return self._closed(self.current(), result)

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or a batched array."""
        if type(obj) is self.kind:
            return self.kind(obj.batching, self.base.asarray(obj.values, dtype=dtype, device=device), obj.batched)
        return self.current().same(self.base.asarray(obj, dtype=dtype, device=device))

    def ones(self, spec: Spec) -> Array:
        """Return ones, the same for all members."""
        return self.current().same(self.base.ones(base_spec(spec)))

    def stopped(self, array: Array) -> Array:
        """Return `array` as a constant of forward mode."""
        return self.kind(array.batching, self.base.stopped(array.values), array.batched)

    def copy(self, array: Array) -> Array:
        """Return a copy."""
        return self.kind(array.batching, self.base.copy(array.values), array.batched)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy on another device of the library."""
        values = self.base.move(array.values, self.base.device_for(device.handle))
        return self.kind(array.batching, values, array.batched)

    def to_host(self, array: Array) -> Array:
        """Return a copy on the host of an array that is the same for all members."""
        return self.base.to_host(array._only("it was moved out of the batched function"))

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array as one that is the same for all members."""
        return self.current().same(self.base.from_host(array, self.base.device_for(device.handle)))

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the owner of the values."""
        return self.base.owner(array.values)

    def is_pending(self, array: Array) -> bool:
        """Return whether the values are."""
        return self.base.is_pending(array.values)

    def is_view(self, array: Array) -> bool:
        """Return False: batched arrays are not written to."""
        return False

    def check(self, array: Array) -> None:
        """Raise for an array of a call that has ended."""
        array.batching.check()

    def overrides(self) -> Mapping[str, Kernel]:
        """Return nothing: rows are found by `xp`."""
        return {}

    def has_values(self, array: Array) -> bool:
        """Return whether the elements are the same for all members, and available."""
        return not array.batched and self.base.has_values(array.values)

    def any_true(self, conditions: Array) -> bool:
        """Return whether any element of any member is true."""
        return self.base.any_true(conditions.values)

    def largest(self, array: Array) -> float:
        """Return the largest value of all members."""
        if not array.batched:
            return self.base.largest(array.values)
        return self.base.largest(self.base.restore(self.base.xp.max(array.values, axis=0, keepdims=False)))

    def has_nan(self, array: Array) -> bool:
        """Return whether any element of any member is NaN."""
        return self.base.has_nan(array.values)

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays have equal values for all members."""
        front = a.batching.front
        values = (a.values, b.values) if a.batched == b.batched else (front(a), front(b))
        return self.base.same_values(*values)

    def fingerprint(self, array: Array) -> Any:
        """Return a value that changes when `array` is written to."""
        return self.base.fingerprint(array.values)

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values of all members."""
        return self.base.array_text(array.values, prefix, separator)


def _first(x: BatchArray) -> Array:
    """Return a member, to learn what the library says about it; zeros in a batch of none."""
    if not x.batched:
        return x.values
    b = x.batching
    if b.size:
        return b.base.restore(x.values[(0, ...)])
    return b.base.namespace.zeros(x.shape, dtype=x.dtype, device=b.base.handle_of(x.values))


def over(base: Backend, depth: int = 1) -> BatchBackend:
    """Return the backend of batched arrays over those of `base`, the same one each time."""
    return backend_over(BatchBackend, base, depth)
