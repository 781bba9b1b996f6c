"""Family M, memory: arrays die as soon as nobody needs them, by reference counting alone, and nothing grows."""

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from xpgrad.backend.spec import Spec
from xpgrad.config import no_backprop_mode
from xpgrad.graph.backward import grad
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, as_array
from xpgrad.testing.conformance.check import Check, check, checks_in
from xpgrad.testing.conformance.subject import Subject
from xpgrad.types import Array

SHAPE = 64, 65
SLACK = 1500
"""Bytes that one repetition may leave behind: Python keeps up to 2000 tuples of each length. An array has more."""
PREPARED = 6000
"""Python numbers that a program meets; a cache of fewer than these is bounded."""


class Watch:
    """Variables, nodes, functions and arrays that are to die: weak references to those that allow them."""

    def __init__(self) -> None:
        self._watched: list[tuple[str, weakref.ref[Any]]] = []

    def add(self, thing: Any, what: str) -> None:
        """Watch an object, and the array that a Variable holds."""
        try:
            self._watched.append((what, weakref.ref(thing)))
        except TypeError:  # some libraries' arrays allow no weak references
            pass
        if isinstance(thing, Variable):
            self.add(as_array(thing), f"the array of {what}")

    def assert_dead(self, when: str) -> None:
        """Raise AssertionError if anything that is watched is still there."""
        alive = [what for what, reference in self._watched if reference() is not None]
        assert not alive, f"{when}, {alive[0]} is still alive ({len(alive)} of {len(self._watched)} are)"


@contextmanager
def reference_counting_alone() -> Iterator[None]:
    """Context manager without Python's garbage collector, so that only what is in no cycle dies."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class Meter:
    """How many bytes are in use: as the backend says, or as Python's allocators say, if they know of its arrays."""

    def __init__(self, s: Subject) -> None:
        self._s = s

    def now(self) -> int:
        """Return the bytes in use, when all work is done."""
        self._s.backend.synchronize(self._s.device)
        given = self._s.backend.memory_used(self._s.device)
        return tracemalloc.get_traced_memory()[0] if given is None else given

    def sees_arrays(self) -> bool:
        """Tell whether an array of the backend shows."""
        before = self.now()
        array = self._s.array(np.ones((256, 256)), self._s.wide)
        self._s.backend.synchronize(self._s.device)
        seen = self.now() - before >= 200_000
        del array
        return seen


@contextmanager
def metered(s: Subject) -> Iterator[Meter]:
    """Context manager that gives a `Meter`."""
    traced = s.backend.memory_used(s.device) is None and not tracemalloc.is_tracing()
    if traced:
        tracemalloc.start(1)
    try:
        yield Meter(s)
    finally:
        if traced:
            tracemalloc.stop()


def _network(s: Subject, x: Any, w: Any) -> Any:
    """Return a scalar by way of every common kind of function."""
    xp = s.xp
    h = xp.tanh(xp.matmul(x, w) * 0.25 + 0.5)
    h = xp.exp(h - xp.max(h, axis=1, keepdims=True))
    h = h / xp.sum(h, axis=1, keepdims=True)
    h = xp.concat([h, h[1:, ...] * 2.0]) if s.has("concat") else h
    return xp.sum(xp.permute_dims(h, (1, 0)) * 1.5)


def _operands(s: Subject, shape: tuple[int, int] = SHAPE) -> tuple[Variable, Variable]:
    rows, columns = shape
    return s.variable(s.values(shape, dtype=s.wide), s.wide), s.variable(
        s.values((columns, rows), dtype=s.wide), s.wide
    )


@check("M02")
def graphs(s: Subject) -> None:
    """A graph and all its arrays die with its output, by reference counting alone."""
    for swept in (False, True):
        with reference_counting_alone():
            watch = Watch()
            x, w = _operands(s, (3, 4))
            y = _network(s, x, w)
            waiting: list[Any] = [y._node]
            while waiting:
                node = waiting.pop()
                function = node.creator_node
                if function is not None:
                    watch.add(function, f"the function {function.label}")
                    for each, array in zip(function.inputs, function.kept_inputs(), strict=True):
                        if array is not None and each is not None and each.creator_node is not None:
                            watch.add(array, f"an array that {function.label} kept")
                    waiting.extend(each for each in function.inputs if each is not None)
            if swept:
                y.backward()
            watch.add(y, "the output")
            del y, function, node, waiting, each, array
            s.backend.synchronize(s.device)
            watch.assert_dead(f"after the output of a graph was dropped, {'swept' if swept else 'without a sweep'}")
            watch.add(x, "an input")
            watch.add(x.grad, "the gradient of an input") if swept else None
            del x, w
            watch.assert_dead(f"after the inputs were dropped too, {'swept' if swept else 'without a sweep'}")


@check("M03")
def intermediates(s: Subject) -> None:
    """An intermediate array that no rule needs dies at once; so do arguments and results of every common function."""
    xp = s.xp
    host = s.values((3, 4), 0.2, 0.9, s.wide)
    programs: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda x, watch: xp.tanh(_seen(x + 1.0, watch)),
        "multiply": lambda x, watch: xp.exp(_seen(x * 2.0, watch)),
        "negative": lambda x, watch: xp.tanh(_seen(-x, watch)),
        "subtract": lambda x, watch: xp.sum(_seen(x - 0.5, watch)),
        "sum": lambda x, watch: xp.sum(_seen(xp.sum(x * 3.0, axis=0), watch)),
        "matmul": lambda x, watch: xp.sum(_seen(xp.matmul(x, s.array(host.T, s.wide)), watch)),
        "exp": lambda x, watch: xp.sum(_seen(xp.exp(x), Watch())),
        "where": lambda x, watch: xp.sum(_seen(xp.where(x > 0.5, x, -x), watch)),
        "concat": lambda x, watch: xp.sum(_seen(xp.concat([x, x * 2.0]), watch)),
        "gather": lambda x, watch: xp.sum(_seen(x[1:, ...], watch)),
    }
    for name, program in programs.items():
        with reference_counting_alone():
            watch, x = Watch(), s.variable(host, s.wide)
            y = program(x, watch)
            s.backend.synchronize(s.device)
            watch.assert_dead(f"after the result of {name}, which no rule needs, was dropped")
            watch.add(y, f"the output of a program with {name}")
            del y
            s.backend.synchronize(s.device)
            watch.assert_dead(f"after a program with {name} was dropped")


def _seen(x: Variable, watch: Watch) -> Variable:
    watch.add(as_array(x), "the array")
    return x


@check("M04")
def released(s: Subject) -> None:
    """backward(retain_graph=False) lets go of what the graph kept, while its output lives."""
    with reference_counting_alone():
        watch, x = Watch(), s.variable(s.values((3, 4), dtype=s.wide), s.wide)
        hidden = s.xp.tanh(x * 2.0)
        watch.add(as_array(hidden), "the result of tanh, which its rule kept,")
        second = s.xp.exp(hidden)
        watch.add(as_array(second), "the result of exp, which its rule kept,")
        y = s.xp.sum(second)
        del hidden, second
        y.backward(retain_graph=False)
        s.backend.synchronize(s.device)
        watch.assert_dead("after backward(retain_graph=False)")


@check("M05", scope="backend")
def repetitions(s: Subject) -> None:
    """Two hundred repetitions of forward and backward leave no more memory in use than twenty."""
    x, w = _operands(s)
    count = 40 if s.quick else 200

    def repeat(times: int) -> None:
        for _ in range(times):
            _network(s, x, w).backward()
            x.cleargrad()
            w.cleargrad()

    with reference_counting_alone(), metered(s) as meter:
        repeat(20)
        before = meter.now()
        repeat(count)
        grown = meter.now() - before
    assert grown <= SLACK * count, (
        f"{count} repetitions of a forward and backward computation left {grown} bytes in use, "
        f"{grown / count:.0f} each; expected none (an array in it has {4 * SHAPE[0] * SHAPE[1]} bytes or more)"
    )


@check("M06", scope="backend")
def transfers(s: Subject) -> None:
    """Moving, copying and printing leave nothing behind."""
    host = s.values(SHAPE, dtype=s.wide)
    x = s.array(host, s.wide)
    with reference_counting_alone(), metered(s) as meter:
        for _ in range(5):
            _move(s, x, host)
        before = meter.now()
        for _ in range(20):
            _move(s, x, host)
        grown = meter.now() - before
    assert grown <= 20 * SLACK, f"20 moves of an array to the host and back left {grown} bytes in use; expected none"


def _move(s: Subject, x: Array, host: Any) -> None:
    s.backend.to_host(x)
    s.backend.copy(x)
    s.array(host, s.wide)
    repr(Variable(x))


@check("M07")
def without_a_graph(s: Subject) -> None:
    """In no_backprop_mode nothing is kept: each array dies when the program drops it."""
    with reference_counting_alone():
        watch, x = Watch(), s.variable(s.values((3, 4), dtype=s.wide), s.wide)
        with no_backprop_mode():
            for _ in range(3):
                x = s.xp.tanh(_seen(s.xp.exp(_seen(x * 0.5, watch)), watch))
            assert x.creator_node is None, "a result has a creator in no_backprop_mode"
            s.backend.synchronize(s.device)
            watch.assert_dead("in no_backprop_mode, after a chain of tanh(exp(x / 2))")


class Probe(FunctionNode):
    """The identity; its backward calls what it was given."""

    def __init__(self, called: Callable[[Any], None]) -> None:
        self._called = called

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the input."""
        return (inputs[0],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the cotangent."""
        self._called(as_array(grad_outputs[0]))
        return (grad_outputs[0] * 1.25,)


@check("M08")
def long_chains(s: Subject) -> None:
    """A sweep along a chain holds a few cotangents at a time, not one for each function."""
    links, values = 24, s.values(SHAPE, dtype=s.wide)
    alive: list[weakref.ref[Any]] = []
    counts: list[int] = []
    used: list[int] = []

    with reference_counting_alone(), metered(s) as meter:
        seen = meter.sees_arrays()

        def called(cotangent: Array) -> None:
            try:
                alive.append(weakref.ref(cotangent))
            except TypeError:
                pass
            counts.append(sum(each() is not None for each in alive))
            used.append(meter.now())

        x = s.variable(values, s.wide)
        y = x
        for _ in range(links):
            y = Probe(called).apply((y * 1.01 + 0.5,))[0]
        y = s.xp.sum(y)
        y.backward(retain_graph=False)
    assert max(counts) <= 6, f"in the middle of a chain of {links} functions {max(counts)} cotangents are alive at once"
    size = values.nbytes
    if seen:
        grown = max(used) - used[0]
        assert grown <= 6 * size, (
            f"along a chain of {links} functions the memory in use grew by {grown / size:.1f} arrays; expected a few"
        )


@check("M09", scope="backend")
def prepared_numbers(s: Subject) -> None:
    """The cache of prepared Python numbers is bounded, also for NaNs, each of which is another."""
    array = s.array(s.values((3, 4), dtype=s.wide), s.wide)
    spec = s.backend.spec(array)
    held = dict(spec.constants)
    try:
        for kind, make in (("distinct numbers", lambda i: 0.5 + i), ("NaNs", lambda i: float("nan"))):
            for i in range(PREPARED):
                s.backend.prepare(make(i), spec)
            size = len(spec.constants)
            assert size < PREPARED, f"after {PREPARED} {kind} the cache of prepared numbers has {size}; bound it"
    finally:
        spec.constants.clear()
        spec.constants.update(held)


@check("M10", scope="backend")
def specs(s: Subject) -> None:
    """The cache of specs is bounded."""
    dtype, handle, count = s.array(np.ones(1), s.wide).dtype, s.device.handle, 12_000

    def known() -> int:
        return sum(type(each) is Spec and each.backend is s.backend for each in gc.get_objects())

    for i in range(count):
        s.backend.spec_for((i + 1, 3), dtype, handle)
    there = known()
    assert there < count // 2, f"after arrays of {count} shapes {there} specs are held; expected a bounded cache"


@check("M11")
def failures(s: Subject) -> None:
    """A function that fails lets go of its arguments."""
    with reference_counting_alone():
        watch = Watch()
        a, b = s.array(s.values((3, 4), dtype=s.wide), s.wide), s.array(s.values((3, 5), dtype=s.wide), s.wide)
        for name, call in (("matmul", s.kernels.matmul), ("concat", lambda x1, x2: s.kernels.concat([x1, x2]))):
            try:
                s.host(call(a, b))
            except Exception as error:
                del error
            else:
                raise AssertionError(f"{name} of arrays of shapes (3, 4) and (3, 5) gave a result; expected an error")
        watch.add(a, "the first argument")
        watch.add(b, "the second argument")
        del a, b
        s.backend.synchronize(s.device)
        watch.assert_dead("after matmul and concat of arrays of shapes (3, 4) and (3, 5) failed")


@check("M12")
def gradients(s: Subject) -> None:
    """A gradient dies when it is cleared, and that of a later sweep takes no other with it."""
    with reference_counting_alone():
        watch = Watch()
        x, w = _operands(s)
        for _ in range(2):
            y = _network(s, x, w) + s.xp.sum(x * x) + s.xp.sum(x)
            y.backward()
            watch.add(x.grad, "a gradient of the inputs")
            watch.add(w.grad, "a gradient of the weights")
            x.cleargrad()
            w.cleargrad()
            del y
            s.backend.synchronize(s.device)
            watch.assert_dead("after cleargrad")
        for made in grad([_network(s, x, w)], [x, w]):
            watch.add(made, "a result of grad")
        del made
        s.backend.synchronize(s.device)
        watch.assert_dead("after the results of grad were dropped")


@check("M13", needs=("memory_used",))
def counted(s: Subject) -> None:
    """memory_used goes up by an array's bytes when it is made, down when it dies, and free_memory changes no value."""
    with reference_counting_alone():
        meter, host = Meter(s), s.values((250, 300), dtype=s.wide)
        kept = s.array(host, s.wide)
        before = meter.now()
        array = s.array(host, s.wide)
        grown = meter.now() - before
        assert host.nbytes <= grown <= 2 * host.nbytes + 4096, (
            f"memory_used went up by {grown} when an array of {host.nbytes} bytes was made; expected these bytes"
        )
        others = [device for device in s.backend.devices() if device != s.device]
        elsewhere = [s.backend.memory_used(device) for device in others]
        del array
        left = meter.now() - before
        assert left <= 4096, (
            f"memory_used is {left} higher than before an array of {host.nbytes} bytes was made and died"
        )
        now = [s.backend.memory_used(device) for device in others]
        assert now == elsewhere, f"an array on {s.device} died, and memory_used of {others} changed"
        s.backend.free_memory(s.device)
        s.expect(kept, host, "an array after free_memory", dtype=s.wide)


CHECKS: tuple[Check, ...] = checks_in(globals())
