"""Shapes: broadcasting in chunks of dask's size, and reshaping that dask does not support."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.types import Array, Shape
from xpgrad_dask.creation import auto_chunks, duplicate
from xpgrad_dask.libraries import da
from xpgrad_dask.refusals import refused


def broadcast_to(x: Array, /, shape: Shape, chunks: Any = None) -> Array:
    """Return `x` broadcast to `shape`; broadcast axes are split into `chunks`, each with the memory of one element."""
    shape = tuple(shape)
    surplus = len(shape) - x.ndim
    if x.shape == shape:
        return x
    given = [
        x.chunks[i - surplus] if i >= surplus and x.shape[i - surplus] == n else "auto" if chunks is None else chunks[i]
        for i, n in enumerate(shape)
    ]
    return da.broadcast_to(x, shape, chunks=auto_chunks(shape, x.dtype, given))


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape that arrays of these shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Return arrays broadcast to one shape."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def reshape(x: Array, /, shape: Shape | int, *, copy: bool | None = None) -> Array:
    """Return the elements in another shape."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if x.shape == shape:
        return duplicate(x) if copy else x
    if x.size == 0:
        x = x.rechunk(-1)  # dask cannot merge the axes of an empty array that has several chunks
    try:
        return da.reshape(x, shape)
    except NotImplementedError:  # axes that are neither merged nor split evenly
        return da.reshape(da.reshape(x, (-1,)), shape)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Return each element repeated."""
    if not isinstance(repeats, int):
        raise refused("repeat(x, counts)", "give one number, or take the positions with x[positions]")
    x, axis = (reshape(x, (-1,)), 0) if axis is None else (x, axis)
    return da.repeat(x, repeats, axis=axis) if x.shape[axis] else x  # dask joins no parts


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Return the elements moved along axes, the last ones to the beginning; dask moves no arrays without elements."""
    return da.roll(x, shift, axis=axis) if x.size else x


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Stack arrays along a new axis."""
    return da.stack(_of_one_dtype(arrays), axis=axis)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Concatenate arrays along `axis`; None flattens them first. Adjacent small chunks are merged."""
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    made = da.concatenate(_of_one_dtype(arrays), axis=axis)
    given = made.chunks[axis]
    merged = _merged(given, max(n for x in arrays for n in x.chunks[axis]))
    return made.rechunk({axis % made.ndim: merged}) if 2 * len(merged) <= len(given) else made


def _merged(chunks: Sequence[int], most: int) -> tuple[int, ...]:
    """Merge adjacent chunks up to this length; chunks of unknown length, NaN, are not merged."""
    found: list[int] = []
    for n in chunks:
        if found and found[-1] + n <= most:
            found[-1] += n
        else:
            found.append(n)
    return tuple(found)


def _of_one_dtype(arrays: Sequence[Array]) -> list[Array]:
    dtype = np.result_type(*(x.dtype for x in arrays))
    return [x.astype(dtype) for x in arrays]
