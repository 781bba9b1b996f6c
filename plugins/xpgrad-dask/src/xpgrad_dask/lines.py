"""Sorting, searching and gathers along one axis, which is in one chunk; other axes stay split."""

import warnings
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xpgrad.types import Array, Shape
from xpgrad_dask.blocks import along, empty, whole
from xpgrad_dask.creation import asarray
from xpgrad_dask.libraries import da, host
from xpgrad_dask.shapes import broadcast_to, reshape


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements in order along `axis`."""
    return along(host.sort, normalize_axis_index(axis, x.ndim), x, dtype=x.dtype, descending=descending, stable=stable)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort `x` along `axis`."""
    dtype = np.dtype(np.int64)
    return along(host.argsort, normalize_axis_index(axis, x.ndim), x, dtype=dtype, descending=descending, stable=stable)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return elements of `x` along one axis at the numbers in a vector; the axis stays in its chunks.

    Numbers out of range raise an IndexError when computed; dask would select arbitrary elements.
    """
    length = x.shape[0 if axis is None else axis]
    indices = within(indices, length)
    index = (slice(None),) * (0 if axis is None else normalize_axis_index(axis, x.ndim)) + (indices,)
    with warnings.catch_warnings():  # dask casts its `meta`, an empty array
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        return x[index]


def within(indices: Array, length: int) -> Array:
    """Return indices of an axis of this length; computing those out of range is an IndexError."""
    meta = empty(indices.ndim, indices.dtype)
    return da.map_blocks(_within, indices, length=length, dtype=indices.dtype, meta=meta)


def _within(numbers: Any, length: int) -> Any:
    outside = numbers[(numbers < -length) | (numbers >= length)]
    if outside.size:
        raise IndexError(f"take or getitem: expected numbers from {-length} to {length - 1}, got {outside[0]}")
    return numbers


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return elements of `x` along one axis, at indices for each line."""
    axis = normalize_axis_index(axis, x.ndim)
    rest = np.broadcast_shapes(_without(x.shape, axis), _without(indices.shape, axis))
    x, indices = (broadcast_to(a, (*rest[:axis], a.shape[axis], *rest[axis:])) for a in (x, indices))
    x, indices = whole(x, [axis]), whole(indices, [axis])
    letters = tuple(range(x.ndim))
    return da.blockwise(
        _taken,
        letters,
        x,
        tuple(x.ndim if i == axis else i for i in letters),  # a separate letter for the indexed axis
        indices,
        letters,
        axis=axis,
        dtype=x.dtype,
        meta=empty(x.ndim, x.dtype),
        concatenate=True,
    )


def _taken(x: Any, indices: Any, axis: int) -> Any:
    return np.take_along_axis(x, indices, axis)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Return the indices at which the elements of `x2` would be inserted into the sorted vector `x1`."""
    x2 = asarray(x2)
    x1 = whole(x1 if sorter is None else take(x1, sorter), [0])
    flat = reshape(x2, (-1,))
    if not flat.size:
        return flat.astype(np.int64).reshape(x2.shape)
    return reshape(da.searchsorted(x1, flat, side=side), x2.shape)
