"""Code shared by batches of rows and of columns: seeds, sizes, and conversion of values."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from xpgrad import array_api
from xpgrad.backend.spec import Spec
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.enclosing.node import Output, connected, left
from xpgrad.transforms.leaves import zeros_of
from xpgrad.transforms.trees import map_leaves
from xpgrad.types import Array

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
