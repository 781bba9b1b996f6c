"""The bodies of loops: a user's function that is called at each step, with checks of its results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.plugins import plugins
from xpgrad.errors import IterationError
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.loops.packing import Packing
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Array

SAME = "the carry must keep its structure, shapes, dtypes and devices at each step; cast or reshape it"

StepResult = tuple[list[Variable], Sequence[Variable]]
"""The carry after a step, and the outputs of the step."""


class Body(ABC):
    """The operation of a loop at each step.

    Parameters
    ----------
    name : str
        The public function: ``scan``.
    structure, carry : Structure, sequence of Variable
        Specs of the first carry.

    Attributes
    ----------
    carry : Packing
    outputs : Packing or None
        The structure of the collected outputs, known after the first step.
    """

    def __init__(self, name: str, structure: Structure, carry: Sequence[Variable]) -> None:
        self.name = name
        self.carry = Packing(f"{name}: the carry", SAME, structure, [x._node.spec for x in carry])
        self.outputs: Packing | None = None

    @property
    def title(self) -> str:
        """Name that includes the user's function."""
        return self.name

    def run(
        self, start: int, end: int, leaves: list[Variable], rows: list[Sequence[Variable]],
        slices: Iterable[Sequence[Variable]], *, again: bool = False,
    ) -> tuple[list[Variable], int]:  # fmt: skip
        """Return the carry after the steps from `start` to `end`, or to the last step, and the step reached.

        Parameters
        ----------
        start, end : int
        leaves : list of Variable
            The carry.
        rows : list
            To which the outputs of each step are added.
        slices : iterable
            The rows of the inputs of each step.
        again : bool
            Whether these steps have been made before.
        """
        for step, x in zip(range(start, end), slices, strict=False):
            found = self.step(step, leaves, x, again)
            if found is None:
                return leaves, step
            leaves, row = found
            if row:
                rows.append(row)
        return leaves, end

    @abstractmethod
    def step(self, step: int, leaves: list[Variable], x: Sequence[Variable], again: bool) -> StepResult | None:
        """Return the carry after one step and the outputs of the step; None if the loop has ended before."""


class Scanned(Body):
    """``f(carry, x)``, which returns the next carry and an output.

    Parameters
    ----------
    f : callable
    inputs : Structure
        The structure of `x`.
    """

    def __init__(
        self, name: str, f: Callable[..., Any], structure: Structure, carry: Sequence[Variable], inputs: Structure
    ) -> None:
        super().__init__(name, structure, carry)
        self.f = f
        self.inputs = Packing(f"{name}: x", "", inputs, [])

    @property
    def title(self) -> str:
        """Name that includes the user's function."""
        return f"{self.name} of {getattr(self.f, '__name__', type(self.f).__name__)}"

    def step(self, step: int, leaves: list[Variable], x: Sequence[Variable], again: bool) -> StepResult:
        """Return the carry after one step, and the outputs of the step."""
        result = self.f(self.carry.build(leaves), self.inputs.build(x))
        if type(result) is not tuple or len(result) != 2:
            raise self._no_pair(result, step)
        carry = self.carry.leaves(result[0], step)
        return carry, (self.outputs or self._first(result[1], step)).leaves(result[1], step)

    def _no_pair(self, result: Any, step: int) -> TypeError:
        got = type(result).__name__ + (f" of {len(result)}" if isinstance(result, (tuple, list)) else "")
        return TypeError(
            f"{self.name}: the function must return a pair (carry, y), got {got} at step {step}; return (carry, None) "
            "if there is nothing to collect"
        )

    def _first(self, tree: Any, step: int) -> Packing:
        title = f"{self.name}: the output"
        leaves, structure = flatten(tree)
        paths = structure.paths()
        made = [as_leaf(y, f"{title} that step {step} returned{where(p)}") for y, p in zip(leaves, paths, strict=True)]
        advice = "the outputs of all steps are stacked and must be of one structure, shape and dtype"
        self.outputs = Packing(title, advice, structure, [y._node.spec for y in made])
        return self.outputs


class Counted(Scanned):
    """``f(i, carry)``, which returns the next carry."""

    def __init__(self, name: str, f: Callable[..., Any], structure: Structure, carry: Sequence[Variable]) -> None:
        super().__init__(name, f, structure, carry, Structure())

    def step(self, step: int, leaves: list[Variable], x: Sequence[Variable], again: bool) -> StepResult:
        """Return the carry after one step, which has no outputs."""
        return self.carry.leaves(self.f(*x, self.carry.build(leaves)), step), ()


class Conditional(Body):
    """``f(carry)`` as long as ``cond(carry)`` is true."""

    def __init__(
        self, cond: Callable[[Any], Any], f: Callable[[Any], Any], structure: Structure, carry: Sequence[Variable],
        max_steps: int | None,
    ) -> None:  # fmt: skip
        super().__init__("while_loop", structure, carry)
        self.cond, self.f, self.max_steps = cond, f, max_steps
        self._by_member = False  # whether elements of a batch may differ in the number of their steps

    @property
    def title(self) -> str:
        """Name that includes the user's function."""
        return f"{self.name} of {getattr(self.f, '__name__', type(self.f).__name__)}"

    def step(self, step: int, leaves: list[Variable], x: Sequence[Variable], again: bool) -> StepResult | None:
        """Return the carry after one step, which has no outputs; None if the condition is false."""
        tree, mask = self.carry.build(leaves), None
        if not again or self._by_member:
            goes_on, mask = self._condition(tree, step)
            if not again and not goes_on:
                return None
        found = self.carry.leaves(self.f(tree), step)
        if mask is not None:
            found = [array_api.where(mask, new, old) for new, old in zip(found, leaves, strict=True)]
        return found, ()

    def _condition(self, tree: Any, step: int) -> tuple[bool, Variable | None]:
        """Return whether the loop continues for any element of a batch, and a mask of elements if they differ.

        Raises
        ------
        TypeError
            The condition is not a boolean.
        IterationError
            It is true after `max_steps`.
        """
        found, mask = self.cond(tree), None
        if type(found) is not bool:
            try:
                x = as_leaf(found, "while_loop: the condition")
            except TypeError:
                raise self._no_condition(type(found).__name__, step) from None
            spec = x._node.spec
            if spec.shape or not spec.backend.is_kind(spec.dtype, "bool"):
                raise self._no_condition(repr(spec), step)
            found, by_member = any_member(x._array)
            if by_member:
                self._by_member, mask = True, x
        if found and self.max_steps is not None and step >= self.max_steps:
            raise IterationError(
                f"while_loop: the condition is still true after max_steps={self.max_steps} steps; raise max_steps"
            )
        return found, mask

    @staticmethod
    def _no_condition(got: str, step: int) -> TypeError:
        return TypeError(f"while_loop: the condition must be one boolean, got {got} before step {step}")


def any_member(x: Array) -> tuple[bool, bool]:
    """Return whether a boolean is true for any element of the enclosing batches, and whether elements may differ."""
    by_member = False
    while isinstance(x, (BatchArray, DualArray)):
        if isinstance(x, DualArray):
            x = x.primal
            continue
        by_member, batched, x = by_member or x.batched, x.batched, x.values
        if batched:
            x = plugins.backend_of(x).xp.any(x)
    return bool(x), by_member
