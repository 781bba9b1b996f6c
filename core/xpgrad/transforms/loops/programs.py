"""A loop in a program: one call, which runs the program of its body at each step on arrays of the library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xpgrad.backend.spec import Spec
from xpgrad.transforms.leaves import zeros_of
from xpgrad.transforms.loops.rows import Collected
from xpgrad.transforms.loops.schedule import reversals
from xpgrad.transforms.trace.agreement import same_programs
from xpgrad.transforms.trace.calls import Composite
from xpgrad.transforms.trace.executors import Options, chosen
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.program import Program
from xpgrad.types import Array

Run = Callable[..., Sequence[Array]]


@dataclass(frozen=True)
class LoopPlan:
    """How a loop runs.

    Attributes
    ----------
    steps : int
    reverse : bool
    carries, rows : int
        Numbers of leaves in the carry, and of arrays with a row for each step.
    kept : tuple of int
        The steps before which carries are kept.
    checkpoints : int or None
        How many may be kept in the backward pass.
    """

    steps: int
    reverse: bool
    carries: int
    rows: int
    kept: tuple[int, ...] = ()
    checkpoints: int | None = None


class Steps(Composite):
    """The program of one step: from the carry, the rows, and the values from outside.

    Parameters
    ----------
    program : Program
    plan : LoopPlan

    Attributes
    ----------
    backend : Backend
        The library of its arrays.
    restore : callable
        Its method.
    """

    def __init__(self, program: Program, plan: LoopPlan) -> None:
        self.program, self.plan = program, plan
        backend = program.backend
        assert backend is not None  # at least one array exists
        self.backend, self.restore = backend, backend.restore
        self._options: Options | None = None
        self._run: Run | None = None

    def __repr__(self) -> str:
        count = len(self.program.calls)
        return f"<{self.program.name}: {count} call{'s' * (count != 1)}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Steps) and self.plan == other.plan and same_programs(self.program, other.program)
        )  # fmt: skip

    __hash__ = object.__hash__

    def prepare(self, options: Options) -> None:
        """Prepare the function that runs the step, with the options of the compiled function."""
        if self._options != options or self._run is None:
            self._options, self._run = options, self._made(options)

    def _made(self, options: Options) -> Run:
        outputs = self.program.outputs
        made = apply_passes(self.program.replaced(private=len(outputs)), options.off, exact=options.exact)
        return chosen(made, made.backend, options).run

    @property
    def run(self) -> Run:
        """Function that runs the step: exactly as recorded until it has been prepared."""
        if self._run is None:
            self._run = self._made(Options(exact=True))
        return self._run

    def row(self, arrays: Sequence[Array], step: int) -> list[Array]:
        """Return the rows of a step."""
        plan, restore = self.plan, self.restore
        place = plan.steps - 1 - step if plan.reverse else step
        return [restore(array[place, ...]) for array in arrays]


def forward(*arrays: Array, body: Steps, steps: int) -> tuple[Array, ...]:
    """Return the last carry, the stacked outputs, and the carries that are kept, stacked.

    Parameters
    ----------
    *arrays : array
        The carry, the arrays with a row for each step, and the outer values that the steps use.
    body : Steps
    steps : int
    """
    check_arrays(body, arrays)
    plan, run = body.plan, body.run
    carry, rest = arrays[: plan.carries], arrays[plan.carries :]
    rows, outside = rest[: plan.rows], rest[plan.rows :]
    outputs, kept, places = Collected(plan.reverse), Collected(False), frozenset(plan.kept)
    for step in range(steps):
        if step in places:
            kept.add(carry)
        found = run(*carry, *body.row(rows, step), *outside)
        carry = tuple(found[: plan.carries])
        if len(found) > plan.carries:
            outputs.add(found[plan.carries :])
    return (*carry, *outputs.arrays(), *kept.arrays())


def pullback(*arrays: Array, body: Steps, vjp: "Pull", steps: int) -> tuple[Array, ...]:
    """Return the gradients of the carry, of the rows, and of the outer values that the steps use.

    Parameters
    ----------
    *arrays : array
        The values kept by `forward`, the rows, the outer values that the steps and their gradients use, and the
        cotangents of the last carry and of the outputs.
    body, vjp : Steps, Pull
    steps : int
    """
    check_arrays(body, arrays)
    return Backward(arrays, body, vjp, steps).run()


class Pull(Steps):
    """The program of the gradients of one step.

    From the carry, the rows, outer values, and cotangents, it computes the existing gradients.

    Parameters
    ----------
    program : Program
    plan : LoopPlan
    carries, rows, captured : sequence of Spec or None
        For each wanted leaf of the carry, each wanted row and each captured Variable: the spec of its gradient.
    present : sequence of bool
        Mask of gradients that the program computes; the remaining gradients are zeros.
    counts : tuple of int
        Numbers of outer values that the steps and their gradients use, and of cotangents of outputs.
    """

    def __init__(
        self, program: Program, plan: LoopPlan, carries: Sequence[Spec], rows: Sequence[Spec], captured: Sequence[Spec],
        present: Sequence[bool], counts: tuple[int, int, int],
    ) -> None:  # fmt: skip
        super().__init__(program, plan)
        self.carries, self.rows, self.captured = carries, rows, captured
        self.present, self.counts = tuple(present), counts
        self._complete = all(self.present)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pull) and self.present == other.present and Steps.__eq__(self, other)

    __hash__ = object.__hash__

    def gradients(self, found: Sequence[Array]) -> Sequence[Array | None]:
        """Return the gradients of one step, None for zeros."""
        if self._complete:
            return found
        remaining = iter(found)
        return [next(remaining) if there else None for there in self.present]


class Backward:
    """One run of the backward pass."""

    def __init__(self, arrays: Sequence[Array], body: Steps, vjp: Pull, steps: int) -> None:
        self.body, self.vjp, self.steps, plan = body, vjp, steps, body.plan
        remaining = iter(arrays)

        def take(count: int) -> list[Array]:
            return [next(remaining) for _ in range(count)]

        self.kept, self.rows = take(plan.carries), take(plan.rows)
        self.outside, self.outside_vjp = take(vjp.counts[0]), take(vjp.counts[1])
        self.carry: Sequence[Array] = take(len(vjp.carries))
        self.outputs = take(vjp.counts[2])
        self.totals: list[Array | None] = [None] * len(vjp.captured)
        self._vjp, self._add = vjp.run, body.backend.xp.add
        self.parts = Collected(not plan.reverse)  # they are computed from the last step to the first

    def run(self) -> tuple[Array, ...]:
        """Return the gradients."""
        plan = self.body.plan
        restore = self.body.backend.restore
        kept: list[tuple[int, Sequence[Array]]]
        kept = [(step, [restore(a[i, ...]) for a in self.kept]) for i, step in enumerate(plan.kept)]
        for start, end, carry in reversals(kept, self.steps, plan.checkpoints, self._advanced):
            carries = self._carries(start, carry, end - 1)
            for step in range(end - 1, start - 1, -1):
                self._pull(carries.pop(), step)
        totals = self._filled(self.totals, self.vjp.captured)
        return (*self.carry, *self.parts.arrays(), *totals)

    def _advanced(self, start: int, carry: Sequence[Array], end: int) -> Sequence[Array]:
        return self._carries(start, carry, end)[-1]

    def _carries(self, start: int, carry: Sequence[Array], end: int) -> list[Sequence[Array]]:
        """Return the carries before each step from `start` to `end`, including `start`."""
        body, count = self.body, self.body.plan.carries
        found, run = [carry], body.run
        for step in range(start, end):
            found.append(run(*found[-1], *body.row(self.rows, step), *self.outside)[:count])
        return found

    def _pull(self, carry: Sequence[Array], step: int) -> None:
        """Continue the cotangents through a step."""
        vjp = self.vjp
        cotangents = vjp.row(self.outputs, step) if self.outputs else ()
        found = vjp.gradients(self._vjp(*carry, *vjp.row(self.rows, step), *self.outside_vjp, *self.carry, *cotangents))
        carries, rows = len(vjp.carries), len(vjp.rows)
        self.carry = self._filled(found[:carries], vjp.carries)
        if rows:
            self.parts.add(self._filled(found[carries : carries + rows], vjp.rows))
        totals = self.totals
        for i, g in enumerate(found[carries + rows :]):
            held = totals[i]
            totals[i] = g if held is None else held if g is None else vjp.restore(self._add(held, g))

    def _filled(self, gradients: Sequence[Array | None], specs: Sequence[Spec]) -> list[Array]:
        return [zeros_of(spec)._array if g is None else g for g, spec in zip(gradients, specs, strict=True)]


def check_arrays(body: Steps, arrays: Sequence[Array]) -> None:
    """Raise TypeError if a compiler of the library passes symbols instead of arrays: it would unroll the loop."""
    kinds = body.backend.array_types
    for array in arrays:
        if type(array) not in kinds:
            raise TypeError(f"a loop takes arrays, got {type(array).__name__}")
