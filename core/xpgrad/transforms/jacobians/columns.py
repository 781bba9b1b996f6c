"""Batches of columns: one evaluation in forward mode, with a batch of tangents of one root."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.call import Mode, RootArgument, over_arguments, places_of
from xpgrad.transforms.forward import along
from xpgrad.transforms.jacobians.batches import basis, chunk_of, empty_block, joined, members, outside, starts
from xpgrad.transforms.jacobians.by_element import turned
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trees import LEAF, Structure, flatten
from xpgrad.types import Shape


class Columns:
    """A Jacobian by batches of columns.

    Parameters
    ----------
    name : str
    chunk_size : int or None
        Number of columns in an evaluation; None chooses it by the memory.
    f, argnums, args, kwargs
        The function, its arguments, and by which of them it is differentiated.
    has_aux, allow_constant : bool
        As for `value_and_grad`.

    Attributes
    ----------
    mode : Mode
    arguments : list of RootArgument
    roots : list of Variable
    outputs : list of Variable
        The inner leaves of the function's result; known after `blocks`.
    structure : Structure
    """

    def __init__(
        self, name: str, chunk_size: int | None, f: Callable[..., Any], argnums: int | Sequence[int],
        args: tuple[Any, ...], kwargs: dict[str, Any], has_aux: bool, allow_constant: bool,
    ) -> None:  # fmt: skip
        self.name, self.chunk_size, self.f, self.kwargs = name, chunk_size, f, kwargs
        self.has_aux, self.allow_constant = has_aux, allow_constant
        self.level, self.mode = BatchLevel(name, 1, "same"), Mode(args, kwargs)
        self.places = places_of(argnums, len(args), name)
        self.args, self.single = list(args), hasattr(argnums, "__index__")
        made = self.level.run(self._entered)
        self.arguments = [made[i] for i in self.places]
        self.roots = [x for argument in self.arguments for x in argument.roots]
        self.outputs: list[Variable] = []
        self.structure: Structure = LEAF
        self._aux: Any = None

    def _entered(self) -> dict[int, RootArgument]:
        return {
            i: RootArgument(self.args[i], self.mode, f"{self.name}: argument {i}") for i in dict.fromkeys(self.places)
        }

    def over_arguments(self, values: Sequence[Any]) -> Any:
        """Return one value for each root as a tree, or a tuple of trees, like the arguments."""
        return over_arguments(self.arguments, values, single=self.single)

    def aux(self) -> Any:
        """Return the auxiliary output converted to outer Variables."""
        return outside(self.level, self._aux)

    def blocks(self) -> list[list[Variable]]:
        """Return one block for each output and root, and store values that the function assigned to outer Variables."""
        self._surroundings, self._evaluated = Surroundings(()), False
        columns = [self._of_root(i, x) for i, x in enumerate(self.roots)]
        self.level.store()
        if not self.level.entries:
            self.level.forget()
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in self.outputs]

    def _of_root(self, index: int, x: Variable) -> list[Variable]:
        spec = x._node.spec
        size = self.level.size = chunk_of(self.chunk_size, max(spec.size, 1), [spec])
        parts: list[list[Variable]] = []
        for start, first in starts(max(spec.size, 1), size):
            found = self.level.run(self._pushed, index, x, first)
            columns = members(self.level, found, slice(start - first, min(size, max(spec.size, 1) - first)))
            parts = parts or [[] for _ in columns]
            for part, column in zip(parts, columns, strict=True):
                part.append(column)
        if not spec.size:
            return [empty_block(y._node.spec, spec) for y in self.outputs]
        return [
            _last(joined(part), y.shape, x.shape) if y._node.spec.differentiable else empty_block(y._node.spec, spec)
            for part, y in zip(parts, self.outputs, strict=True)
        ]

    def _pushed(self, index: int, x: Variable, start: int) -> list[Variable]:
        """Return the tangents of the outputs for a batch of tangents of one root."""
        seed = constant_variable(basis(self.level, x._node.spec, start, self.level.size))
        found = self._along(index, x, seed)
        if x._node.spec.complex and not all(y._node.spec.complex for y in self.outputs):
            other = self._along(index, x, turned(seed))
            found = [
                t if y._node.spec.complex else t + 1j * u for y, t, u in zip(self.outputs, found, other, strict=True)
            ]
        return found

    def _along(self, index: int, x: Variable, seed: Variable) -> list[Variable]:
        def of_one(x: Variable) -> Any:
            remaining = iter([x if i == index else y for i, y in enumerate(self.roots)])
            passed = list(self.args)
            for place, argument in zip(self.places, self.arguments, strict=True):
                passed[place] = argument.replaced(remaining)
            return self.f(*passed, **self.kwargs)

        arguments = self.name, of_one, (x,), (seed,), self.has_aux, self.allow_constant
        if self._evaluated:  # with the same random numbers, and without another change of moving averages
            output, tangent, _ = self._surroundings.again(None, along, *arguments)
        else:
            output, tangent, self._aux = along(*arguments)
        self._evaluated = True
        self.outputs, self.structure = flatten(output)
        return flatten(tangent)[0]


def _last(columns: Variable, shape: Shape, of_root: Shape) -> Variable:
    """Return columns along the first axis as a block, with the shape of the output and of the root."""
    ndim = len(shape)
    moved = array_api.permute_dims(columns, (*range(1, ndim + 1), 0)) if ndim else columns
    return array_api.reshape(moved, (*shape, *of_root))
