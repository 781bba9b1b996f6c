"""Gathers and scatter-adds: one pass over the chunks of both arrays, none of which is assembled."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import Spec, flat_index
from xpgrad.types import Array, Index, Shape
from xpgrad_dask.creation import auto_chunks, duplicate
from xpgrad_dask.libraries import da
from xpgrad_dask.lines import take, within
from xpgrad_dask.refusals import refused
from xpgrad_dask.shapes import broadcast_to, reshape

ONE_STEP = 2**62
"""A threshold of dask by which it plans no chunks between the given and the wanted ones, whatever that takes."""


def getitem(backend: Any, x: Array, index: Index) -> Array:
    """Return ``x[index]``, also for indices that dask does not support."""
    items = index if type(index) is tuple else (index,)
    if any(isinstance(item, slice) and item.step is not None and item.step < 0 for item in items):
        items = index = tuple(_within(item, x.shape[axis : axis + 1]) for item, axis in _with_axes(items, x.ndim))
    arrays = [item for item in items if isinstance(item, da.Array)]
    if any(item.dtype == bool for item in arrays) or any(isinstance(item, bool) for item in items):
        raise refused("x[mask]", "use where(mask, x, 0), or take what the mask was made of")
    if not arrays:
        return x[index]
    if len(arrays) == 1 and not any(isinstance(item, int) for item in items):
        return _along_one(x, items, arrays[0])
    flat = flat_index(backend, x.shape, _checked(items, x.shape), "cpu")
    return reshape(take(reshape(x, (-1,)), reshape(flat, (-1,))), flat.shape)


def setitem(x: Array, u: Any, /, index: Index) -> Any:
    """Return a copy of `x` with `u` at an index with arrays of integers, which dask itself does not check."""
    items = index if type(index) is tuple else (index,)
    arrays = [item for item in items if isinstance(item, da.Array)]
    if not arrays or any(item.dtype == bool for item in arrays):
        return NotImplemented
    y = duplicate(x)
    try:
        y[_checked(items, x.shape)] = u
    except (IndexError, NotImplementedError, ValueError):  # of several arrays; the body gathers
        return NotImplemented
    return y


def _with_axes(items: tuple[Any, ...], ndim: int) -> Iterator[tuple[Any, int]]:
    """Yield the items of an index with the axes of the array that they are for."""
    used, axis = sum(item is not None and item is not ... for item in items), 0
    for item in items:
        yield item, axis
        if item is not None:
            axis += ndim - used if item is ... else 1


def _within(item: Any, length: Shape) -> Any:
    """Return a slice that begins within the axis, else dask selects wrong elements; other items pass."""
    if not isinstance(item, slice) or not length:
        return item
    taken = range(*item.indices(*length))
    return slice(taken.start, None if taken.stop < 0 else taken.stop, taken.step) if taken else slice(0, 0)


def _checked(items: tuple[Any, ...], shape: Shape) -> Index:
    """Return an index whose arrays are checked against their axes, not only against the flat array."""
    return tuple(
        within(item, shape[axis]) if isinstance(item, da.Array) else item
        for item, axis in _with_axes(items, len(shape))
    )


def _along_one(x: Array, items: tuple[Any, ...], numbers: Array) -> Array:
    """Return ``x[items]`` where one item is an array, and other items are slices, None or an ellipsis."""
    place = next(i for i, item in enumerate(items) if item is numbers)
    used = sum(item is not None and item is not ... for item in items)
    before = sum(x.ndim - used if item is ... else 1 for item in items[:place])
    y = x[tuple(item if item is not numbers else slice(None) for item in items)]
    y = take(y, reshape(numbers, (-1,)), axis=before)
    return reshape(y, (*y.shape[:before], *numbers.shape, *y.shape[before + 1 :]))


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate.

    The chunks are those of the indexed array. Each chunk of values is added up within the chunks of the result that
    it belongs to, and these sums are added in a tree.
    """
    chunks = getattr(spec, "chunks", None) or auto_chunks(spec.shape, spec.dtype)
    total = None
    for index, values in parts:
        laid = _laid(spec, chunks, index, values.astype(spec.dtype))
        total = laid if total is None else total + laid
    return total


def _laid(spec: Spec, chunks: Any, index: Index, values: Array) -> Array:
    items = index if type(index) is tuple else (index,)
    arrays = [item for item in items if isinstance(item, da.Array)]
    if not arrays:
        return _among_zeros(spec, chunks, items, values)
    place = next(i for i, item in enumerate(items) if isinstance(item, da.Array))
    front, back = items[:place], items[place + 1 :]
    if len(arrays) == 1 and arrays[0].dtype != bool and all(i == slice(None) for i in front) and _is_rest(back):
        shape = (*spec.shape[:place], *arrays[0].shape, *spec.shape[place + 1 :])
        values = reshape(broadcast_to(values, shape), (*spec.shape[:place], arrays[0].size, *spec.shape[place + 1 :]))
        return _added(values, reshape(arrays[0], (-1,)), place, spec.shape[place], chunks)
    flat = flat_index(spec.backend, spec.shape, _checked(items, spec.shape), spec.device)
    values = reshape(broadcast_to(values, flat.shape), (-1,))
    laid = _added(values, reshape(flat, (-1,)), 0, spec.size, auto_chunks((spec.size,), spec.dtype))
    return reshape(laid, spec.shape).rechunk(chunks)


def _is_rest(items: tuple[Any, ...]) -> bool:
    return all(item is ... or item == slice(None) for item in items)


def _among_zeros(spec: Spec, chunks: Any, items: tuple[Any, ...], values: Array) -> Array:
    """Return zeros with `values` at a basic index, where no position occurs twice."""
    used = sum(item is not None and item is not ... for item in items)
    if ... not in items:
        items = (*items, ...)
    rest = next(i for i, item in enumerate(items) if item is ...)
    items = (*items[:rest], *(slice(None),) * (spec.ndim - used), *items[rest + 1 :])
    ranges = []
    for item, length in zip((item for item in items if item is not None), spec.shape, strict=True):
        if isinstance(item, slice):
            ranges.append(range(*item.indices(length)))
        else:
            ranges.append(range(item % length, item % length + 1))
    if any(len(each) == 0 for each in ranges):
        return da.zeros(spec.shape, dtype=spec.dtype, chunks=chunks)
    values = broadcast_to(values, _taken_shape(items, spec.shape))
    return _spread(reshape(values, tuple(map(len, ranges))), ranges, chunks)


def _spread(values: Array, ranges: Sequence[range], chunks: Any) -> Array:
    """Return zeros in `chunks` with the values at a range of positions along each axis.

    The values are split at the chunks of the result. dask's assignment searches the whole graph of its operands.
    """
    backwards = [axis for axis, each in enumerate(ranges) if each.step < 0]
    ranges = [each[::-1] if each.step < 0 else each for each in ranges]
    places = [_places(each, lengths) for each, lengths in zip(ranges, chunks, strict=True)]
    counts = tuple(tuple(len(range(*part.indices(n))) for n, part in along) for along in places)
    values = _with_empty_chunks(da.flip(values, backwards) if backwards else values, counts)
    meta = np.empty((0,) * values.ndim, values.dtype)
    return da.map_blocks(_spread_block, values, places=places, chunks=chunks, dtype=values.dtype, meta=meta)


def _with_empty_chunks(x: Array, chunks: Sequence[Sequence[int]]) -> Array:
    """Return `x` in chunks that may be empty; dask fails if it plans several steps to empty chunks."""
    filled = x.rechunk(tuple(tuple(length for length in lengths if length) for lengths in chunks))
    return filled if filled.chunks == chunks else filled.rechunk(chunks, threshold=ONE_STEP)


def _places(positions: range, lengths: Sequence[int]) -> list[tuple[int, slice]]:
    """Return the length of each chunk of an axis, and the sorted positions within it."""
    found, begin, step = [], 0, positions.step
    for length in lengths:
        first, last = (max(0, -((positions.start - edge) // step)) for edge in (begin, begin + length))
        inside = positions[first:last]
        found.append((length, slice(inside.start - begin, inside.stop - begin, step) if inside else slice(0, 0)))
        begin += length
    return found


def _spread_block(values: Any, places: list[list[tuple[int, slice]]], block_id: tuple[int, ...]) -> Any:
    """Return zeros of the size of a chunk with the values at their positions."""
    here = [along[number] for along, number in zip(places, block_id, strict=True)]
    made = np.zeros([length for length, _ in here], values.dtype)
    made[tuple(part for _, part in here)] = values
    return made


def _taken_shape(items: tuple[Any, ...], shape: Shape) -> Shape:
    """Return the shape of the result of a basic index without ellipsis."""
    lengths, axis = [], 0
    for item in items:
        if item is None:
            lengths.append(1)
            continue
        if isinstance(item, slice):
            lengths.append(len(range(*item.indices(shape[axis]))))
        axis += 1
    return tuple(lengths)


def _added(values: Array, numbers: Array, axis: int, length: int, chunks: Any) -> Array:
    """Return zeros with the slices of `values` along `axis` added at `numbers` of an axis of this `length`."""
    given = list(values.chunks)
    if len(chunks) == values.ndim:
        given = [given[i] if i == axis else chunks[i] for i in range(values.ndim)]
        values = values.rechunk(tuple(given))
    numbers = numbers.astype(np.int64)  # a narrow dtype may not hold the length
    numbers = da.where(numbers < 0, numbers + length, numbers).rechunk((values.chunks[axis],))
    rows = da.arange(length, chunks=(chunks[axis],))
    letters = list(range(values.ndim))
    several, result = values.ndim, values.ndim + 1  # letters for the chunks of values and the rows of the result
    out = [result if i == axis else i for i in letters]
    partial = da.blockwise(
        _partial_sum,
        [several, *out],
        values,
        [several if i == axis else i for i in letters],
        numbers,
        [several],
        rows,
        [result],
        axis=axis,
        length=length,
        adjust_chunks={several: 1},
        dtype=values.dtype,
        meta=np.empty((0,) * (values.ndim + 1), values.dtype),
    )
    return partial.sum(axis=0, dtype=values.dtype)


def _partial_sum(values: Any, numbers: Any, rows: Any, axis: int, length: int) -> Any:
    """Return the contribution of a chunk of values to a chunk of the result, with a leading axis of length 1."""
    if values.size and not 0 <= numbers.min() <= numbers.max() < length:
        raise IndexError(f"scatter_add: expected numbers from {-length} to {length - 1}")
    shape = (*values.shape[:axis], len(rows), *values.shape[axis + 1 :])
    total = np.zeros(shape, values.dtype)
    if len(rows):
        here = (numbers >= rows[0]) & (numbers <= rows[-1])
        np.add.at(np.moveaxis(total, axis, 0), numbers[here] - rows[0], np.moveaxis(values, axis, 0)[here])
    return total[None]
