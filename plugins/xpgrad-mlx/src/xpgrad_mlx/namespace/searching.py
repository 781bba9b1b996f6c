"""The standard's functions that select, search, sort and compare with sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import mlx.core as mx

from xpgrad_mlx.memory import Array

INDEX = mx.int32
"""The dtype of positions: MLX's default integer; its own functions give uint32."""


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return the elements at `indices` along `axis`."""
    return mx.take(x, indices, 0 if axis is None and x.ndim == 1 else axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return the elements at `indices` along `axis`, with separate indices for each line."""
    return mx.take_along_axis(x, indices, axis)


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Return elements of `x1` where `condition` is true, else elements of `x2`."""
    if not isinstance(x1, mx.array) and isinstance(x2, mx.array):
        x1 = mx.array(x1, dtype=x2.dtype)
    if not isinstance(x2, mx.array) and isinstance(x1, mx.array):
        x2 = mx.array(x2, dtype=x1.dtype)
    return mx.where(condition, x1, x2)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the position of the maximum along `axis`."""
    return _place(mx.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the position of the minimum along `axis`."""
    return _place(mx.argmin, x, axis, keepdims)


def _place(function: Any, x: Array, axis: int | None, keepdims: bool) -> Array:
    """Return positions along `axis`, none of an array without elements that has some along `axis`."""
    if x.size or axis is None or not x.shape[axis]:
        return function(x, axis, keepdims).astype(INDEX)
    return mx.sum(mx.zeros(x.shape, dtype=INDEX), axis, keepdims)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the positions of the sorted elements along `axis`; equal ones stay in order."""
    if not descending:
        return mx.argsort(x, axis).astype(INDEX)
    last = x.shape[axis] - 1
    return last - mx.flip(mx.argsort(mx.flip(x, axis), axis).astype(INDEX), axis)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements sorted along `axis`."""
    y = mx.sort(x, axis)
    return mx.flip(y, axis) if descending else y


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Return where the values `x2` are to be inserted in the sorted `x1`."""
    if sorter is not None:
        x1 = mx.take(x1, sorter)
    if not isinstance(x2, mx.array):
        x2 = mx.array(x2, dtype=x1.dtype)
    dtype = mx.result_type(x1, x2)
    return mx.searchsorted(x1.astype(dtype), x2.astype(dtype), side=side).astype(INDEX)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Return the positions of the elements that are not zero; their number is computed immediately."""
    flat = _positions(x.reshape(-1) != 0)
    places = []
    for length in reversed(x.shape):
        places.append(flat % length)
        flat = flat // length
    return tuple(reversed(places))


def _positions(mask: Array) -> Array:
    """Return where a vector of truth values is true."""
    count = int(mx.sum(mask.astype(mx.int32)).item())
    return mx.argsort(mx.logical_not(mask))[:count].astype(INDEX)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Return whether elements of `x1` occur in `x2`."""
    x1, x2 = (x if isinstance(x, mx.array) else mx.array(x) for x in (x1, x2))
    dtype = mx.result_type(x1, x2)
    if not x2.size:
        return mx.full(x1.shape, invert)
    values, found = mx.sort(x2.reshape(-1).astype(dtype)), x1.astype(dtype)
    place = mx.minimum(mx.searchsorted(values, found).astype(INDEX), x2.size - 1)
    return (mx.take(values, place) == found) != invert


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


def unique_all(x: Array, /) -> UniqueAll:
    """Return the different values, sorted, where each is first, where all are in that list, and how often."""
    flat = x.reshape(-1)
    order = argsort(flat)
    values = mx.take(flat, order)
    first = mx.concatenate([mx.ones((min(1, flat.size),), dtype=mx.bool_), values[1:] != values[:-1]])
    starts = _positions(first)
    group = mx.cumsum(first.astype(INDEX), 0) - 1 if flat.size else order
    inverse = mx.put_along_axis(mx.zeros((flat.size,), dtype=INDEX), order, group, axis=0) if flat.size else order
    counts = mx.concatenate([starts[1:], mx.full((min(1, flat.size),), flat.size, dtype=INDEX)]) - starts
    return UniqueAll(mx.take(values, starts), mx.take(order, starts), inverse.reshape(x.shape), counts)


def unique_counts(x: Array, /) -> UniqueCounts:
    """Return the different values, sorted, and how often each occurs."""
    found = unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Return the different values, sorted, and where all elements are in that list."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Array, /) -> Array:
    """Return the different values, sorted."""
    return unique_all(x).values
