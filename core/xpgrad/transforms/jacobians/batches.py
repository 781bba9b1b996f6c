"""Jacobians by batches of rows or of columns.

Rows take one sweep, with a batch of cotangents, from one output. Columns take one evaluation in forward mode, with a
batch of tangents of one root.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.spec import Spec
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.call import Evaluation, Mode, RootArgument, over_arguments, places_of
from xpgrad.transforms.enclosing.node import Output, connected, left
from xpgrad.transforms.forward import along
from xpgrad.transforms.leaves import derivatives, or_zeros, turned, zeros_of
from xpgrad.transforms.surroundings import Surroundings
from xpgrad.transforms.trees import LEAF, Structure, flatten, map_leaves
from xpgrad.types import Array, Shape

MEMORY = 256 * 2**20
"""Number of bytes that a sweep for several elements may take more than one for one element, by default."""
HELD_AT_ONCE = 4
"""How many arrays like the largest a sweep holds at a time, by experience."""


def basis(level: BatchLevel, spec: Spec, start: int, size: int) -> Array:
    """Return a batch of arrays of `spec`: array i is 1 at the element ``start + i``, and 0 at all other elements.

    Members that would be beyond the last element are zeros.
    """
    base: Any = spec.backend.base
    count = max(spec.size, start + size)
    rows = base.namespace.eye(size, count, k=start, dtype=spec.dtype, device=spec.device)
    if count > spec.size:
        rows = rows[:, : spec.size]
    backend: Any = spec.backend
    batching = level.batching(backend)
    return batching.made(base.restore(base.xp.reshape(rows, shape=(size, *spec.shape))))


def chunk_of(chunk_size: int | None, count: int, specs: Iterable[Spec]) -> int:
    """Return the number of rows or columns, of `count`, to compute together in operations on arrays of `specs`."""
    if chunk_size is not None:
        return max(1, min(chunk_size, count))
    largest = max(map(_nbytes, specs), default=1)
    return max(1, min(count, MEMORY // (HELD_AT_ONCE * max(largest, 1))))


def _nbytes(spec: Spec) -> int:
    bits = spec.backend.finfo(spec.dtype).bits if spec.differentiable else 64
    return int(math.prod(spec.shape) * bits // 8)


def starts(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the start of each part and of its batch: all batches have the same size, so the last may overlap."""
    for start in range(0, count, size):
        yield start, max(0, min(start, count - size))


def members(level: BatchLevel, found: list[Variable], keep: slice) -> list[Variable]:
    """Return Variables within as those outside, with some of the batch elements along the first axis."""
    outputs = [Output(g, ports.member(level, 0)) for g in found]
    outer = connected(level, list(level.entries), outputs)
    whole = keep == slice(0, level.size)
    return [rows if whole else rows[keep] for (rows,) in outer if rows is not None]


def outside(level: BatchLevel, tree: Any) -> Any:
    """Return a tree with its Variables and arrays, which are shared by all batch elements, as those outside."""

    def leave(leaf: Any) -> Any:
        if not isinstance(leaf, Variable):
            return leaf.values if level.holds(leaf) else leaf
        if leaf._array is None or not level.holds(leaf._array):
            return leaf
        ((found,),) = left(level, [Output(leaf, ports.only(level))], unshared=True)
        return found

    return map_leaves(leave, tree)


def joined(parts: list[Variable]) -> Variable:
    """Return parts along the first axis as one array."""
    return parts[0] if len(parts) == 1 else array_api.concat(parts, axis=0)


def empty_block(y: Spec, x: Spec) -> Variable:
    """Return zero derivatives of an output of spec `y`, without elements or gradient, by a root of spec `x`."""
    lead = x if x.complex else y
    base: Any = x.backend.base
    return zeros_of(base.spec_for((*y.shape, *x.shape), lead.dtype, x.device))


class JacobianRows:
    """One evaluation of a function, whose Jacobian is computed by batches of rows.

    Parameters
    ----------
    name : str
    chunk_size : int or None
        Number of rows in a sweep; None chooses it by the memory.
    make : callable
        Returns the `Evaluation`, at the level of the batch: all arrays are shared by all batch elements.

    Attributes
    ----------
    call : Evaluation
    """

    def __init__(self, name: str, chunk_size: int | None, make: Callable[[], Evaluation]) -> None:
        self.level, self.chunk_size = BatchLevel(name, 1, "same"), chunk_size
        self.call: Evaluation = self.level.run(make)

    def aux(self) -> Any:
        """Return the auxiliary output converted to outer Variables."""
        return outside(self.level, self.call.aux)

    def blocks(self) -> list[list[Variable]]:
        """Return one block for each output and root, and store values that the function assigned to outer Variables."""
        outputs = self.call.outputs
        most = max((y.size for y in outputs), default=1)
        self.level.size = chunk_of(self.chunk_size, most, specs_of(self.call))
        found = [self._of_output(i, y) for i, y in enumerate(outputs)]
        self.level.store()
        if not self.level.entries:
            self.level.forget()
        return found

    def _of_output(self, index: int, y: Variable) -> list[Variable]:
        roots, spec = self.call.roots, y._node.spec
        if not spec.size or not spec.differentiable:
            return [empty_block(spec, x._node.spec) for x in roots]
        parts: list[list[Variable]] = [[] for _ in roots]
        size = self.level.size
        for start, first in starts(spec.size, size):
            found = self.level.run(self._swept, index, y, first)
            rows = members(self.level, found, slice(start - first, min(size, spec.size - first)))
            for part, row in zip(parts, rows, strict=True):
                part.append(row)
        return [
            array_api.reshape(joined(part), (*y.shape, *x.shape)) for part, x in zip(parts, roots, strict=True)
        ]  # fmt: skip

    def _swept(self, index: int, y: Variable, start: int) -> list[Variable]:
        """Return the gradients of the roots for a batch of rows."""
        call, recorded = self.call, self.call.mode.recorded

        def pull(seed: Variable) -> list[Variable]:
            seeds = [seed if i == index else None for i in range(len(call.outputs))]
            return or_zeros(call.gradients(seeds, recorded=recorded), call.roots)

        seed = constant_variable(basis(self.level, y._node.spec, start, self.level.size))
        return derivatives(pull, seed, y, call.roots)


def specs_of(call: Evaluation) -> Iterator[Spec]:
    """Yield the specs of the outputs, the roots, and the values between them, which get cotangents."""
    seen: set[FunctionBase] = set()
    waiting = [x._node for x in [*call.outputs, *call.roots]]
    while waiting:
        node = waiting.pop()
        yield node.spec
        f = node.live_creator()
        if f is not None and f not in seen:
            seen.add(f)
            waiting.extend(each for each in f.input_nodes or () if each is not None and each.requires_grad)


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
        made = self.level.run(
            lambda: {i: RootArgument(args[i], self.mode, f"{name}: argument {i}") for i in dict.fromkeys(self.places)}
        )
        self.arguments = [made[i] for i in self.places]
        self.roots = [x for argument in self.arguments for x in argument.roots]
        self.outputs: list[Variable] = []
        self.structure: Structure = LEAF
        self._aux: Any = None

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
