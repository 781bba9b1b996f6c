"""The integration of a differential equation from one output time to the next, as a loop."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.loops.bodies import Body, StepResult
from xpgrad.transforms.loops.forward import looped
from xpgrad.transforms.loops.packing import Packing
from xpgrad.transforms.loops.rows import Rows
from xpgrad.transforms.loops.step_control import Derivative, StepControl, stepped
from xpgrad.transforms.trees import Structure


class RightHandSide:
    """A user's function ``f(y, t, *args)`` of the leaves of `y`.

    Parameters
    ----------
    f : callable
    structure, y : Structure, sequence of Variable
        Specs of the solution.
    args : tuple
    """

    def __init__(
        self, f: Callable[..., Any], structure: Structure, y: Sequence[Variable], args: tuple[Any, ...]
    ) -> None:
        self.f, self.args = f, args
        advice = "it must be like y, for which it is the derivative"
        self.packing = Packing("odeint: the derivative", advice, structure, [x._node.spec for x in y])
        self.time = time_spec(y)

    def __call__(self, leaves: list[Any], t: float) -> list[Any]:
        """Return the derivatives at a time."""
        return self.at(leaves, self.variable(t))

    def at(self, leaves: list[Any], t: Variable) -> list[Any]:
        """Return the derivatives at a time that is a Variable."""
        return self.packing.leaves(self.f(self.packing.build(leaves), t, *self.args), "f")

    def variable(self, t: float) -> Variable:
        """Return a time as a 0-d Variable."""
        spec = self.time
        return constant_variable(spec.backend.restore(spec.backend.asarray(t, dtype=spec.dtype, device=spec.device)))


def time_spec(y: Sequence[Variable]) -> Spec:
    """Return the spec of times: a real number of the precision of the first leaf of the solution."""
    spec = y[0]._node.spec
    dtype = spec.dtype
    if spec.complex:
        dtype = spec.backend.restore(spec.backend.xp.real(y[0]._array)).dtype
    return spec.backend.spec_for((), dtype, spec.device)


class IntegrationSteps(Body):
    """Steps of Dormand and Prince from one time to another; the carry is the solution and its derivative.

    The first pass chooses their sizes, which are constants in derivatives.

    Parameters
    ----------
    f : callable
    carry : sequence of Variable
    control : StepControl
    start, end : float
    """

    def __init__(
        self, f: Derivative, carry: Sequence[Variable], control: StepControl, start: float, end: float
    ) -> None:  # fmt: skip
        children = tuple(Structure() for _ in carry)
        super().__init__("odeint", Structure(list, tuple(range(len(carry))), children), carry)
        self.f, self.control, self.start, self.end = f, control, start, end
        self.times, self.sizes = [start], list[float]()

    def step(self, step: int, leaves: list[Variable], x: Sequence[Variable], again: bool) -> StepResult | None:
        """Return the carry after one step, which has no outputs; None at the end."""
        count = len(leaves) // 2
        y, k = leaves[:count], leaves[count:]
        if again:
            y, k, _ = stepped(self.f, y, k, self.times[step], self.sizes[step])
        elif self.times[step] == self.end:
            return None
        else:
            y, k = self._next(y, k, step)
        return self.carry.leaves([*y, *k], step), ()

    def _next(self, y: list[Any], k: list[Any], step: int) -> tuple[list[Any], list[Any]]:
        """Make a step whose error is small enough."""
        t, control = self.times[step], self.control
        tries = 0
        while True:
            control.check(step + tries, t, self.start, self.end)
            h = control.step(t, self.end)
            after, derivative, stages = stepped(self.f, y, k, t, h)
            if control.accepts(y, after, stages, h):
                break
            tries += 1
        self.sizes.append(h)
        self.times.append(self.end if abs(self.end - t) <= abs(h) else t + h)
        return after, derivative


def integrated(
    f: Derivative, y: list[Variable], k: list[Variable], control: StepControl, start: float, end: float,
    checkpoints: int | str | None = None,
) -> tuple[list[Variable], list[Variable]]:  # fmt: skip
    """Return the solution and its derivative at `end`, starting from their values at `start`."""
    if start == end:
        return y, k
    if not control.size:
        control.start(f, [constant_variable(x._array) for x in y], [constant_variable(x._array) for x in k], start, end)
    body = IntegrationSteps(f, [*y, *k], control, start, end)
    found = looped(body, [*y, *k], [], Rows([], False, 0), None, checkpoints)
    return found.carry[: len(y)], found.carry[len(y) :]
