"""Jacobians by one sweep for all elements: the cotangents, or tangents, are a batch."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad import array_api
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.by_element import turned
from xpgrad.transforms.call import Call
from xpgrad.transforms.enclosing.node import Output, connected, left
from xpgrad.transforms.leaves import or_zeros, zeros_of
from xpgrad.transforms.trees import map_leaves
from xpgrad.types import Array

MEMORY = 256 * 2**20
"""Number of bytes that a sweep for several elements may take more than one for one element, by default."""
HELD_AT_ONCE = 4
"""How many cotangents of the largest array a sweep holds at a time, by experience."""


class Batched:
    """One evaluation of a function, whose Jacobian is computed for batches of rows.

    Parameters
    ----------
    name : str
    chunk_size : int or None
        Number of rows in a sweep; None chooses it by the memory.
    make : callable
        Returns the `Call`, at the level of the batch: all arrays are the same for all members.
    """

    def __init__(self, name: str, chunk_size: int | None, make: Callable[[], Call]) -> None:
        self.level = BatchLevel(name, 1, "same")
        self.chunk_size = chunk_size
        self.call: Call = self.level.run(make)
        self.entries = list(self.level.entries)

    def aux(self) -> Any:
        """Return the auxiliary output as Variables outside."""
        return self.outside(self.call.aux)

    def outside(self, tree: Any) -> Any:
        """Return a tree with its Variables as those outside."""

        def leave(leaf: Any) -> Any:
            if not isinstance(leaf, Variable):
                return leaf._array.values if self.level.holds(leaf) else leaf
            if not self.level.holds(leaf._array):
                return leaf
            ((found,),) = left(self.level, [Output(leaf, ports.only(self.level))], unshared=True)
            return found

        return map_leaves(leave, tree)

    def blocks(self) -> list[list[Variable]]:
        """Return one block for each output and root."""
        sizes = [y.size for y in self.call.outputs]
        size = self._chunk(max(sizes, default=1))
        self.level.size = size
        return [self._rows(i, y, size) for i, y in enumerate(self.call.outputs)]

    def _chunk(self, rows: int) -> int:
        """Return how many rows a sweep computes."""
        if self.chunk_size is not None:
            return max(1, min(self.chunk_size, rows))
        return max(1, min(rows, MEMORY // (HELD_AT_ONCE * _largest(self.call))))

    def _rows(self, index: int, y: Variable, size: int) -> list[Variable]:
        """Return the blocks of one output."""
        count = y.size
        parts: list[list[Variable]] = [[] for _ in self.call.roots]
        if not count or not y._node.spec.differentiable:
            return [self._empty(y, x) for x in self.call.roots]
        for start in range(0, count, size):
            first = max(0, min(start, count - size))  # all sweeps have as many rows, so the last ones may overlap
            found = self.level.run(self._swept, index, y, first, size)
            outputs = [Output(g, ports.member(self.level, 0)) for g in found]
            outer = connected(self.level, self.entries, outputs)
            for part, (rows,) in zip(parts, outer, strict=True):
                assert rows is not None
                taken = rows[start - first : min(size, count - first)] if first < start or size > count else rows
                part.append(taken)
        return [self._block(part, y, x) for part, x in zip(parts, self.call.roots, strict=True)]

    def _swept(self, index: int, y: Variable, start: int, size: int) -> list[Variable]:
        """Return the gradients of the roots for some of the rows, a batch."""
        call, seed = self.call, constant_variable(self._basis(y, start, size))
        recorded = call.mode.recorded
        seeds: list[Variable | None] = [seed if i == index else None for i in range(len(call.outputs))]
        found = or_zeros(call.gradients(seeds, recorded=recorded), call.roots)
        if not y._node.spec.complex:
            return found
        seeds[index] = turned(seed)
        other = or_zeros(call.gradients(seeds, recorded=recorded), call.roots)
        return [
            array_api.conj(g) if x._node.spec.complex else g + 1j * h
            for x, g, h in zip(call.roots, found, other, strict=True)
        ]

    def _basis(self, x: Variable, start: int, size: int) -> Array:
        """Return a batch of arrays like `x`, each 1 at one element and 0 elsewhere."""
        spec = x._node.spec
        batching = x._array.batching
        base = batching.base
        xp = base.namespace
        count = max(spec.size, start + size)
        rows = xp.eye(size, count, k=start, dtype=spec.dtype, device=spec.device)
        if count > spec.size:
            rows = rows[:, : spec.size]
        found: Array = batching.made(base.restore(base.xp.reshape(rows, shape=(size, *spec.shape))))
        return found

    def _block(self, parts: list[Variable], y: Variable, x: Variable) -> Variable:
        """Return the rows as one array, of the shape of the output and that of the root."""
        whole = parts[0] if len(parts) == 1 else array_api.concat(parts, axis=0)
        return array_api.reshape(whole, (*y.shape, *x.shape))

    def _empty(self, y: Variable, x: Variable) -> Variable:
        spec = (x if x._node.spec.complex else y)._node.spec
        base: Any = x._node.spec.backend.base
        return zeros_of(base.spec_for((*y.shape, *x.shape), spec.dtype, x._node.spec.device))


def _largest(call: Call) -> int:
    """Return the number of bytes of the largest array between the outputs and the roots."""
    seen: set[FunctionBase] = set()
    waiting = [x._node for x in [*call.outputs, *call.roots]]
    largest = 1
    while waiting:
        node = waiting.pop()
        largest = max(largest, _nbytes(node.spec))
        f = node.live_creator()
        if f is not None and f not in seen:
            seen.add(f)
            waiting.extend(each for each in f.inputs or () if each is not None)
    return largest


def _nbytes(spec: Any) -> int:
    bits = spec.backend.finfo(spec.dtype).bits if spec.differentiable else 64
    return int(math.prod(spec.shape) * bits // 8)
