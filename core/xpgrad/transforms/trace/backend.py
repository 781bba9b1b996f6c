"""`TraceBackend`: the backend of traced arrays over arrays of another backend."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.indexing import BASIC
from xpgrad.backend.kernels import Declaration, table
from xpgrad.backend.programs import programs_of
from xpgrad.backend.spec import Spec
from xpgrad.errors import TraceError
from xpgrad.transforms.enclosing.backend import SCALARS, TransformedBackend, backend_over
from xpgrad.transforms.trace.array import REMEDY, TracedArray
from xpgrad.transforms.trace.guards.events import unfollowed
from xpgrad.transforms.trace.guards.trust import is_ours, leave_out
from xpgrad.transforms.trace.program import Value
from xpgrad.transforms.trace.recording import Recording
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Namespace, Shape

UNKNOWN_SHAPES = frozenset(
    ("nonzero", "argwhere", "flatnonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unique")
)
"""Functions whose results have shapes that depend on values."""
OF_SPECS = frozenset(
    ("dim", "ndimension", "numel", "nelement", "element_size", "is_floating_point", "is_complex", "result_type")
)
"""Functions and methods of libraries whose results depend only on shapes and dtypes."""


class TraceBackend(TransformedBackend):
    """Arrays of `base` whose calls are recorded; those of each depth of transformations have a separate type."""

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("trace", base, depth, TracedArray)
        self.immutable = base.immutable
        self._follows, self._plain = base.has_current_device, frozenset((*SCALARS, *self._base_types))
        self._is_writer = functools.cache(lambda name: programs_of(base).writes(name))  # looked up at each call
        leave_out(base.follow)

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the base's own kernels, recorded."""
        return {name: self.recorded(name, kernel) for name, kernel in self.base.overrides().items()}

    # Functions

    def operator(self, name: str, function: Kernel) -> Kernel:
        """Return an operator, recorded."""
        return functools.partial(self.call, name, function)

    def library_function(self, name: str, function: Kernel) -> Kernel:
        """Return a function of the library, recorded."""
        return self.recorded(name, self.base.follow(function))

    def replacement(self, name: str) -> Kernel | None:
        """Return the base's replacement of a kernel in programs, recorded, or None."""
        declaration = table.declared[name]
        found = programs_of(self.base).traced_kernel(name, declaration.rule and self.base.xp.reference(declaration))
        return None if found is None else self.recorded(name, self.base.follow(found))

    def declared_kernel(self, declaration: Declaration, body: Kernel | None) -> Kernel:
        """Return a kernel: one recorded call if the base replaces it or its body needs values."""
        name = declaration.name
        if name == "accumulate":  # it may write to its first argument, and recorded calls do not
            return self.recorded("add", self.base.xp.add)
        if body is None or self.xp.replacement(declaration) is not None:
            return self.recorded(name, self.base.xp.kernel_of(declaration))
        return self.either(body, self.recorded(name, functools.partial(_kernel_of, self.base, declaration)))

    # Recording

    def recording(self) -> Recording:
        """Return the recording of this thread, for functions that take no arrays."""
        recording: Recording = self.level().recording
        return recording

    def recorded(self, name: str, function: Kernel) -> Kernel:
        """Return `function` of the base as a function of traced arrays."""
        if name.rpartition(".")[2] in UNKNOWN_SHAPES:
            return lambda *args, **kwargs: self._of_unknown_shape(name, function, args, kwargs)
        if name == "repeat":  # its counts decide a shape
            counts = functools.partial(self.replaced, chosen=lambda x: x.values_for("it was a number of repetitions"))
            return lambda x, n, **kwargs: self.call(name, function, x, counts(n), **kwargs)
        if name == "getitem":  # its masks do
            return lambda x, *, index: self.call(name, function, x, index=self.replaced(index, self._mask))
        return functools.partial(self.call, name, function)

    @unfollowed
    def call(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function of the base, record the call, and return its arrays as traced arrays."""
        kind, plain = self.kind, self._plain
        recording = None
        opened: list[Any] = []
        given: list[Any] = []
        for x in args:
            if type(x) is kind:
                recording = x.recording
                if recording.held is not None:
                    recording.hold(x)
                opened.append(x.values)
                given.append(x.value)
            elif type(x) in plain:
                opened.append(x)
                given.append(x)
            else:
                found, array, value = self._opened(x)
                recording = recording or found
                opened.append(array)
                given.append(value)
        named, noted = kwargs, kwargs
        if kwargs:
            found, named, noted = self._opened(kwargs)
            recording = recording or found
        if recording is None:
            recording = self.recording()
        if not recording.level.live:
            recording.level.check()
        if (memory := kwargs.get("out")) is not None:
            return self.written_into(name, function, memory, args, {k: v for k, v in kwargs.items() if k != "out"})
        if self._is_writer(name):
            target = recording.level.entered(args[0])
            returned = self.write(name, function, (target, *args[1:]), named=kwargs)
            return None if returned is None else target
        out = (self.base.follow(function) if self._follows else function)(*opened, **named)
        if type(out) in self._base_types:
            try:
                value = Value(self.base.spec(out))
            except TypeError:  # such as an array of text
                recording.needs(f"{name} returned an array of {out.dtype}", REMEDY)
                return out
            for array, own in zip(opened, given):  # noqa: B905 - equally many, and this runs for each call
                if array is out and type(own) is Value:
                    recording.shared |= {own, value}
            recording.add(name, function, tuple(given), noted, (value,))
            return kind(recording, value, out)
        return self._several(name, function, out, recording, tuple(given), noted)

    def _several(
        self, name: str, function: Callable[..., Any], out: Any, recording: Recording, given: tuple[Any, ...],
        noted: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Record a call that returned `out`, which is no array, and return its arrays as traced arrays."""
        if out is NotImplemented:
            return out
        results: list[Value] = []

        def closed_with(array: Array) -> TracedArray:
            results.append(Value(self.base.spec(array)))
            made: TracedArray = self.kind(recording, results[-1], array)
            return made

        closed = self.made_of(out, closed_with)
        if not results:
            if name.lstrip(".") not in OF_SPECS:
                recording.needs(f"{name} returned {type(out).__name__}, which is no array", REMEDY)
            return out
        single = type(closed) is self.kind
        if not single and (not isinstance(out, (tuple, list)) or len(results) != len(out)):
            recording.fail(f"{name} returned nested arrays", "call it outside of the compiled function")
        recording.add(name, function, given, noted, tuple(results), single=single)
        return closed

    def write(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], *,
        targets: Sequence[TracedArray] | None = None, named: dict[str, Any] | None = None,
    ) -> Any:  # fmt: skip
        """Call a function of the base that writes to `targets`, by default its first argument, and record that."""
        targets = targets or args[:1]
        recording: Recording = targets[0].recording
        watch = recording.level.watch
        recording.level.check()
        _, opened, given = self._opened(args)
        _, options, noted = self._opened(named or {})
        outside = any(self.base.is_view(x.values) or watch.knows(x.values) for x in targets)
        if outside:
            watch.check()
        returned = (self.base.follow(function) if self._follows else function)(*opened, **options)
        recording.add(name, function, given, noted, (), writes=tuple(x.value for x in targets))
        if outside:
            watch.look(x.values for x in targets)
        return returned

    def written_into(
        self, name: str, function: Callable[..., Any], out: Any, args: Any, options: dict[str, Any]
    ) -> Any:
        """Call a function of the base that writes its result to the array `out`, and record that; return `out`."""
        found, _, _ = self._opened((out, args, options))
        level = (found or self.recording()).level
        single = not isinstance(out, tuple)
        targets = tuple(level.entered(x) for x in ((out,) if single else out))
        self.write(name, functools.partial(_into, function, single), (targets, args, options), targets=targets)
        return out

    def effect(self, name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Call a function for its effect, and record that: it is called at each run."""
        found, opened, given = self._opened(args)
        recording = found or self.recording()
        recording.level.check()
        function(*opened)
        recording.add(name, function, given, {}, (), draws=True)

    def getitem(self, x: TracedArray, index: Any) -> Any:
        """Return ``x[index]``; a mask gives a result whose shape depends on values."""
        items = index if type(index) is tuple else (index,)
        if all(type(item) in BASIC for item in items):
            return self.call("x[]", operator.getitem, x, index)
        if any(type(item) is self.kind and self.base.is_kind(item.dtype, "bool") for item in items):
            return self._of_unknown_shape("x[mask]", operator.getitem, (x, index), {})
        items = tuple(item.__index__() if type(item) is self.kind and not item.shape else item for item in items)
        return self.call("x[]", operator.getitem, x, items if type(index) is tuple else items[0])

    def _mask(self, x: TracedArray) -> Any:
        """Return an array of an index; a mask is a constant if it depends on small arrays from outside alone."""
        if not self.base.is_kind(x.dtype, "bool"):
            return x
        made = {value: call for call in x.recording.calls for value in (*call.results, *call.writes)}
        waiting, seen = [x.value], {x.value}
        while waiting:
            value = waiting.pop()
            call = made.get(value)
            if not (x.recording.level.guard_values(value) if call is None else call.pure):
                return x.values_for("it was a mask")
            found = () if call is None else call.operands()
            waiting += [each for each in found if each not in seen]
            seen.update(found)
        return x.values

    def _of_unknown_shape(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        found, _, _ = self._opened((args, kwargs))
        if found is not None:
            found.level.check()
            found.needs(f"{name} has a shape that depends on values", REMEDY)
        return self.call(name, function, *args, **kwargs)

    def attribute(self, array: Array, name: str) -> Any:
        """Return an attribute that the library's arrays have beyond the standard; methods are recorded."""
        x, found = array, getattr(array.values, name)
        if callable(found):
            return functools.partial(self.call, f".{name}", _method(name), x)
        if type(found) in self._base_types:
            return self.call(f".{name}", operator.attrgetter(name), x)
        if type(found) not in SCALARS and not (type(found) is tuple and all(type(item) in SCALARS for item in found)):
            x.values_for(f"its attribute {name} was read")
        return found

    def protocol(self, ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a ufunc of NumPy with traced arrays."""
        if not hasattr(self.base.array_types[0], "__array_ufunc__"):
            return NotImplemented
        if method == "__call__":
            name, function = ufunc.__name__, ufunc
        else:
            name, function = f"{ufunc.__name__}.{method}", getattr(ufunc, method)
        out = options.get("out")
        if method == "at":
            found, _, _ = self._opened(inputs)
            self.write(name, function, ((found or self.recording()).level.entered(inputs[0]), *inputs[1:]))
            return None
        if out is None:
            return self.call(name, function, *inputs, **options)
        given = out[0] if len(out) == 1 else out
        if type(given) is tuple and None in given:
            raise TraceError(f"compile: {name}: give an array for each output, or for none; got None among out=")
        return self.call(name, function, *inputs, **{**options, "out": given})

    def array_function(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of NumPy with traced arrays."""
        return self.call(function.__name__, function, *args, **kwargs)

    def either(self, body: Kernel, whole: Kernel) -> Kernel:
        """Return a kernel that traces its default body, or is recorded as one call if the body needs values."""

        def kernel(*args: Any, **kwargs: Any) -> Any:
            found, _, _ = self._opened((args, kwargs))
            recording = found or self.recording()
            return recording.whole(body, whole)(*args, **kwargs)

        return kernel

    def adapted(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Return a rule that is traced, or recorded as one call if it needs values."""
        whole = self.recorded(f"vjp {getattr(rule, '__name__', 'rule')}", functools.partial(rule, self.base.xp))

        def adapted(xp: Namespace, gy: Any, *values: Any) -> Any:
            if type(gy) is not self.kind:
                return rule(xp, gy, *values)
            traced = gy.recording.whole(rule, lambda xp, *args: whole(*args))
            return traced(xp, gy, *values)

        return unfollowed(adapted) if is_ours(getattr(rule, "__module__", None)) else adapted

    def drawn(self, name: str) -> Kernel:
        """Return a kernel that draws random numbers from the stream of the base's device, at each run again."""

        def drawn(*, shape: Shape, dtype: Dtype, device: DeviceHandle, generator: Any) -> Any:
            recording = self.recording()
            recording.level.check()
            if recording.given is not None:
                return next(recording.given)
            place = self.base.device_for(device)
            function = functools.partial(random.draw, name, shape, dtype, place)
            made = key = None
            if recording.drawn is not None:
                key = (name, shape, dtype, place.name, random.position(place))
                made = recording.drawn.get(key) if random.is_replaying() else None
            out = function()
            if made is not None:  # the numbers of an earlier call, which a checkpoint repeats
                return self.kind(recording, made, out)
            value = Value(self.base.spec(out))
            if recording.drawn is not None and key is not None:
                recording.drawn[key] = value
            recording.add(name, function, (), {}, (value,), draws=True)
            return self.kind(recording, value, out)

        return drawn

    def _opened(self, tree: Any) -> tuple[Recording | None, Any, Any]:
        """Return the recording of traced arrays in nested arguments, these with arrays, and with values."""
        if type(tree) in SCALARS:
            return None, tree, tree
        found: list[Recording] = []

        def values(x: TracedArray) -> Array:
            found.append(x.recording)
            x.recording.hold(x)
            return x.values

        arrays = self.replaced(tree, values)
        return (
            (found[0], arrays, self.replaced(tree, operator.attrgetter("value"))) if found else (None, arrays, arrays)
        )

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return array.value.spec.device

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        given = array.value.spec
        return self.spec_for(given.shape, given.dtype, given.device)

    def constant(self, array: Array) -> TracedArray:
        """Return a new array of the base as the result of a recorded call."""
        made: TracedArray = self.call("constant", _same, array)
        return made

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or a traced array."""
        return self.call("asarray", self.base.asarray, obj, dtype=dtype, device=device)

    def ones(self, spec: Spec) -> Array:
        """Return ones."""
        return self.call("ones", self.base.ones, spec)

    def mapped(self, name: str, array: Array, function: Callable[[Array], Array]) -> Array:
        """Return the recorded result of a function of the base."""
        return self.call(name, function, array)

    def is_view(self, array: Array) -> bool:
        """Return whether writing to `array` could change another."""
        return array.value in array.recording.shared or self.base.is_view(array.values)

    def has_values(self, array: Array) -> bool:
        """Return False: recorded calls must not depend on values."""
        return False

    any_true, largest = Backend.any_true, Backend.largest  # they need values that only a run has


def _into(function: Callable[..., Any], single: bool, outs: tuple[Array, ...], args: Any, options: Any) -> None:
    function(*args, out=outs[0] if single else outs, **options)


def _method(name: str) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _same(x: Array) -> Array:
    return x


def _kernel_of(base: Backend, declaration: Declaration, *arrays: Any, **parameters: Any) -> Any:
    return base.xp.kernel_of(declaration)(*arrays, **parameters)


def over(base: Backend, depth: int = 1) -> TraceBackend:
    """Return the backend of traced arrays over arrays of `base`, always the same object."""
    return backend_over(TraceBackend, base, depth)
