"""Kernels for gradients of gathers: adding at positions, and into a buffer that the sweep owns."""

import functools
import math
from types import EllipsisType
from typing import Any

import numpy as np

from xpgrad.plugin import Spec, run_all, threads
from xpgrad.types import Array, Dtype, Index

MANY = 8  # number of parts from which a single call is faster
WIDE = 512  # length of rows from which on adding row by row is faster
SHARED_FROM = 2**22  # bytes of an array from which threads share an addition at the speed of memory
LEAST = 2**13  # elements of rows from which a call of C is worth it
EVERYTHING = slice(None)
_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


@functools.cache
def adder(dtype: Dtype) -> Any:
    """Return the addition of rows in C for numbers of a dtype, which has NumPy's bits, or None."""
    from xpgrad_numpy.kernels import sources  # only for large arrays: it would add a tenth to the time of the import

    library = sources.loaded("scatter", BYTES=dtype.itemsize)
    if library is None:
        return None
    return sources.function(library, "add_rows", None, *[sources.POINTER] * 3, *[sources.LONG] * 4)


def build() -> bool:
    """Compile the libraries; return whether that was possible."""
    from xpgrad_numpy.kernels import sources  # as above

    return sources.build("scatter", {"BYTES": 4}, {"BYTES": 8})


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, computed in `total` if a new array would have the same layout.

    Sums over axes add elements in memory order, so with another layout later sums would be rounded differently.
    """
    if type(total) is not np.ndarray or total.dtype is not g.dtype or total.shape != g.shape:
        return total + g
    if not total.flags.writeable:
        return total + g
    if not total.flags.c_contiguous and total.strides != g.strides:
        return total + g
    if total.nbytes < SHARED_FROM or not (total.flags.c_contiguous and g.flags.c_contiguous):
        return np.add(total, g, out=total)
    sums, others = total.reshape(-1), g.reshape(-1)
    run_all(
        lambda first, last: np.add(sums[first:last], others[first:last], out=sums[first:last]),
        total.size,
        -(-total.size // threads()),
    )
    return total


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate."""
    total = np.zeros(spec.shape, spec.dtype)
    if len(parts) > MANY and len(spec.shape) == 1:
        places = [index for index, _ in parts]
        if set(map(type, places)) == {int}:
            values = np.fromiter([value for _, value in parts], spec.dtype, len(parts))
            np.add.at(total, np.array(places), values)
            return total
    for index, value in parts:
        if type(index) is int and not value.ndim:
            total[index] += value.item()  # NumPy adds scalars ten times as fast as 0-d arrays
        elif _is_basic(index) or (type(index) is np.ndarray and index.dtype == bool):
            total[index] += value
        else:
            _add_at(total, index, value)
    return total


def _add_at(total: Array, index: Index, value: Array) -> None:
    """Add `value` into `total` at an index with arrays, which may repeat positions.

    NumPy's `add.at` is fast for one index array and one axis only, so the two common kinds of index become that:
    rows by their numbers, and an array for each axis. Wide rows along any axis are added row by row.
    """
    items = index if type(index) is tuple else (index,)
    axis = next((k for k, item in enumerate(items) if _is_array(item)), 0)
    others = items[:axis], items[axis + 1 :]
    if (
        _is_array(items[axis])
        and all(type(item) is slice and item == EVERYTHING for item in others[0])
        and all(type(item) in (EllipsisType, slice) and item in (..., EVERYTHING) for item in others[1])
        and (not axis or items[axis].ndim == 1)
    ):
        rows = _from_the_front(items[axis], total.shape[axis]).ravel()
        width = math.prod(total.shape) // (total.shape[axis] or 1)
        if value.size >= LEAST and _add_rows(total, rows, value, axis):
            return
        if axis and width < WIDE:
            np.add.at(total, index, value)
            return
        if total.ndim > 1 and width >= WIDE:
            sums, lines = np.moveaxis(total, axis, 0), np.moveaxis(value, axis, 0)
            for row, line in zip(rows, lines.reshape(-1, *sums.shape[1:]) if not axis else lines, strict=True):
                sums[row] += line
            return
        places = (rows[:, None] * width + np.arange(width)).ravel() if total.ndim > 1 else rows
        np.add.at(total.reshape(-1), places, np.ravel(value))
    elif len(items) == total.ndim and all(type(item) is int or _is_array(item) for item in items):
        axes = [_from_the_front(np.asarray(item), n) for item, n in zip(items, total.shape, strict=True)]
        places = np.ravel_multi_index(tuple(np.broadcast_arrays(*axes)), total.shape).ravel()
        np.add.at(total.reshape(-1), places, np.ravel(value))
    else:
        np.add.at(total, index, value)


def _add_rows(total: Array, rows: Array, value: Array, axis: int) -> bool:
    """Add rows of `value` to those of `total` along an axis in C; return whether that was possible."""
    dtype, length = total.dtype, total.shape[axis]
    if total.ndim < 2 or dtype.char not in "fd" or value.dtype != dtype:
        return False
    if value.size * length != len(rows) * total.size or not total.flags.c_contiguous:
        return False
    add = adder(dtype)
    if add is None or not 0 <= rows.min() <= rows.max() < length:  # which NumPy refuses
        return False
    value, rows = np.require(value, None, ["C", "A"]), np.ascontiguousarray(rows)
    sizes = math.prod(total.shape[axis + 1 :]), len(rows), length, math.prod(total.shape[:axis])
    add(total.ctypes.data, value.ctypes.data, rows.ctypes.data, *sizes)
    return True


def _is_array(item: Any) -> bool:
    return type(item) is np.ndarray and item.dtype.kind in "iu"


def _from_the_front(places: Array, length: int) -> Array:
    """Return positions with negative ones converted to non-negative ones, wide enough for places in memory."""
    places = places.astype(np.intp, copy=False)
    return np.where(places < 0, places + length, places) if places.size and places.min() < 0 else places


def _is_basic(index: Any) -> bool:
    if type(index) is tuple:
        return all(isinstance(item, _BASIC) and not isinstance(item, bool) for item in index)
    return isinstance(index, _BASIC) and not isinstance(index, bool)
