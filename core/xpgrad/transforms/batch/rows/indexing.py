"""Indexing: an index for batch elements, as one for the library's array with the hidden axis.

If an element is indexed by arrays separated by a slice, their axes come first in the result, before the hidden axis. An
index array that differs between elements requires another index array that counts the elements.
"""

import operator
from collections.abc import Callable, Sequence
from types import EllipsisType, NoneType
from typing import Any, NamedTuple

from xpgrad.backend.indexing import BASIC, at_axis
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Array, Index, Shape

SLICING = frozenset((slice, NoneType, EllipsisType))
MASK = "use xp.where(mask, x, other), which keeps the shape"


class BatchIndex(NamedTuple):
    """Where an index of batch elements is in the library's array.

    Attributes
    ----------
    index : tuple
        Index into the library's array.
    order : tuple of int
        The source axis of each axis of the batch's result, the hidden axis first.
    """

    index: Index
    order: tuple[int, ...]


def place(b: Batching, index: Index, shape: Shape, front: bool) -> BatchIndex:
    """Return the `BatchIndex` at which batch elements of `shape` are indexed.

    Parameters
    ----------
    b : Batching
    index : index of a batch element, of scalars, slices, and batched arrays
    shape : tuple of int
    front : bool
        Whether the library's array has the hidden axis; otherwise it is shared, and an index array differs.
    """
    given = index if type(index) is tuple else (index,)
    types = list(map(type, given))
    if front and SLICING.issuperset(types) and types.count(EllipsisType) < 2 and types.count(slice) <= len(shape):
        order = tuple(range(1 + len(shape) + types.count(NoneType)))  # the common case, without a check of bounds
        return BatchIndex((slice(None), *given), order)
    items = _complete(index, shape)
    arrays = [item for item in items if type(item) is b.kind]
    if any(is_mask(b, item) and item.batched for item in arrays):
        raise b.refused("the mask of an index would give results of different lengths", MASK)
    differs = any(item.batched for item in arrays)
    if differs and any(is_mask(b, item) for item in arrays):
        items = _without_masks(b, items)
        arrays = [item for item in items if type(item) is b.kind]
    kinds = (b.kind, bool, int) if arrays else (bool,)  # integers are index arrays next to another index array
    advanced = [i for i, item in enumerate(items) if type(item) in kinds]
    widths = [1 if is_mask(b, item) else item.ndim for item in arrays]
    width = max([*widths, *(1 for item in items if isinstance(item, bool))], default=0)
    gaps = [items[i] for i in range(advanced[0], advanced[-1]) if i not in advanced] if advanced else []
    adjacent = not gaps or (gaps == [...] and bool(arrays) and not _separates(b, arrays[0]))
    before = advanced[0] if advanced else len(items)
    start = sum(type(item) in (slice, type(None)) for item in items[:before]) if adjacent else 0
    ndim = width + sum(type(item) in (slice, type(None)) for item in items)
    if not differs:
        opened = tuple(b.opened(item) for item in items)
        lead = 0 if adjacent else width  # arrays that are apart come first, and the hidden axis is behind them
        order = (lead, *(i + (i >= lead) for i in range(ndim)))
        return BatchIndex((slice(None), *opened), order)
    aligned = [_aligned(b, item, width) for item in items]
    if not front:
        order = (start, *(i + (i >= start) for i in range(ndim)))
        return BatchIndex(tuple(aligned), order)
    members = b.base.restore(b.xp.reshape(b.counted(b.size, arrays[0]), shape=(b.size, *(1,) * width)))
    order = (0, *range(width + 1, width + 1 + start), *range(1, width + 1), *range(width + 1 + start, ndim + 1))
    return BatchIndex((members, *aligned), order)


def _aligned(b: Batching, item: Any, width: int) -> Any:
    """Return an item with index arrays of one axis at least: PyTorch takes 0-d ones for integers."""
    if type(item) is b.kind and not item.batched and not item.ndim:
        return b.led(item)
    return b.aligned(item, width)


def _complete(index: Index, shape: Shape) -> list[Any]:
    """Return the items of an index with full slices for an ellipsis and axes that it does not mention, and check it."""
    items = list(index) if type(index) is tuple else [index]
    if sum(item is ... for item in items) > 1:
        raise IndexError("an index can have one ellipsis (...) only")
    used = sum(_axes_of(item) for item in items)
    if used > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} axes, but {used} were indexed")
    position = next((i for i, item in enumerate(items) if item is ...), len(items))
    items[position : position + 1] = [slice(None)] * (len(shape) - used) or items[position : position + 1]
    axis = 0
    for item in items:
        if type(item) is int and not -shape[axis] <= item < shape[axis]:
            raise IndexError(f"index {item} is out of range for an axis of length {shape[axis]}")
        axis += _axes_of(item)
    return items


def _separates(b: Batching, like: BatchArray) -> bool:
    """Return whether an ellipsis of no axes is a slice between index arrays for the library, as for NumPy."""
    x, first = b.base.restore(b.xp.reshape(b.counted(2, like), shape=(2, 1, 1))), b.counted(1, like)
    return tuple(b.xp.getitem(x, index=(slice(None), first, ..., first)).shape) == (1, 2)


def _axes_of(item: Any) -> int:
    if item is None or item is ... or isinstance(item, bool):
        return 0
    if isinstance(item, BatchArray) and is_mask(item.batching, item):
        return item.ndim
    return 1


def is_mask(b: Batching, item: Any) -> bool:
    """Return whether an item of an index is an array of booleans."""
    return type(item) is b.kind and b.base.is_kind(item.dtype, "bool")


def _without_masks(b: Batching, items: Sequence[Any]) -> list[Any]:
    """Return an index with the positions where masks are true in their place."""
    found: list[Any] = []
    for item in items:
        if is_mask(b, item):
            found += [b.same(b.base.restore(each)) for each in b.xp.nonzero(item.values)]
        else:
            found.append(item)
    return found


@row("x[]", "getitem")
def getitem(b: Batching, function: Callable[..., Any], x: Any, /, index: Index) -> Any:
    """Return items of batch elements; lists, and arrays of the library, are the same indices for all."""
    items = index if type(index) is tuple else (index,)
    if BASIC.issuperset(map(type, items)) or BASIC.union((b.kind, bool)).issuperset(map(type, items)):
        return taken(b, x, index)
    return b.backend.by_variables(operator.getitem, (x, index), {})


def taken(b: Batching, x: BatchArray, index: Index) -> Array:
    """Return items of batch elements at an index, which may differ between them."""
    where = place(b, index, x.shape, x.batched)
    return b.made(b.permuted(b.base.restore(b.xp.getitem(x.values, index=where.index)), where.order))


@row("take")
def take(
    b: Batching, function: Callable[..., Any], x: Any, indices: Any, /, *, axis: int | None = None, **options: Any
) -> Any:
    """Return items of batch elements along one axis."""
    along, indices = b.only_axis(axis, x), b.opened(indices)
    if type(indices) is not b.kind:
        return b.restored(function(x.values, indices, axis=along, **options))
    return taken(b, x, at_axis(along - 1, indices))


@row("take_along_axis")
def take_along_axis(b: Batching, function: Callable[..., Any], x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Return elements along one axis, with indices for each position along the other axes."""
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: expected as many axes, got shapes {x.shape} and {indices.shape}")
    return b.restored(function(b.led(x), b.led(indices), axis=b.axis(axis, x.ndim)))
