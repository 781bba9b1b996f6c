"""Family M, memory: reference counting frees each array after its last use."""

import weakref
from collections.abc import Callable
from typing import Any

from xpgrad import FunctionNode, Variable, as_array, grad, no_backprop_mode
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.watching import SHAPE, Watch, network, operands, reference_counting_alone
from xpgrad_conformance.subject import Subject


def _watch_graph(watch: Watch, y: Variable) -> None:
    """Watch the functions in the graph of a Variable, and their retained arrays, except the arrays of leaves."""
    waiting: list[Any] = [y._node]
    while waiting:
        function = waiting.pop().creator_node
        if function is not None:
            watch.add(function, f"the function {function.label}")
            for node, array in zip(function.inputs, function.kept_inputs(), strict=True):
                if array is not None and node is not None and node.creator_node is not None:
                    watch.add(array, f"an array that {function.label} kept")
            waiting.extend(node for node in function.inputs if node is not None)


@check("M02")
def graphs(s: Subject) -> None:
    """Reference counting frees a graph and all its arrays with its output, without garbage collection."""
    for swept in (False, True):
        with reference_counting_alone():
            watch = Watch()
            x, w = operands(s, (3, 4))
            y = network(s, x, w)
            _watch_graph(watch, y)
            if swept:
                y.backward()
            watch.add(y, "the output")
            del y
            s.backend.synchronize(s.device)
            watch.assert_dead(f"after the output of a graph was dropped, {'swept' if swept else 'without a sweep'}")
            watch.add(x, "an input")
            watch.add(x.grad, "the gradient of an input") if swept else None
            del x, w
            watch.assert_dead(f"after the inputs were dropped too, {'swept' if swept else 'without a sweep'}")


@check("M03")
def intermediates(s: Subject) -> None:
    """An intermediate array that no rule needs is freed immediately; so are arguments and results of functions."""
    xp = s.xp
    host = s.values((3, 4), 0.2, 0.9)
    programs: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda x, watch: xp.exp(_seen(x + 1.0, watch)),
        "multiply": lambda x, watch: xp.exp(_seen(x * 2.0, watch)),
        "negative": lambda x, watch: xp.exp(_seen(-x, watch)),
        "subtract": lambda x, watch: xp.sum(_seen(x - 0.5, watch)),
        "sum": lambda x, watch: xp.sum(_seen(xp.sum(x * 3.0, axis=0), watch)),
        "matmul": lambda x, watch: xp.sum(_seen(xp.matmul(x, s.array(host.T)), watch)),
        "exp": lambda x, watch: xp.sum(_seen(xp.exp(x), Watch())),
        "where": lambda x, watch: xp.sum(_seen(xp.where(x > 0.5, x, -x), watch)),
        "concat": lambda x, watch: xp.sum(_seen(xp.concat([x, x * 2.0]), watch)),
        "gather": lambda x, watch: xp.sum(_seen(x[1:, ...], watch)),
    }
    for name, program in programs.items():
        with reference_counting_alone():
            watch, x = Watch(), s.variable(host)
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
    """backward(retain_graph=False) releases the retained arrays of the graph, while its output exists."""
    with reference_counting_alone():
        watch, x = Watch(), s.variable(s.values((3, 4)))
        hidden = s.xp.tanh(x * 2.0)
        watch.add(as_array(hidden), "the result of tanh, which its rule kept,")
        second = s.xp.exp(hidden)
        watch.add(as_array(second), "the result of exp, which its rule kept,")
        y = s.xp.sum(second)
        del hidden, second
        y.backward(retain_graph=False)
        s.backend.synchronize(s.device)
        watch.assert_dead("after backward(retain_graph=False)")


@check("M07")
def without_a_graph(s: Subject) -> None:
    """In no_backprop_mode no array is retained: each array is freed when the program drops it."""
    with reference_counting_alone():
        watch, x = Watch(), s.variable(s.values((3, 4)))
        with no_backprop_mode():
            for _ in range(3):
                x = s.xp.tanh(_seen(s.xp.exp(_seen(x * 0.5, watch)), watch))
            assert x.creator_node is None, "a result has a creator in no_backprop_mode"
            s.backend.synchronize(s.device)
            watch.assert_dead("in no_backprop_mode, after a chain of tanh(exp(x / 2))")


class BackwardProbe(FunctionNode):
    """The identity; its backward calls a given function."""

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
    links, values = 24, s.values(SHAPE)
    alive: list[weakref.ref[Any]] = []
    counts: list[int] = []
    used: list[int] = []

    with reference_counting_alone():

        def called(cotangent: Array) -> None:
            try:
                alive.append(weakref.ref(cotangent))
            except TypeError:
                pass
            s.backend.synchronize(s.device)
            counts.append(sum(each() is not None for each in alive))
            if s.has("memory_used"):
                used.append(s.backend.memory_used(s.device) or 0)

        x = s.variable(values)
        y = x
        for _ in range(links):
            y = BackwardProbe(called).apply((y * 1.01 + 0.5,))[0]
        y = s.xp.sum(y)
        y.backward(retain_graph=False)
    assert max(counts) <= 6, (
        f"in the middle of a chain of {links} functions {max(counts)} cotangents exist simultaneously"
    )
    size = values.nbytes
    if used:
        grown = max(used) - used[0]
        assert grown <= 6 * size, (
            f"along a chain of {links} functions the memory in use grew by {grown / size:.1f} arrays; expected a few"
        )


@check("M11")
def failures(s: Subject) -> None:
    """A function that fails lets go of its arguments."""
    with reference_counting_alone():
        watch = Watch()
        a, b = s.array(s.values((3, 4))), s.array(s.values((3, 5)))
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
    """Clearing a gradient frees it, and freeing the gradient of a later sweep frees no other gradient."""
    with reference_counting_alone():
        watch = Watch()
        x, w = operands(s)
        for _ in range(2):
            y = network(s, x, w) + s.xp.sum(x * x) + s.xp.sum(x)
            y.backward()
            watch.add(x.grad, "a gradient of the inputs")
            watch.add(w.grad, "a gradient of the weights")
            x.cleargrad()
            w.cleargrad()
            del y
            s.backend.synchronize(s.device)
            watch.assert_dead("after cleargrad")
        results = grad([network(s, x, w)], [x, w])
        for i in range(len(results)):
            watch.add(results[i], "a result of grad")
        del results
        s.backend.synchronize(s.device)
        watch.assert_dead("after the results of grad were dropped")
