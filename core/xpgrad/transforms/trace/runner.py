"""`Runner`: runs a program for a compiled function: inputs, outputs, values stored in Variables, and the graph."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.graph.assignments import journal
from xpgrad.graph.methods.cuts import ended_before
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.entry import leaving
from xpgrad.transforms.trace.executors import Options, chosen
from xpgrad.transforms.trace.node import Half, connect
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.tracing import Trace, Write
from xpgrad.types import Array

Run = Callable[..., Sequence[Array]]


class Runner:
    """Runs the program of one kind of calls."""

    def __init__(self, trace: Trace, options: Options) -> None:
        self._trace, self._options = trace, options
        self._count = len(trace.program.outputs)
        outputs = (*trace.program.outputs, *trace.kept)
        self._recorded = trace.program.replaced(outputs=outputs, private=len(trace.kept))
        self._half = Half(trace, options) if trace.wanted else None
        self._draws = self._half is not None and any(call.draws for call in trace.program.calls)
        self._made: Program | None = None
        self._leave = leaving(trace.results, trace.structure, variables=trace.variables)
        self._plain = self._half is None and not (trace.writes or trace.ends or trace.facts.sets)
        self._run: Run | None = None

    @property
    def program(self) -> Program:
        """The program as it runs, after all passes."""
        if self._made is None:
            self.prepare()
        assert self._made is not None
        return self._made

    def prepare(self) -> None:
        """Make the function that runs the program."""
        made = apply_passes(self._recorded, self._options.off, exact=self._options.exact)
        name, self._run = chosen(made, made.backend, self._options)
        shown: Program = getattr(self._run, "program", made)  # as the executor has changed it
        self._made = shown.replaced(executor=name, origin=self._trace)

    def first(self) -> Any:
        """Return the result of the recorded run, after storing the values that it has written."""
        trace = self._trace
        outputs, residuals, leaves = trace.outputs(), [*trace.residuals], [*trace.leaves]
        trace.forget()
        return self._finished(outputs, residuals, leaves, trace.surroundings.states, first=True)

    def run(self, arrays: list[Array], leaves: Sequence[Any]) -> Any:
        """Run the program for the inputs and leaves that an `Entry` has found, and return the result."""
        streams = random.snapshot(()) if self._draws else None
        outputs = self._run(*arrays)  # type: ignore[misc]  # `prepare` has been called
        if self._plain:
            return self._leave(outputs, leaves)[0]
        return self._finished(list(outputs[: self._count]), outputs[self._count :], leaves, streams)

    def _finished(
        self, outputs: list[Any], residuals: Sequence[Array], leaves: Sequence[Any], streams: random.Snapshot | None,
        *, first: bool = False,
    ) -> Any:  # fmt: skip
        trace, results = self._trace, outputs
        if trace.ends:
            ended_before(trace.ends, [x for x in leaves if isinstance(x, Variable)])
        if self._half is not None:
            results = list(outputs)
            connect(self._half, results, residuals, leaves, streams)
        result, sets = self._leave(results, leaves)
        store(trace.writes, outputs, leaves)
        for each, value in zip(trace.facts.sets, sets, strict=True):
            (each.first if first else each.run)(value)
        return result


def store(writes: Sequence[Write], outputs: Sequence[Array], leaves: Sequence[Any]) -> None:
    """Store outputs in Variables from outside, as their arrays or their gradients."""
    sources = [write.source for write in writes]
    variables: list[Variable] = [x.holder if x.kind == "array" else leaves[x.holder] for x in sources]
    if (noted := journal.get()) is not None:
        noted.note(*variables)
    for write, x in zip(writes, variables, strict=True):
        array = None if write.output is None else outputs[write.output]
        if write.kind == "array":
            node = x._node
            same = array is not None and node.spec is not None and node.spec.backend.spec(array) is node.spec
            if same and (node.extra is None or node.extra.data is None):
                x._array = array
            else:
                x.array = array
        else:
            x._grad = array
            if type(x) is not Variable:
                x._gradient_arrived()
