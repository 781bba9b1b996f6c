"""A loop within a compiled function: its body is recorded once, and the loop is one call of the program."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.levels import at_level_of
from xpgrad.backend.spec import Spec
from xpgrad.config import called_with
from xpgrad.errors import CompileWarning
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.call import recording, transforming
from xpgrad.transforms.callers import depth
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import alias, root, zeros_of
from xpgrad.transforms.loops.bodies import Body
from xpgrad.transforms.loops.captures import Captures, swept
from xpgrad.transforms.loops.programs import LoopPlan, Pull, Steps, forward, pullback
from xpgrad.transforms.loops.rows import Collected, Rows, Stack
from xpgrad.transforms.loops.schedule import interval, places
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trace.backend import TraceBackend
from xpgrad.transforms.trace.calls import Call, Value, values_in
from xpgrad.transforms.trace.level import TraceLevel
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.recording import RecordedPart
from xpgrad.types import Array


class NoProgram(Exception):
    """The body of a loop cannot be a separate program; the text gives the reason."""


def traced(
    level: TraceLevel, body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows, steps: int,
    checkpoints: int | str | None,
) -> tuple[list[Variable], list[Variable]] | None:  # fmt: skip
    """Return the last carry and the stacked outputs of a loop in a single call, or None if this is impossible."""
    try:
        return _Traced(level, body, carry, inputs, rows, steps, checkpoints).result()
    except NoProgram as error:
        if str(error):
            text = f"compile: {body.title}: {error}, so that each of its {steps:,} steps is a part of the program"
            warnings.warn(text, CompileWarning, stacklevel=depth())
        return None


class _Recorded:
    """One recorded step.

    Attributes
    ----------
    carry, rows : list of TracedArray
        Inputs of the step: the carry, then the rows, then its drawn numbers.
    outputs : list of Variable
    trace : CapturedRun
    part : RecordedPart
    """

    carry: list[Any]
    rows: list[Any]
    slices: list[Variable]
    roots: list[Variable]
    outputs: list[Variable]
    trace: CapturedRun
    part: RecordedPart
    gradients: list[Any]
    cotangents: list[Any]


class _Traced:
    """The recording of a loop."""

    def __init__(
        self, level: TraceLevel, body: Body, carry: list[Variable], inputs: Sequence[Variable], rows: Rows,
        steps: int, checkpoints: int | str | None,
    ) -> None:  # fmt: skip
        self.level, self.body, self.carry, self.inputs, self.rows = level, body, carry, inputs, rows
        self.steps, self.checkpoints = steps, checkpoints
        self.recording = level.recording
        arrays = [x._array for x in (*carry, *inputs)]
        backends = {getattr(a, "backend", None) for a in arrays}
        if len(backends) != 1 or not carry:
            raise NoProgram("its carry and inputs must be arrays of one library")
        (backend,) = backends
        assert isinstance(backend, TraceBackend)
        self.backend = backend
        self.surroundings = Surroundings({x.device for x in (*carry, *inputs)})
        self.wanted = [recording() and x._node.requires_grad for x in carry]
        self.wanted_rows = [recording() and x._node.requires_grad for x in inputs]
        self.wanted_outputs: list[bool] = []
        self.captures = Captures()
        self.effects = False

    # Recording one step

    def _step(self, *, pulled: bool) -> _Recorded:
        """Record the first step, with its gradients if they are requested."""
        made = _Recorded()
        made.carry = [self._placeholder(x._array, x._node.spec) for x in self.carry]
        place = self.rows.place(0)
        made.rows = []
        for x, spec in zip(self.inputs, self.rows.specs, strict=True):
            array = self.backend.base.restore(x._array.values[place, ...])
            made.rows.append(self.backend.kind(self.recording, Value(self.backend.base.spec(array)), array))
            assert self.backend.spec(made.rows[-1]).shape == spec.shape

        def run() -> list[Variable]:
            self.body.outputs = None
            found: list[Sequence[Variable]] = []
            last, _ = self.body.run(0, 1, list(made.roots), found, iter((made.slices,)))
            return [*last, *(y for row in found for y in row)]

        def record() -> None:
            made.roots = _roots(made.carry, self.wanted)
            made.slices = _roots(made.rows, self.wanted_rows)
            if not recording():
                made.outputs = run()
                return
            made.trace = CapturedRun(run, [*made.roots, *made.slices])
            made.outputs = made.trace.outputs
            if pulled:
                self._sweep(made)

        made.part = self.recording.apart(lambda: self.surroundings.again(None, record))
        return made

    def _placeholder(self, x: Any, spec: Spec) -> Any:
        return self.backend.kind(self.recording, Value(x.value.spec), x.values)

    def _sweep(self, made: _Recorded) -> None:
        """Record the gradients of a step."""
        outputs, made.cotangents = [], []
        for y, wants in zip(made.outputs, [*self.wanted, *self.wanted_outputs], strict=True):
            if not wants:
                continue
            base = self.backend.base
            spec = base.spec_for(y._node.spec.shape, y._node.spec.dtype, y._node.spec.device)
            g = self.backend.kind(self.recording, Value(spec), base.ones(spec))
            made.cotangents.append(g)
            outputs.append((y, g))
        border = [x._node for x, wants in zip(made.roots, self.wanted, strict=True) if wants]
        border += [x._node for x, wants in zip(made.slices, self.wanted_rows, strict=True) if wants]
        border += list(self.captures.nodes)
        ys, gys = [y for y, _ in outputs], [g for _, g in outputs]
        made.gradients = transforming(swept, ys, gys, border, recorded=False)

    def _explore(self) -> None:
        """Record steps until the results that require a gradient and the captured Variables are known."""
        before = None
        state = self._state()
        while before != (self.wanted, self.wanted_outputs):
            before = list(self.wanted), list(self.wanted_outputs)
            made = self._step(pulled=False)
            self._check(made, state)
            if recording():  # with the same roots, so that both have the same graph
                self.captures.add(made.trace, lambda: self._step(pulled=False).trace)
            found = [y._node.requires_grad for y in made.outputs]
            count = len(self.wanted)
            self.wanted = [a or b for a, b in zip(self.wanted, found[:count], strict=True)]
            self.wanted_outputs = found[count:]

    def _state(self) -> list[Any]:
        return [(c, c.inside._array, c.inside._grad) for c in self.level.all_captured()]

    def _check(self, made: _Recorded, state: list[Any]) -> None:
        """Raise NoProgram if the step needs values, or changes outer state."""
        if made.part.failure is not None:
            self._restore(state)
            raise NoProgram("")  # the steps, which are recorded one by one now, say why
        new = set(self.level.all_captured()).difference(c for c, _, _ in state)
        changed = any(c.inside._array is not a or c.inside._grad is not g for c, a, g in state)
        if changed or any(c.inside._array is not c.array or c.inside._grad is not c.grad for c in new):
            self._restore(state)
            raise NoProgram("the body changes a Variable from outside")
        inside = {value for call in made.part.calls for value in call.results}
        if any(value not in inside for call in made.part.calls for value in call.writes):
            raise NoProgram("the body writes to an array from outside")
        kind = self.backend.kind
        if any(type(x._array) is not kind for x in made.outputs):
            raise NoProgram("the body returns arrays of another library")

    def _restore(self, state: list[Any]) -> None:
        known = {id(c) for c, _, _ in state}
        for c, array, grad in state:
            c.inside._array, c.inside._grad = array, grad
        for c in {id(c): c for c in self.level.captured.values()}.values():
            if id(c) not in known:
                c.inside._array, c.inside._grad = c.array, c.grad

    # The programs

    def _program(self, name: str, made: _Recorded, outputs: Sequence[Any], further: Sequence[Any] = ()) -> Any:
        """Return a program of recorded calls, and the arrays that it uses from outside."""
        calls, drawn = _without_draws(made.part.calls)
        arrays = [*made.carry, *made.rows]
        inputs = [*(x.value for x in arrays), *drawn, *(x.value for x in further)]
        known = {*inputs, *(value for call in calls for value in call.results)}
        needed: dict[Value, None] = {}
        for call in calls:
            needed.update(dict.fromkeys(value for value in call.operands() if value not in known))
        needed.update(dict.fromkeys(v for v in values_in(tuple(outputs)) if v not in known))
        used = dict(made.part.used)
        for x in made.outputs:
            used.setdefault(x._array.value, x._array.values)
        outside = [self.backend.kind(self.recording, value, used[value]) for value in needed]
        count = len(inputs) - len(further)
        program = Program(name, (*inputs[:count], *needed, *inputs[count:]), tuple(outputs), tuple(calls))
        return program, outside, len(drawn)

    def result(self) -> tuple[list[Variable], list[Variable]]:
        """Return the last carry and the stacked outputs."""
        self._explore()
        connected = recording() and any((*self.wanted, *self.wanted_outputs))
        made = self._step(pulled=False)
        name = self.body.title
        outputs = [y._array.value for y in made.outputs]
        program, outside, drawn = self._program(name, made, outputs)
        plan = self._plan(drawn, kept=connected)
        body = Steps(program, plan)
        self.effects = any(call.draws for call in program.calls)
        drawn_rows = self._drawn(made) if drawn else []
        arrays = [x._array for x in (*self.carry, *self.inputs)]
        results = self._called(self.body.name, forward, [*arrays, *drawn_rows, *outside], {"body": body})
        count = len(outputs)
        if not connected:
            found = [constant_variable(y) for y in results[:count]]
            return found[: plan.carries], found[plan.carries :]
        pull, outside_vjp = self._pull(plan, len(outside))
        node = TracedLoop(self, body, pull, drawn)
        node.arrays = [*results[count:], *arrays[plan.carries :], *drawn_rows, *outside, *outside_vjp]
        found = node.connected(results[:count])
        return found[: plan.carries], found[plan.carries :]

    def _plan(self, drawn: int, *, kept: bool) -> LoopPlan:
        limit = self.checkpoints if isinstance(self.checkpoints, int) else None
        if not kept:
            states: Sequence[int] = ()
        elif limit is not None:
            states = places(self.steps, limit)
        else:
            states = range(0, self.steps, 1 if self.checkpoints is not None else interval(self.steps))
        count = len(self.inputs) + drawn
        return LoopPlan(self.steps, self.rows.reverse, len(self.carry), count, tuple(states), limit)

    def _pull(self, plan: LoopPlan, outside: int) -> tuple[Pull, list[Any]]:
        """Return the program of the gradients of a step, and the outer values that it uses."""
        made = self._step(pulled=True)
        if made.part.failure is not None:
            raise NoProgram("its gradients need values")
        ends = [g for g in made.gradients if g is not None]
        program, used, _ = self._program(f"vjp of {self.body.title}", made, [g.value for g in ends], made.cotangents)
        program = program.replaced(calls=tuple(c for c in program.calls if not c.draws or c.results))
        carries = [x.value.spec for x, wants in zip(made.carry, self.wanted, strict=True) if wants]
        rows = [x.value.spec for x, wants in zip(made.rows, self.wanted_rows, strict=True) if wants]
        base = self.backend.base
        captured = [base.spec_for(node.spec.shape, node.spec.dtype, node.spec.device) for node in self.captures.nodes]
        counts = outside, len(used), sum(self.wanted_outputs)
        present = [g is not None for g in made.gradients]
        return Pull(program, plan, carries, rows, captured, present, counts), used

    def _drawn(self, made: _Recorded) -> list[Any]:
        """Return the random numbers of all steps, drawn before the first step in the order of the steps."""
        calls = [call for call in made.part.calls if _draws(call)]
        base, recording, steps, reverse = self.backend.base, self.recording, self.steps, self.rows.reverse
        if recording.given is not None:
            return [next(recording.given) for call in calls for _ in call.results]
        key, known = None, None
        if recording.drawn is not None:
            specs = tuple(repr(value.spec) for call in calls for value in call.results)
            device = base.device_for(calls[0].results[0].spec.device)
            key = ("loop", steps, reverse, specs, random.position(device))
            known = recording.drawn.get(key) if random.is_replaying() else None
        args = tuple(functools.partial(call.function, *call.args, **call.kwargs) for call in calls), steps, reverse
        arrays = draw_all(*args)
        values = tuple(Value(base.spec(a)) for a in arrays) if known is None else known
        if known is None:
            recording.add("draw_all", draw_all, args, {}, values, single=False, draws=True)
        if recording.drawn is not None and key is not None:
            recording.drawn[key] = values
        return [self.backend.kind(recording, v, a) for v, a in zip(values, arrays, strict=True)]

    def _called(
        self, name: str, function: Callable[..., Any], arrays: Sequence[Any], more: dict[str, Any]
    ) -> list[Any]:
        """Call a function of the library's arrays, record that, and return its results."""
        recording, named = self.recording, {**more, "steps": self.steps}
        for x in arrays:
            recording.hold(x)
        found = function(*(x.values for x in arrays), **named)
        values = tuple(Value(self.backend.base.spec(a)) for a in found)
        args = tuple(x.value for x in arrays)
        recording.add(name, function, args, named, values, single=False, draws=self.effects)
        return [self.backend.kind(recording, v, a) for v, a in zip(values, found, strict=True)]


class TracedLoop(FunctionNode):
    """A loop in a compiled function that records a graph: its gradients are computed by one call as well."""

    of_library = True

    def __init__(self, loop: _Traced, body: Steps, pull: Pull, drawn: int) -> None:
        self.loop, self.body, self.vjp, self.drawn = loop, body, pull, drawn
        self.arrays: list[Any] = []
        self.specs: list[Any] = []
        self._first_drawn = body.plan.carries + body.plan.rows - drawn  # after the carries that are kept, and rows

    @property
    def label(self) -> str:
        """Name that includes the user's function."""
        return self.loop.body.title

    def connected(self, results: Sequence[Any]) -> list[Variable]:
        """Return the results; results that require a gradient become outputs of this node."""
        loop = self.loop
        inputs = [*loop.carry, *loop.inputs, *(variable_over(node, None) for node in loop.captures.nodes)]
        wanted = [*loop.wanted, *loop.wanted_outputs]
        outputs = [a for a, wants in zip(results, wanted, strict=True) if wants]
        self._kept_inputs = dict.fromkeys(range(len(loop.carry) + len(loop.inputs)))
        found = self._connect(inputs, outputs)
        self.specs = [x._node.spec for x in found]
        made = iter(found)
        return [next(made) if wants else constant_variable(a) for a, wants in zip(results, wanted, strict=True)]

    def release(self) -> None:
        """Release the retained arrays."""
        super().release()
        self.arrays = []

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients by one call; recorded gradients use the graph of all steps."""
        loop = self.loop
        if recording():
            found = self._recorded(grad_outputs)
            return tuple(found[i] for i in target_input_indexes)
        given = [self._cotangent(i, g) for i, g in enumerate(grad_outputs)]
        loop.effects = False
        name = f"vjp of {loop.body.name}"
        results = iter(loop._called(name, pullback, [*self.arrays, *given], {"body": self.body, "vjp": self.vjp}))
        wanted = [*loop.wanted, *loop.wanted_rows]
        gradients = [constant_variable(next(results)) if wants else None for wants in wanted]
        gradients += [constant_variable(g) for g in results]
        return tuple(gradients[i] for i in target_input_indexes)

    def _cotangent(self, index: int, g: Any) -> Any:
        return (zeros_of(self.specs[index]) if g is None else g)._array

    def _recorded(self, grad_outputs: tuple[Any, ...]) -> list[Variable | None]:
        """Record all steps in one graph, whose gradients are connected to Variables outside."""
        loop = self.loop
        kept = self.get_retained_inputs()
        roots, stack, count = list[Variable](), Stack(loop.rows.reverse), len(loop.carry)

        def run() -> list[Variable]:
            roots.extend(alias(x) if x._node.requires_grad else x for x in kept)
            slices = loop.rows.connected(roots[count:], 0, loop.steps)
            last, _ = loop.body.run(0, loop.steps, roots[:count], stack.rows, slices, again=True)
            return [*last, *stack.variables()]

        drawn = self.arrays[self._first_drawn : self._first_drawn + self.drawn]
        before = loop.recording.given
        if drawn:
            loop.recording.given = (x[loop.rows.place(step), ...] for step in range(loop.steps) for x in drawn)
        try:
            ends = called_with(
                at_level_of(self.inputs[0].spec), loop.surroundings.again, self._origin, transforming, run
            )
        finally:
            loop.recording.given = before
        ys = [y for y, wants in zip(ends, [*loop.wanted, *loop.wanted_outputs], strict=True) if wants]
        border = [x._node for x in roots] + list(self.inputs[len(kept) :])
        return swept(ys, list(grad_outputs), border, recorded=True)


def _roots(arrays: Sequence[Any], wanted: Sequence[bool]) -> list[Variable]:
    return [root(a) if wants else constant_variable(a) for a, wants in zip(arrays, wanted, strict=True)]


def _draws(call: Call) -> bool:
    return call.draws and bool(call.results)


def _without_draws(calls: Sequence[Call]) -> tuple[list[Call], list[Value]]:
    """Return the calls that draw no random numbers, and the results of the other calls."""
    drawn = [value for call in calls if _draws(call) for value in call.results]
    return [call for call in calls if not _draws(call)], drawn


def draw_all(functions: Sequence[Callable[[], Any]], steps: int, reverse: bool) -> list[Array]:
    """Return the random numbers that functions without arguments draw at each step, stacked."""
    collected = Collected(reverse)
    for _ in range(steps):
        row: list[Array] = []
        for function in functions:
            found = function()
            row += found if isinstance(found, list) else [found]
        collected.add(row)
    return collected.arrays()
