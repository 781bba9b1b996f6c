"""Manipulation functions of several arrays."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.manipulation import broadcast_shapes
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Array, Shape


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
