"""The first pass of a loop: most steps run without a graph; some are recorded to find captured Variables."""

import functools
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.levels import innermost
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import GraphError
from xpgrad.graph.methods.ending import Standing
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import recording
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import root
from xpgrad.transforms.loops.bodies import Body
from xpgrad.transforms.loops.captures import Captures
from xpgrad.transforms.loops.node import Loop, LoopState
from xpgrad.transforms.loops.rows import Rows, Stack
from xpgrad.transforms.loops.schedule import interval, places
from xpgrad.transforms.loops.traced import traced
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trace.level import TraceLevel

ALL = "all"
MAX_UNROLLED = 2
"""A loop of so many steps is recorded as it is."""
FIRST_INTERVAL = 8
"""After how many steps a carry is kept at first, where the number of steps is not known."""
PART = 256
"""After how many steps outputs are stacked."""
ENDLESS = 1 << 62


class Looped:
    """The results of a loop.

    Attributes
    ----------
    carry, outputs : list of Variable
        The leaves of the last carry, and the stacked outputs.
    steps : int
    """

    def __init__(self, carry: list[Variable], outputs: list[Variable], steps: int) -> None:
        self.carry, self.outputs, self.steps = carry, outputs, steps


def looped(
    body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows, steps: int | None,
    checkpoints: int | str | None,
) -> Looped:  # fmt: skip
    """Return the results of a loop.

    Parameters
    ----------
    body : Body
    carry, inputs : sequence of Variable
        The leaves of the first carry, and the arrays with one row for each step.
    rows : Rows
        Rows of `inputs`.
    steps : int or None
        None continues until the body reports the end.
    checkpoints : int, "all" or None
    """
    level = innermost()
    if isinstance(level, TraceLevel) and steps is not None and steps > MAX_UNROLLED:
        found = traced(level, body, carry, inputs, rows, steps, checkpoints)
        if found is not None:
            return Looped(*found, steps)
    if recording() and (
        isinstance(level, TraceLevel) or checkpoints == ALL or (steps is not None and steps <= MAX_UNROLLED)
    ):
        return _plain(body, carry, inputs, rows, steps)
    if not recording():
        return _unrecorded(body, carry, inputs, rows, steps)
    return _First(body, carry, inputs, rows, steps, checkpoints).result()


def _plain(body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows, steps: int | None) -> Looped:
    """Return the results of a loop whose steps are all in the graph."""
    stack, end = Stack(rows.reverse), ENDLESS if steps is None else steps
    last, reached = body.run(0, end, carry, stack.rows, rows.connected(inputs, 0, end))
    return Looped(last, stack.variables(), reached)


def _unrecorded(
    body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows, steps: int | None
) -> Looped:  # fmt: skip
    """Return the results of a loop without a graph."""
    stack = Stack(rows.reverse)
    arrays, reached, end, last = [x._array for x in inputs], 0, 0, carry
    while reached == end and (steps is None or end < steps):
        end = reached + PART if steps is None else min(reached + PART, steps)
        last, reached = body.run(reached, end, last, stack.rows, rows.constants(arrays, reached, end))
        stack.pack()
    return Looped(last, [constant_variable(y) for y in stack.arrays()], reached)


class _First:
    """The first pass of a loop that is differentiated."""

    def __init__(
        self, body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows, steps: int | None,
        checkpoints: int | str | None,
    ) -> None:  # fmt: skip
        self.body, self.start, self.inputs, self.rows, self.steps = body, carry, inputs, rows, steps
        self.arrays = [x._array for x in inputs]
        self.node = Loop(body, rows, checkpoints if isinstance(checkpoints, int) else None)
        self.node.devices = list({x.device for x in (*carry, *inputs)})
        self.wanted = [x._node.requires_grad for x in carry]
        self.outputs: list[bool] = []
        self.captures = Captures()
        self.stack = Stack(rows.reverse)
        self.every = FIRST_INTERVAL if steps is None else interval(steps)
        limit = checkpoints if isinstance(checkpoints, int) else None
        self.most = limit if limit is not None else ENDLESS
        self.places = None if steps is None or limit is None else [*places(steps, limit), steps]

    def result(self) -> Looped:
        """Run the loop, and return its results, connected to their inputs."""
        last, steps = self._run()
        return self._connected(last, steps)

    def _run(self) -> tuple[list[Variable], int]:
        """Make all steps; return the last carry and the number of steps."""
        leaves, step, end = [constant_variable(x._array) for x in self.start], 0, 0
        while step == end and (self.steps is None or step < self.steps):
            state = LoopState(step, leaves, self.node.devices)
            end = self._next(step)
            before = None
            while before != self.wanted and step < end:
                before = list(self.wanted)
                leaves, reached = self._recorded(step, leaves)
                if reached == step:
                    return leaves, step
                if step == state.step:
                    self.node.states.append(state)
                step = reached
            part = step
            while part == step and step < end:
                part = min(step + PART, end)
                slices = self.rows.constants(self.arrays, step, part)
                constant = not (
                    any(self.wanted) or self.captures.nodes or any(x._node.requires_grad for x in self.inputs)
                )
                mode = backprop_mode(constant)  # constants create no graph, in either mode
                leaves, step = called_with(mode, self.body.run, step, part, leaves, self.stack.rows, slices)
                if constant:
                    self._check_constant(leaves)
                self.stack.pack()
        return leaves, step

    def _check_constant(self, leaves: list[Variable]) -> None:
        """Raise if steps depend on Variables from outside, although the steps recorded earlier do not."""
        if any(x._node.requires_grad for x in (*leaves, *(y for row in self.stack.rows for y in row))):
            raise GraphError(
                f"{self.body.title}: a later step depends on an outer Variable that requires a gradient, but the "
                "first steps do not; use it in each step, as with xp.where, or pass checkpoints='all'"
            )

    def _next(self, step: int) -> int:
        """Return the step before which the next carry is kept."""
        if self.places is not None:
            return next(place for place in self.places if place > step)
        if self.steps is not None:
            return min(step + self.every, self.steps)
        states = self.node.states
        if len(states) + 1 > min(2 * self.every, self.most):  # the carries are as many as the steps between two
            self.every *= 2
            states[:] = [state for state in states if state.step % self.every == 0]
        return (step // self.every + 1) * self.every

    def _recorded(self, step: int, leaves: list[Variable]) -> tuple[list[Variable], int]:
        """Run one step in a graph, and note its captured Variables and the results that depend on them."""
        surroundings = Surroundings(self.node.devices)
        trace, rows, reached = self._traced(step, leaves, again=False)
        if reached > step:
            try:
                once_more = functools.partial(self._traced, step, leaves, again=True)
                self.captures.add(trace, lambda: surroundings.again(None, once_more)[0])
            except GraphError as error:
                raise GraphError(f"{self.body.title}: step {step}: {error}") from None
        found = trace.outputs[: len(leaves)]
        self.wanted = [a or x._node.requires_grad for a, x in zip(self.wanted, found, strict=True)]
        row = trace.outputs[len(leaves) :]
        self.outputs = [x._node.requires_grad for x in row] if not self.outputs else [
            a or x._node.requires_grad for a, x in zip(self.outputs, row, strict=True)
        ]  # fmt: skip
        self.stack.rows += [[constant_variable(y._array) for y in each] for each in rows]
        return [constant_variable(x._array) for x in found], reached

    def _traced(
        self, step: int, leaves: list[Variable], *, again: bool
    ) -> tuple[CapturedRun, list[Sequence[Variable]], int]:
        """Return the trace of one step, its outputs, and the step reached."""
        wanted = [x._node.requires_grad for x in self.inputs]
        roots = [root(x._array) if wants else x for x, wants in zip(leaves, self.wanted, strict=True)]
        (slices,) = self.rows.roots(self.arrays, wanted, step, step + 1)
        rows: list[Sequence[Variable]] = []
        reached = step

        def run() -> list[Variable]:
            nonlocal reached
            last, reached = self.body.run(step, step + 1, list(roots), rows, iter((slices,)), again=again)
            return [*last, *(y for row in rows for y in row)]

        places = [*zip(roots, self.start, strict=True), *zip(slices, self.inputs, strict=True)]
        pairs = {copy._node: x._node for copy, x in places if copy._node.requires_grad and x._node.requires_grad}
        standing = Standing(pairs)
        trace: CapturedRun = called_with(standing.entered(), CapturedRun, run, [copy for copy, _ in places])
        return trace, rows, reached

    def _connected(self, last: list[Variable], steps: int) -> Looped:
        """Return the results; results that require a gradient become outputs of the node."""
        outputs = self.stack.arrays()
        if not self.outputs:
            self.outputs = [False] * len(outputs)
        results = [*(x._array for x in last), *outputs]
        wanted = [*self.wanted, *self.outputs]
        found: Any = iter(())
        if any(wanted) and steps:
            self.node.steps, self.node.wanted_carry, self.node.wanted_outputs = steps, self.wanted, self.outputs
            arrays = [array for array, wants in zip(results, wanted, strict=True) if wants]
            found = iter(self.node.connected(self.start, self.inputs, list(self.captures.nodes), arrays))
            made = [next(found) if w else constant_variable(a) for a, w in zip(results, wanted, strict=True)]
        else:
            made = (
                [*self.start, *map(constant_variable, outputs)] if not steps else list(map(constant_variable, results))
            )
        return Looped(made[: len(last)], made[len(last) :], steps)
