"""Blocks: parts of large arrays that stay in the cache from one pass of a kernel to the next.

A function along some axes computes each slice along the other axes separately, so a kernel can run all its passes on
one block before the next. Its intermediate results then need no memory of the size of its arguments. The elements
are added in the same order as without blocks: results are equal to the bit.
"""

import functools
import math

from xpgrad.types import Array, Shape

Index = tuple[slice, ...]
Blocks = tuple[Index, ...]

FROM = 2**20  # bytes of an array; smaller arrays fit into the cache whole
CACHED = 2**18  # bytes of a block, so that the five blocks of a gradient fit into a core's cache
COLUMNS_FROM, COLUMNS = 6 * 2**20, 2**20  # the same for blocks across the last axis, on which loops are shorter
NARROWEST = 64  # elements of a block along the last axis, which NumPy's loops run along

WHOLE: Blocks = ((),)


def blocks(x: Array, axes: int | tuple[int, ...] | None) -> Blocks:
    """Return the indices of blocks of `x` with whole slices along `axes`; a single block if `x` is small."""
    if x.nbytes < FROM or axes is None or not in_order(x):
        return WHOLE
    return _cut(x.shape, (axes,) if isinstance(axes, int) else tuple(axes), x.itemsize)


def in_order(*arrays: Array) -> bool:
    """Return whether the elements of each array are in C order in memory, with gaps or without."""
    return all(a.flags.c_contiguous or _descending(a.strides) for a in arrays)


def _descending(strides: Shape) -> bool:
    return all(a >= b > 0 for a, b in zip(strides, (*strides[1:], 1), strict=True))


@functools.lru_cache(256)
def _cut(shape: Shape, axes: tuple[int, ...], itemsize: int) -> Blocks:
    """Return blocks along the first axis that allows small ones, else along the longest.

    Only on the first axis may a block have length 1: on other axes NumPy would add its elements in another order.
    """
    taken = {a % len(shape) for a in axes}
    free = [i for i, n in enumerate(shape) if n > 1 and i not in taken]
    if not free:
        return WHOLE
    size = math.prod(shape) * itemsize
    wanted = -(-size // CACHED)
    long = [i for i, n in enumerate(shape) if n > 1]
    room = {i: shape[i] // (NARROWEST if i == long[-1] else 1 if i == long[0] else 2) for i in free}
    along = next((i for i in free if room[i] >= wanted), max(free, key=room.__getitem__))
    if along == long[-1]:
        wanted = -(-size // COLUMNS) if size >= COLUMNS_FROM else 1
    n, count = shape[along], min(wanted, room[along])
    if count < 2:
        return WHOLE
    before = (slice(None),) * along
    return tuple((*before, slice(n * i // count, n * (i + 1) // count)) for i in range(count))
