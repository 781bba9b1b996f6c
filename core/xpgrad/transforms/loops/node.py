"""The node of the graph for a whole loop: it keeps some carries, and makes the steps between them again."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.levels import at_level_of
from xpgrad.backend.plugins import plugins
from xpgrad.config import called_with
from xpgrad.errors import GraphError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.call import recording, transforming
from xpgrad.transforms.leaves import alias, root, zeros_of
from xpgrad.transforms.loops.bodies import Body
from xpgrad.transforms.loops.captures import swept
from xpgrad.transforms.loops.rows import Rows, Stack, joined, stacked
from xpgrad.transforms.loops.schedule import reversals
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.types import Array


class LoopState:
    """Inputs of the steps after a checkpoint.

    Attributes
    ----------
    step : int
    arrays : list of array
        The carry.
    surroundings : Surroundings
    """

    __slots__ = ("arrays", "step", "surroundings")

    def __init__(self, step: int, carry: Sequence[Variable], devices: Sequence[Device]) -> None:
        self.step, self.arrays = step, [x._array for x in carry]
        self.surroundings = Surroundings(devices)

    def roots(self, wanted: Sequence[bool]) -> list[Variable]:
        """Return the carry with `wanted` leaves as new roots of a graph."""
        pairs = zip(self.arrays, wanted, strict=True)
        return [root(array) if wants else constant_variable(array) for array, wants in pairs]

    def constants(self) -> list[Variable]:
        """Return the carry as constants."""
        return [constant_variable(array) for array in self.arrays]


class Loop(FunctionNode):
    """A loop whose steps are computed again for its gradients.

    A class, because its inputs and outputs are defined by a user's function. The inputs are the leaves of the carry,
    then the arrays with a row for each step, then the captured nodes; the outputs are the leaves of the carry and the
    stacked outputs that require a gradient.

    Parameters
    ----------
    body : Body
    rows : Rows
    checkpoints : int or None
        How many carries may be kept; None keeps the carries of the first pass, and records all steps from one
        checkpoint to the next.
    """

    of_library = True

    def __init__(self, body: Body, rows: Rows, checkpoints: int | None) -> None:
        self.body, self.rows, self.checkpoints = body, rows, checkpoints
        self.states: list[LoopState] = []
        self.steps = 0
        self.devices: list[Device] = []
        self.wanted_carry: list[bool] = []
        self.wanted_outputs: list[bool] = []
        self._carries = 0

    @property
    def label(self) -> str:
        """Name that includes the user's function."""
        return self.body.title

    def connected(
        self, carry: Sequence[Variable], rows: Sequence[Variable], captured: Sequence[VariableNode],
        outputs: Sequence[Array],
    ) -> tuple[Variable, ...]:  # fmt: skip
        """Return the outputs, connected to carry, rows and captured nodes by this node."""
        inputs = [*carry, *rows, *(variable_over(node, None) for node in captured)]
        self._carries = len(carry)
        self._kept_inputs = dict.fromkeys(range(len(carry) + len(rows)))
        return self._connect(inputs, outputs)

    def release(self) -> None:
        """Release the retained arrays."""
        super().release()
        self.states = []

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Repeat the steps in reverse order, and return the gradients through their graphs."""
        given = iter(grad_outputs)
        carry = [next(given) if wants else None for wants in self.wanted_carry]
        outputs = [next(given) if wants else None for wants in self.wanted_outputs]
        try:
            found = self._recorded(carry, outputs) if recording() else self._reversed(carry, outputs)
        except GraphError as error:
            raise GraphError(f"{self.label}: {error}") from None
        return tuple(found[i] for i in target_input_indexes)

    # Gradients that are not differentiated again

    def _reversed(self, carry: list[Any], outputs: list[Any]) -> list[Variable | None]:
        run = Reversal(self, carry, outputs)
        kept = [(state.step, state) for state in self.states]
        for _, end, state in reversals(kept, self.steps, self.checkpoints, self._advanced):
            run.reverse(state, end)
        return [None if g is None else constant_variable(g) for g in run.gradients()]

    def arrays(self) -> list[Array]:
        """Return the arrays with a row for each step."""
        return [x._array for x in self.get_retained_inputs()[self._carries :]]

    def again(self, state: LoopState, function: Callable[..., Any], *args: Any) -> Any:
        """Return ``function(*args)``, called in the surroundings of the steps after `state`."""
        return state.surroundings.again(self._origin, function, *args)

    def _advanced(self, start: int, state: LoopState, end: int) -> LoopState:
        """Return the state before the step `end`."""

        def run() -> LoopState:
            slices = self.rows.constants(self.arrays(), start, end)
            carry, _ = self.body.run(start, end, state.constants(), Discarded(), slices, again=True)
            return LoopState(end, carry, self.devices)

        made: LoopState = self.again(state, run)
        return made

    # Gradients that are recorded

    def _recorded(self, carry: list[Any], outputs: list[Any]) -> list[Variable | None]:
        """Repeat all steps in one graph, whose gradients are connected to Variables outside."""
        kept = self.get_retained_inputs()
        roots, stack = list[Variable](), Stack(self.rows.reverse)

        def run() -> list[Variable]:
            roots.extend(alias(x) if x._node.requires_grad else x for x in kept)
            slices = self.rows.connected(roots[self._carries :], 0, self.steps)
            last, _ = self.body.run(0, self.steps, roots[: self._carries], stack.rows, slices, again=True)
            return [*last, *stack.variables()]

        ys = called_with(at_level_of(self.inputs[0].spec), self.again, self.states[0], transforming, run)
        border = [x._node for x in roots] + list(self.inputs[len(kept) :])
        return swept(ys, [*carry, *outputs], border, recorded=True)


class Discarded(list[Any]):
    """A list that stays empty: the outputs of steps that have been collected already."""

    def append(self, item: Any) -> None:
        """Do nothing."""


class Reversal:
    """One pass over the steps in reverse order.

    Parameters
    ----------
    loop : Loop
    carry : list of Variable or None
        The cotangents of the last carry.
    outputs : list of Variable or None
        Cotangents of the stacked outputs.
    """

    def __init__(self, loop: Loop, carry: list[Any], outputs: list[Any]) -> None:
        self.loop = loop
        self.carry = [None if g is None else g._array for g in carry]
        self.outputs = [None if g is None else g._array for g in outputs]
        self.arrays = loop.arrays()
        count, start = len(self.arrays), loop._carries
        self.wanted = [node.requires_grad for node in loop.inputs[start : start + count]]
        self.captured = list(loop.inputs[start + count :])
        self.totals: list[Any] = [None] * len(self.captured)
        self.parts: list[list[Array]] = [[] for _ in self.arrays]

    def reverse(self, state: LoopState, end: int) -> None:
        """Record the steps from `state` to `end`, and continue the cotangents through them."""
        loop, start = self.loop, state.step
        slices = loop.rows.roots(self.arrays, self.wanted, start, end)
        carry, rows = state.roots(loop.wanted_carry), list[Any]()

        def run() -> list[Variable]:
            return loop.body.run(start, end, list(carry), rows, slices, again=True)[0]

        last = loop.again(state, transforming, run)
        ys, gys = list(last), list(self.carry)
        for column, gy in enumerate(self.outputs):
            if gy is not None:
                outputs: Any = loop.body.outputs
                restore = outputs.specs[column].backend.restore
                ys += [row[column] for row in rows]
                gys += [restore(gy[loop.rows.place(step), ...]) for step in range(start, end)]
        border = [x._node for x in carry]
        border += [x._node for row in slices for x, wants in zip(row, self.wanted, strict=True) if wants]
        found = iter(transforming(swept, ys, gys, [*border, *self.captured], recorded=False))
        self.carry = [next(found) for _ in carry]
        self._collect([[next(found) if wants else None for wants in self.wanted] for _ in slices])
        for i, g in enumerate(found):
            self.totals[i] = _added(self.totals[i], g)

    def _collect(self, rows: list[list[Any]]) -> None:
        """Join the gradients of the rows of some steps."""
        for i, spec in enumerate(self.loop.rows.specs):
            if self.wanted[i]:
                zeros = zeros_of(spec)._array if any(row[i] is None for row in rows) else None
                column = [zeros if row[i] is None else row[i] for row in rows]
                self.parts[i].append(stacked(column, self.loop.rows.reverse))

    def gradients(self) -> list[Any]:
        """Return the gradients of all inputs of the loop."""
        reverse = self.loop.rows.reverse
        rows = [joined(parts[::-1], reverse) if parts else None for parts in self.parts]
        return [*self.carry, *rows, *self.totals]


def _added(total: Any, g: Any) -> Any:
    if total is None or g is None:
        return g if total is None else total
    backend = plugins.backend_of(total)
    return backend.restore(backend.xp.add(total, g))
