"""The continuous adjoint: gradients of a solution by an integration backward in time.

Source: Chen et al., Neural Ordinary Differential Equations, NeurIPS 2018, algorithm 2.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.levels import at_level_of
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.call import recording, transforming
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import alias, root, zeros_like, zeros_of
from xpgrad.transforms.loops.captures import Captures, swept
from xpgrad.transforms.loops.integration import RightHandSide, integrated
from xpgrad.transforms.loops.step_control import StepControl
from xpgrad.transforms.surroundings import Surroundings


def continuous(
    rhs: RightHandSide, y: list[Variable], moments: Sequence[float], control: StepControl
) -> list[list[Variable]]:
    """Return the solution at all times after the first time, connected by the adjoint equation."""
    if len(moments) == 1:
        return []
    surroundings = Surroundings({x.device for x in y})
    captures = Captures()
    captures.add(_traced(rhs, y, moments[0]), lambda: surroundings.again(None, _traced, rhs, y, moments[0]))
    solutions: list[list[Variable]] = called_with(backprop_mode(False), _solved, rhs, y, moments, control)
    node = Adjoint(rhs, moments, control, len(y), surroundings)
    inputs = [*y, *(variable_over(each, None) for each in captures.nodes)]
    if not any(x._node.requires_grad for x in inputs):
        return solutions
    found = iter(node.connected(inputs, [x for row in solutions for x in row]))
    return [[next(found) for _ in row] for row in solutions]


def _traced(rhs: RightHandSide, y: Sequence[Variable], t: float) -> CapturedRun:
    """Return the trace of one evaluation of the derivative."""
    roots = [root(x._array) for x in y]
    return CapturedRun(lambda: rhs(list(roots), t), roots)


def _solved(
    rhs: RightHandSide, y: list[Variable], moments: Sequence[float], control: StepControl
) -> list[list[Variable]]:
    """Return the solution at all times after the first time, without a graph."""
    y = [constant_variable(x._array) for x in y]
    k, found = rhs(y, moments[0]), []
    for start, end in itertools.pairwise(moments):
        y, k = integrated(rhs, y, k, control, start, end)
        found.append(y)
    return found


class Adjoint(FunctionNode):
    """A solution with the gradients of the differential equation.

    A class, because its inputs are the initial value and the captured Variables of a user's function.
    """

    of_library = True

    def __init__(
        self, rhs: RightHandSide, moments: Sequence[float], control: StepControl, count: int, surroundings: Surroundings
    ) -> None:
        self.rhs, self.moments, self.control = rhs, list(moments), control
        self.count, self.surroundings = count, surroundings

    @property
    def label(self) -> str:
        """Name of the public function."""
        return "odeint"

    def connected(self, inputs: list[Variable], outputs: list[Variable]) -> tuple[Variable, ...]:
        """Return the solution at all times after the first time, connected to the inputs."""
        self._kept_inputs = dict.fromkeys(range(self.count))
        self._kept_outputs = dict.fromkeys(range(len(outputs)))
        return self._connect(inputs, [x._array for x in outputs])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Integrate the adjoint equation; where gradients are recorded, differentiate the steps instead."""
        run = self._recorded if recording() else self._integrated
        found = self.surroundings.again(self._origin, run, grad_outputs)
        return tuple(found[i] for i in target_input_indexes)

    def _integrated(self, grad_outputs: tuple[Any, ...]) -> list[Variable]:
        captured = list(self.inputs[self.count :])
        solutions = self.get_retained_outputs()
        count = self.count
        a: list[Variable] | None = None
        totals = [zeros_of(node.spec) for node in captured]

        def derivative(leaves: list[Any], t: float) -> list[Any]:
            """Return the derivatives of the solution, of the adjoint, and of the gradients of captured Variables."""
            roots = [root(x._array) for x in leaves[:count]]
            ys: list[Variable] = transforming(self.rhs, list(roots), t)
            border = [x._node for x in roots] + captured
            gys = [x._array for x in leaves[count : 2 * count]]
            found = transforming(swept, ys, gys, border, recorded=False)
            parts = zip(found, leaves[count:], strict=True)
            gs = [zeros_like(x) if g is None else -constant_variable(g) for g, x in parts]
            return [*(constant_variable(y._array) for y in ys), *gs]

        for i in range(len(self.moments) - 1, 0, -1):
            place = (i - 1) * count
            gys = grad_outputs[place : place + count]
            y = solutions[place : place + count]
            if a is None:
                if all(g is None for g in gys):
                    continue
                a = [zeros_like(x) for x in y]
            a = [b if g is None else constant_variable(b._array) + g for b, g in zip(a, gys, strict=True)]
            start = [constant_variable(x._array) for x in (*y, *a, *totals)]
            control = StepControl(self.control.rtol, self.control.atol, self.control.max_steps, self.control.eps)
            k = derivative(start, self.moments[i])
            end, _ = integrated(derivative, start, k, control, self.moments[i], self.moments[i - 1])
            a, totals = end[count : 2 * count], end[2 * count :]
        if a is None:
            a = [zeros_of(node.spec) for node in self.inputs[:count]]
        return [*a, *totals]

    def _recorded(self, grad_outputs: tuple[Any, ...]) -> list[Variable | None]:
        """Repeat the steps in a graph, whose gradients are connected to Variables outside."""
        kept = self.get_retained_inputs()
        roots: list[Variable] = []
        control = StepControl(self.control.rtol, self.control.atol, self.control.max_steps, self.control.eps)

        def run() -> list[Variable]:
            roots.extend(alias(x) if x._node.requires_grad else x for x in kept)
            y, k, found = list(roots), self.rhs(list(roots), self.moments[0]), list[Variable]()
            for start, end in itertools.pairwise(self.moments):
                y, k = integrated(self.rhs, y, k, control, start, end)
                found += y
            return found

        ys = called_with(at_level_of(self.inputs[0].spec), transforming, run)
        border = [x._node for x in roots] + list(self.inputs[self.count :])
        return swept(ys, list(grad_outputs), border, recorded=True)
