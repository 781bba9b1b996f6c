"""`TraceBackend`: the backend of traced arrays over those of another backend."""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.indexing import BASIC
from xpgrad.backend.levels import around
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import TraceError
from xpgrad.transforms.enclosing.backend import TransformedBackend, backend_over, base_spec
from xpgrad.transforms.trace.array import REMEDY, TracedArray
from xpgrad.transforms.trace.namespaces import TraceKernels, TraceNamespace
from xpgrad.transforms.trace.program import Value
from xpgrad.transforms.trace.recording import Recording
from xpgrad.types import Array, DeviceHandle, Dtype, Kernel, Namespace, Shape

UNKNOWN_SHAPES = frozenset(
    ("nonzero", "argwhere", "flatnonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unique")
)
"""Functions whose results have shapes that depend on values."""
PLAIN = frozenset((int, float, bool, complex, str, type(None), type(Ellipsis)))


class TraceBackend(TransformedBackend):
    """Arrays of `base` whose calls are recorded.

    Parameters
    ----------
    base : Backend
    depth : int
        How many transformations are active with it; arrays of each depth have a type of their own.
    """

    def __init__(self, base: Backend, depth: int) -> None:
        super().__init__("trace", base, depth)
        self.kind: type[TracedArray] = type(
            "TracedArray", (TracedArray,), {"__slots__": (), "backend": self, "__module__": TracedArray.__module__}
        )
        if any(hasattr(kind, "__array__") for kind in base.array_types):
            self.kind.__array__ = _converted  # type: ignore[attr-defined]  # only where the library's arrays have it
        self.array_types = (self.kind,)
        self.namespace = TraceNamespace(self, base.namespace)
        self.module = TraceNamespace(self, base.namespace if base.module is None else base.module)
        self.immutable = base.immutable
        self.xp = TraceKernels(self)
        self._follows = base.has_current_device

    def overrides(self) -> Mapping[str, Kernel]:
        """Return the base's own kernels, recorded."""
        return {name: self.recorded(name, kernel) for name, kernel in self.base.overrides().items()}

    # Recording

    def recording(self) -> Recording:
        """Return the recording of this thread, for functions that take no arrays."""
        level = around()
        while level is not None:
            found = getattr(level, "recording", None)
            if found is not None and level.depth == self.depth:
                recording: Recording = found
                return recording
            level = level.outer
        raise TraceError(f"{self.name}: nothing is being traced in this thread")

    def meets(self, other: Any) -> bool:
        """Return whether an operator takes `other`: a traced array, one of the levels below, or a scalar."""
        kind = type(other)
        return kind is self.kind or kind in PLAIN or kind in self._raw or plugins.is_scalar(other)

    def recorded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` of the base as a function of traced arrays."""
        if name.rpartition(".")[2] in UNKNOWN_SHAPES:
            return lambda *args, **kwargs: self._of_unknown_shape(name, function, args, kwargs)
        return lambda *args, **kwargs: self.call(name, function, args, kwargs)

    def call(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the base, record that, and return its arrays as traced ones."""
        kind = self.kind
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
            elif type(x) in PLAIN:
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
        if "out" in kwargs and kwargs["out"] is not None:
            return self.written_into(
                name, function, kwargs["out"], args, {k: v for k, v in kwargs.items() if k != "out"}
            )
        if self.base.writes(name):
            target = recording.level.entered(args[0])
            returned = self.write(name, function, (target, *args[1:]), named=kwargs)
            return None if returned is None else target
        out = (self.base.follow(function) if self._follows else function)(*opened, **named)
        if type(out) in self._base_types:
            value = Value(self.base.spec(out))
            for array, own in zip(opened, given):  # noqa: B905 - equally many, and this runs for each call
                if array is out and type(own) is Value:
                    recording.shared |= {own, value}
            recording.add(name, function, tuple(given), noted, (value,))
            return kind(recording, value, out)
        if out is NotImplemented:
            return out
        results: list[Value] = []
        closed = self._closed(recording, out, results)
        if not results:
            recording.needs(f"{name} returned {type(out).__name__}, which is no array", REMEDY)
            return out
        single = type(closed) is kind
        if not single and (not isinstance(out, (tuple, list)) or len(results) != len(out)):
            recording.fail(f"{name} returned nested arrays", "call it outside of the compiled function")
        recording.add(name, function, tuple(given), noted, tuple(results), single=single)
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
            watch.look()
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
            return self.call("x[]", operator.getitem, (x, index), {})
        if any(type(item) is self.kind and self.base.is_kind(item.dtype, "bool") for item in items):
            return self._of_unknown_shape("x[mask]", operator.getitem, (x, index), {})
        items = tuple(item.__index__() if type(item) is self.kind and not item.shape else item for item in items)
        return self.call("x[]", operator.getitem, (x, items if type(index) is tuple else items[0]), {})

    def _of_unknown_shape(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        found, _, _ = self._opened((args, kwargs))
        if found is not None:
            found.level.check()
            found.needs(f"{name} has a shape that depends on values", REMEDY)
        return self.call(name, function, args, kwargs)

    def attribute(self, x: TracedArray, name: str) -> Any:
        """Return an attribute that the library's arrays have beyond the standard; methods are recorded."""
        found = getattr(x.values, name)
        if callable(found):
            return lambda *args, **kwargs: self.call(f".{name}", _method(name), (x, *args), kwargs)
        if type(found) in self._base_types:
            return self.call(f".{name}", operator.attrgetter(name), (x,), {})
        if type(found) not in PLAIN and not (type(found) is tuple and all(type(item) in PLAIN for item in found)):
            x._needed(f"its attribute {name} was read")
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
            return self.call(name, function, inputs, options)
        plain = {key: value for key, value in options.items() if key != "out"}
        given = out[0] if len(out) == 1 else out
        if type(given) is tuple and None in given:
            raise TraceError(f"compile: {name}: give an array for each output, or for none; got None among out=")
        return self.written_into(name, function, given, inputs, plain)

    def either(self, body: Callable[..., Any] | None, whole: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel that traces its default body, or is recorded as one call if the body needs values."""
        if body is None:
            return whole

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
            return gy.recording.whole(rule, lambda xp, *args: whole(*args))(xp, gy, *values)

        return adapted

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose result does not depend on values as one of traced arrays."""

        def called(*args: Any, **kwargs: Any) -> Any:
            return function(*self._opened(args)[1], **self._opened(kwargs)[1])

        return called

    def draw(self, name: str) -> Kernel:
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
        kind = type(tree)
        if kind in PLAIN:
            return None, tree, tree
        if kind is self.kind:
            tree.recording.hold(tree)
            return tree.recording, tree.values, tree.value
        if isinstance(tree, Spec):
            plain = base_spec(tree) if tree.backend is self else tree
            return None, plain, plain
        if isinstance(tree, (tuple, list)):
            parts = [self._opened(item) for item in tree]
            make = getattr(tree, "_make", kind)
            return (
                next((r for r, _, _ in parts if r), None),
                make([a for _, a, _ in parts]),
                make([v for _, _, v in parts]),
            )
        if kind is dict:
            parts = [self._opened(item) for item in tree.values()]
            names = list(tree)
            return (
                next((r for r, _, _ in parts if r), None),
                dict(zip(names, [a for _, a, _ in parts], strict=True)),
                dict(zip(names, [v for _, _, v in parts], strict=True)),
            )
        if kind is slice:
            found, arrays, values = self._opened((tree.start, tree.stop, tree.step))
            return found, slice(*arrays), slice(*values)
        if isinstance(tree, Device) and tree.backend is self:
            device = self.base.device_for(tree.handle)
            return None, device, device
        return None, tree, tree

    def _closed(self, recording: Recording, out: Any, results: list[Value]) -> Any:
        if type(out) not in self._base_types and isinstance(out, self.base.scalar_types):
            out = self.base.restore(out)
        if type(out) in self._base_types:
            value = Value(self.base.spec(out))
            results.append(value)
            return self.kind(recording, value, out)
        if isinstance(out, (tuple, list)):
            items = [self._closed(recording, item, results) for item in out]
            return getattr(out, "_make", type(out))(items)
        return out

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the library's object for the device of `array`."""
        return array.value.spec.device

    # Arrays

    def spec(self, array: Array) -> Spec:
        """Return shape, dtype and device of `array`."""
        given = array.value.spec
        return self.spec_for(given.shape, given.dtype, given.device)

    def restore(self, result: Any) -> Array:
        """Return the result of a kernel as a traced array."""
        if type(result) is self.kind or not (
            type(result) in self._base_types or isinstance(result, self.base.scalar_types)
        ):
            return result
        return self.constant(self.base.restore(result))

    def constant(self, array: Array) -> TracedArray:
        """Return a new array of the base as the result of a recorded call."""
        made: TracedArray = self.call("constant", _same, (array,), {})
        return made

    def asarray(self, obj: Any, dtype: Dtype | None = None, device: DeviceHandle | None = None) -> Array:
        """Return a new array from scalars, nested lists, or a traced array."""
        return self.call("asarray", self.base.asarray, (obj,), {"dtype": dtype, "device": device})

    def ones(self, spec: Spec) -> Array:
        """Return ones."""
        return self.call("ones", self.base.ones, (spec,), {})

    def copy(self, array: Array) -> Array:
        """Return a copy."""
        return self.call("copy", self.base.copy, (array,), {})

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy on another device of the library."""
        target = self.base.device_for(device.handle)
        return self.call("to_device", functools.partial(_moved, self.base, target), (array,), {})

    def to_host(self, array: Array) -> Array:
        """Return a copy on the host, which takes the values out of the program."""
        return self.base.to_host(array._needed("it was moved out of the program"))

    def from_host(self, array: Array, device: Device) -> Array:
        """Return the host's array as a constant of the program."""
        return self.constant(self.base.from_host(array, self.base.device_for(device.handle)))

    def owner(self, array: Array) -> tuple[Any, int]:
        """Return the owner of the values."""
        return self.base.owner(array.values)

    def is_pending(self, array: Array) -> bool:
        """Return whether the values are."""
        return self.base.is_pending(array.values)

    def is_view(self, array: Array) -> bool:
        """Return whether writing to `array` could change another."""
        return array.value in array.recording.shared or self.base.is_view(array.values)

    def check(self, array: Array) -> None:
        """Raise for an array of a call that has ended."""
        array.recording.level.check()

    def has_values(self, array: Array) -> bool:
        """Return False: what is computed must not depend on values."""
        return False

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is NaN, in the run that is recorded."""
        return self.base.has_nan(array.values)

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays have equal values, in the run that is recorded."""
        return self.base.same_values(a.values, b.values)

    def fingerprint(self, array: Array) -> Any:
        """Return a value that changes when `array` is written to."""
        return self.base.fingerprint(array.values)

    def array_text(self, array: Array, prefix: str, separator: str) -> str:
        """Return the values of the run that is recorded."""
        return self.base.array_text(array.values, prefix, separator)


def _converted(x: TracedArray, *args: Any, **kwargs: Any) -> Any:
    return x._needed("it was converted to another library's array").__array__(*args, **kwargs)


def _into(function: Callable[..., Any], single: bool, outs: tuple[Array, ...], args: Any, options: Any) -> None:
    function(*args, out=outs[0] if single else outs, **options)


def _method(name: str) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _same(x: Array) -> Array:
    return x


def _moved(base: Backend, device: Device, x: Array) -> Array:
    return base.move(x, device)


def over(base: Backend, depth: int = 1) -> TraceBackend:
    """Return the backend of traced arrays over those of `base`, the same one each time."""
    return backend_over(TraceBackend, base, depth)
