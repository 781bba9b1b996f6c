"""Manipulation functions of one array or several: shapes and axes of members, after the hidden axis."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.manipulation import broadcast_shapes
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows import totals
from xpgrad.transforms.batch.rows.table import row
from xpgrad.transforms.batch.rows.totals import linear
from xpgrad.types import WHOLE, Array, Shape


@row("reshape")
@linear(totals.reshaped)
def reshape(b: Batching, function: Callable[..., Any], x: Any, /, shape: Any, **options: Any) -> Any:
    """Return batch elements of another shape."""
    given: Shape = (int(shape),) if isinstance(shape, WHOLE) else tuple(shape)
    return b.restored(function(x.values, shape=(x.values.shape[0], *_completed(given, x.size)), **options))


def _completed(shape: Shape, size: int) -> Shape:
    """Return the shape with a length in place of -1, which the library could not compute for a batch of none."""
    known = math.prod(n for n in shape if n != -1)
    unknown = list(shape).count(-1)
    if unknown > 1 or (known != size if not unknown else not known or size % known):
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple(size // known if n == -1 else n for n in shape)


@row("broadcast_to")
def broadcast_to(b: Batching, function: Callable[..., Any], x: Any, /, shape: Any) -> Any:
    """Return batch elements broadcast to a shape."""
    lengths = (shape,) if isinstance(shape, WHOLE) else tuple(shape)
    if x.ndim > len(lengths):
        raise ValueError(f"cannot broadcast shape {x.shape} to {lengths}")
    return b.restored(function(b.aligned(x, len(lengths)), shape=(b.size, *lengths)))


@row("permute_dims")
@linear(totals.permuted)
def permute_dims(b: Batching, function: Callable[..., Any], x: Any, /, axes: tuple[int, ...]) -> Any:
    """Return batch elements with their axes permuted."""
    return b.restored(function(x.values, axes=(0, *b.axes(axes, x.ndim))))


@row("moveaxis")
def moveaxis(b: Batching, function: Callable[..., Any], x: Any, source: Any, destination: Any, /) -> Any:
    """Return batch elements with some axes moved."""
    return b.restored(function(x.values, b.axes(source, x.ndim), b.axes(destination, x.ndim)))


@row("expand_dims")
def expand_dims(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = 0) -> Any:
    """Return batch elements with new axes of length 1."""
    several = isinstance(axis, (tuple, list))
    axes = b.axes(axis, x.ndim + (len(axis) if several else 1))
    return b.restored(function(x.values, axis=axes if several else axes[0]))


@row("squeeze")
def squeeze(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = None) -> Any:
    """Return batch elements without axes of length 1; without `axis`, which the standard requires, all are removed."""
    if axis is None:
        return b.made(b.reshaped(x, tuple(n for n in x.shape if n != 1)))
    return b.restored(function(x.values, axis=b.axes(axis, x.ndim)))


@row("flip")
def flip(b: Batching, function: Callable[..., Any], x: Any, /, *, axis: Any = None) -> Any:
    """Return batch elements with elements in reverse order."""
    axes = b.axes(axis, x.ndim)
    return b.restored(function(x.values, axis=axes)) if axes else x


@row("roll")
def roll(b: Batching, function: Callable[..., Any], x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Return batch elements with elements rolled."""
    if axis is None:
        moved = b.made(b.base.restore(function(b.flat(x), shift=shift, axis=1)))
        return b.made(b.reshaped(moved, x.shape))
    axes = b.axes(axis, x.ndim)
    return b.restored(function(x.values, shift=shift, axis=axes[0] if isinstance(axis, WHOLE) else axes))


@row("repeat", "_repeat")
def repeat(
    b: Batching, function: Callable[..., Any], x: Any, /, *repeats: Any, axis: int | None = None, **options: Any
) -> Any:
    """Return batch elements with each element repeated, with the same counts for all batch elements."""
    if any(type(n) is b.kind and n.batched for n in repeats):
        raise b.refused(
            "repeat has other repeats for each batch element, so results would differ in length",
            "take a length that is enough for all, and x[index] with xp.searchsorted",
        )
    values, along = (b.flat(x), 1) if axis is None else (x.values, b.axis(axis, x.ndim))
    return b.restored(function(values, *map(b.opened, repeats), axis=along, **options))


@row("tile")
def tile(b: Batching, function: Callable[..., Any], x: Any, repetitions: Sequence[int], /) -> Any:
    """Return batch elements repeated as a whole."""
    counts = (repetitions,) if isinstance(repetitions, WHOLE) else tuple(repetitions)
    ndim = max(x.ndim, len(counts))
    return b.restored(function(b.aligned(x, ndim), (1, *(1,) * (ndim - len(counts)), *counts)))


@row("unstack")
def unstack(b: Batching, function: Callable[..., Any], x: Any, /, *, axis: int = 0) -> Any:
    """Return the slices of batch elements along an axis."""
    return b.restored(tuple(function(x.values, axis=b.axis(axis, x.ndim))))


@row("matrix_transpose", "linalg.matrix_transpose")
@linear(totals.transposed)
def matrix_transpose(b: Batching, function: Callable[..., Any], x: Any, /) -> Any:
    """Return the transposes of matrices."""
    return b.restored(function(b.matrix(x)))


@row("tril", "triu")
def triangle(b: Batching, function: Callable[..., Any], x: Any, /, *, k: int = 0) -> Any:
    """Return the triangles of matrices."""
    return b.restored(function(b.matrix(x), k=k))


@row("concat")
def concat(b: Batching, function: Callable[..., Any], arrays: Sequence[Any], /, *, axis: int | None = 0) -> Any:
    """Return the batch elements of arrays concatenated; without `axis`, flattened."""
    if axis is None:
        parts = [b.flat(b.made(b.front(x))) for x in arrays]
        return b.restored(function(parts, axis=1))
    return b.restored(function([b.front(x) for x in arrays], axis=b.axis(axis, arrays[0].ndim)))


@row("stack")
def stack(b: Batching, function: Callable[..., Any], arrays: Sequence[Any], /, *, axis: int = 0) -> Any:
    """Return the batch elements of arrays stacked along a new axis."""
    return b.restored(function([b.front(x) for x in arrays], axis=b.axis(axis, arrays[0].ndim + 1)))


@row("broadcast_arrays")
def broadcast_arrays(b: Batching, function: Callable[..., Any], *arrays: Any) -> Any:
    """Return arrays whose elements have one shape; shared arrays remain shared."""
    shape = broadcast_shapes(*(tuple(x.shape) for x in arrays))
    return tuple(broadcast(b, x, shape) for x in arrays)


@row("meshgrid")
def meshgrid(b: Batching, function: Callable[..., Any], *arrays: Any, indexing: str = "xy") -> Any:
    """Return the coordinates of grids."""
    if indexing not in ("xy", "ij") or any(x.ndim > 1 for x in arrays):
        raise ValueError(f"meshgrid: expected vectors and indexing='xy' or 'ij', got {arrays} and {indexing!r}")
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = 1, 0
    places = list(zip(arrays, order, strict=True))
    lines = [_reshaped(b, x, tuple(x.size if i == axis else 1 for i in range(len(arrays)))) for x, axis in places]
    return broadcast_arrays(b, function, *lines)


def _reshaped(b: Batching, x: BatchArray, shape: Shape) -> Array:
    lead = x.values.shape[:1] if x.batched else ()
    return b.kind(b, b.base.restore(b.xp.reshape(x.values, shape=(*lead, *shape))), x.batched)


def broadcast(b: Batching, x: BatchArray, shape: Shape) -> Array:
    """Return an array with elements broadcast to `shape`; a shared array remains shared."""
    x = x if type(x) is b.kind else b.level.enter(x)  # a number of the library
    values: Array = b.aligned(x, len(shape))
    lead = (b.size,) if x.batched else ()
    return b.kind(b, b.base.restore(b.xp.broadcast_to(values, shape=(*lead, *shape))), x.batched)
