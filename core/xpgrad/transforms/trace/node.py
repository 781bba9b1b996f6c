"""The node of the graph for one call of a compiled function, whose gradients are computed by another program."""

import functools
import operator
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

from xpgrad.backend.levels import at_level_of
from xpgrad.backend.plugins import plugins
from xpgrad.backend.random import Snapshot
from xpgrad.config import GUARDED, called_with, switches
from xpgrad.errors import GraphError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import recording
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import alias, root, zeros_of
from xpgrad.transforms.trace.executors import Options, chosen
from xpgrad.transforms.trace.guards.effects import repeated_call
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad.transforms.trace.state import without_state
from xpgrad.transforms.trace.tracing import Trace
from xpgrad.transforms.trees import flatten
from xpgrad.types import Array
from xpgrad.watch import anomaly, inspection

JOINED = "concat", "stack"
"""Functions with a part of the result for each operand: a sweep puts factors of products together, also cotangents."""


class Half:
    """The backward half of a compiled function."""

    def __init__(self, trace: Trace, options: Options) -> None:
        self.trace, self.options = trace, options
        self._runs: dict[tuple[int, ...], tuple[Callable[..., Any], Sequence[bool]]] = {}

    def run(self, residuals: Sequence[Array], cotangents: Sequence[Array | None]) -> Sequence[Array | None]:
        """Return the gradients for these cotangents of the connected outputs, None for missing gradients."""
        absent = tuple([i for i, gy in enumerate(cotangents) if gy is None])
        if absent not in self._runs:
            self._runs[absent] = self._made(absent)
        run, remain = self._runs[absent]
        found = iter(run(*residuals, *(gy for gy in cotangents if gy is not None)))
        return [next(found) if remains else None for remains in remain]

    def _made(self, absent: tuple[int, ...]) -> tuple[Callable[..., Any], Sequence[bool]]:
        """Return the runner of the program without some cotangents."""
        program = self.trace.pullback
        assert program is not None
        starts = program.inputs[len(self.trace.kept) :]
        program, remain = without(program, starts, [starts[i] for i in absent])
        made = apply_passes(program, self.options.off, exact=self.options.exact)
        return chosen(made, made.backend, self.options).run, remain


def connect(
    half: Half, outputs: list[Any], residuals: Sequence[Array], leaves: Sequence[Any], streams: Snapshot | None
) -> None:
    """Replace the connected outputs by Variables of the graph; `streams` are the random numbers of this call."""
    node = CompiledCall(half, residuals, leaves, streams)
    inputs = [s.holder if s.kind == "array" else leaves[s.holder] for s in half.trace.wanted]
    arrays = tuple(outputs[i] for i in half.trace.connected)
    for i, y in zip(half.trace.connected, node.connected(inputs, arrays), strict=True):
        outputs[i] = y


class CompiledCall(FunctionNode):
    """One call of a compiled function whose result requires a gradient."""

    of_library = True

    def __init__(self, half: Half, residuals: Sequence[Array], leaves: Sequence[Any], streams: Snapshot | None) -> None:
        self.half, self.residuals, self.leaves, self.streams = half, tuple(residuals), leaves, streams

    @property
    def label(self) -> str:
        """Name that includes the user's function."""
        return f"compiled {getattr(self.half.trace.function, '__name__', 'function')}"

    def connected(self, inputs: list[Variable], outputs: tuple[Array, ...]) -> tuple[Variable, ...]:
        """Return the outputs as Variables that this node has computed from `inputs`."""
        arrays = [x._array for x in inputs]
        results = tuple([output(y, plugins.backend_of(y).spec(y), None, 0) for y in outputs])
        nodes = tuple([x._node for x in inputs])
        if nodes and recording():  # as `FunctionNode.apply` does, for many inputs in less time
            self.inputs, self.rank = nodes, max([node.rank for node in nodes])
            self.outputs = tuple([weakref.ref(self._adopted(y._node, i)) for i, y in enumerate(results)])
            self._kept_inputs = dict(enumerate(arrays))
            if switches().mode & GUARDED:
                self._guards = inspection.guards(arrays)
        return results

    def release(self) -> None:
        """Release the retained arrays."""
        super().release()
        self.residuals, self.leaves = (), ()

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients: by the program, or, if they are to be differentiated, by the function."""
        if recording() or self.half.trace.pullback is None:
            return self._again(target_input_indexes, grad_outputs)
        found = self.half.run(self.residuals, [None if gy is None else gy._array for gy in grad_outputs])
        return tuple(None if found[i] is None else constant_variable(found[i]) for i in target_input_indexes)

    def _again(self, targets: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call the function again, with a graph, and return its gradients as Variables of that."""
        recorded = recording()
        captured, roots, inputs = called_with(at_level_of(self.inputs[0].spec), self._repeated, recorded)
        order = list(roots.values())
        border = {node: i for i, node in enumerate([*(x._node for x in order), *captured.captured])}
        used = [(roots[id(x)]._node, x._node) if id(x) in roots else (x._node,) for x in inputs]
        found = [[border[n] for n in used[t] if n in border] for t in targets]  # an argument may be captured, too
        gradients = iter(captured.gradients(grad_outputs, [i for places in found for i in places], recorded=recorded))
        gxs = [[g for _ in each if (g := next(gradients)) is not None] for each in found]
        return tuple(functools.reduce(operator.add, each) if each else None for each in gxs)

    def _repeated(self, recorded: bool) -> tuple[CapturedRun, dict[int, Variable], list[Any]]:
        """Return another run of the function, its roots by the identity of the arguments, and the inputs."""
        trace = self.half.trace
        kept = self.get_retained_inputs()
        for x, source in zip(kept, trace.wanted, strict=True):
            if source.kind == "array" and source.holder._array is not x._array:
                raise GraphError(
                    f"{self.label}: a Variable that the function captured has another array now, so that its gradients "
                    "cannot be differentiated; differentiate before Variables change, or pass it as an argument"
                )
        inputs: list[Any] = [s.holder if s.kind == "array" else self.leaves[s.holder] for s in trace.wanted]
        roots = {
            id(x): alias(k) if recorded else root(k._array)
            for x, k, source in zip(inputs, kept, trace.wanted, strict=True) if source.kind == "argument"
        }  # fmt: skip
        leaves = [  # by object: one Variable may be several arguments
            roots.get(id(leaf), leaf) if isinstance(leaf, Variable) or type(leaf) not in plugins.by_type
            else constant_variable(leaf)
            for leaf in self.leaves
        ]  # fmt: skip
        args, kwargs = trace.arguments.build(leaves)
        numbers = {leaf.content: n for n, leaf in enumerate(trace.results) if leaf.connected}.values()

        def run() -> list[Variable]:
            again = functools.partial(trace.function, *args, **without_state(kwargs))
            found, _ = flatten(repeated_call(trace.facts.sets, list(trace.state.entering(kwargs)), again))
            return [found[n] for n in numbers]

        order, ends = list(roots.values()), [x._node for x in inputs]
        surroundings = trace.surroundings.drawing(self.streams)
        stored = [s.holder if s.kind == "array" else leaves[s.holder] for s, _, _ in trace.writes]
        before = [(x._array, x._grad) for x in stored]
        try:
            captured: CapturedRun = surroundings.again(anomaly.running.get(), CapturedRun, run, order, ends)
        finally:  # the call has already stored the same values
            for x, (array, grad) in zip(stored, before, strict=True):
                x._array, x._grad = array, grad
        return captured, roots, inputs


def without(program: Program, cotangents: Sequence[Value], absent: Collection[Value]) -> tuple[Program, list[bool]]:
    """Return a backward program without some of its cotangents, and which of its outputs remain.

    Values that depend on absent cotangents only are left out, and a sum with such a value is replaced by its other
    operand: zeros in their place would cost more, and give NaN with infinite values. The program is linear in
    `cotangents`, which are among its inputs.
    """
    derived, gone = set(cotangents), set(absent)
    replaced: dict[Value, Any] = {}
    calls: list[Call] = []
    for call in program.calls:
        linear = [value for value in call.operands() if value in derived]
        derived.update(call.results if linear else ())
        missing = [value for value in linear if value in gone]
        mixed = call.name in JOINED and len(linear) < len(call.args[0])
        if missing and len(missing) == len(linear) and call.pure and not mixed:
            gone.update(call.results)
        elif missing and call.name == "add" and len(linear) == len(call.args) == 2:
            (rest,) = (value for value in linear if value not in gone)
            replaced[call.results[0]] = replaced.get(rest, rest)
        else:
            calls.append(call.substituted(replaced | {value: zeros_of(value.spec)._array for value in missing}))
    remain = [value not in gone for value in program.outputs]
    outputs = tuple(replaced.get(value, value) for value, kept in zip(program.outputs, remain, strict=True) if kept)
    inputs = tuple(value for value in program.inputs if value not in absent)
    return program.replaced(inputs=inputs, outputs=outputs, calls=tuple(calls)), remain
