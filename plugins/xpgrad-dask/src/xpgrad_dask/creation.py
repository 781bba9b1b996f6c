"""Creation, in chunks of dask's size, and the sizes of chunks."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.types import Array, Dtype, Shape
from xpgrad_dask.libraries import da, dask


def auto_chunks(shape: Shape, dtype: Dtype, given: Sequence[Any] | None = None) -> Any:
    """Return chunks of dask's size for `shape`: for all axes, or for those where `given` has "auto".

    Chunks are larger if their number would exceed dask's setting ``xpgrad.most-chunks``.
    """
    given = tuple(given) if given is not None else ("auto",) * len(shape)
    if 0 in shape:  # dask divides by the size
        given = tuple((n,) if each == "auto" else each for n, each in zip(shape, given, strict=True))
    dtype, most, limit = np.dtype(dtype), dask.config.get("xpgrad.most-chunks", None), None
    if most is not None:
        bytes_each = math.prod(shape) * dtype.itemsize // most
        limit = max(bytes_each, dask.utils.parse_bytes(dask.config.get("array.chunk-size")))
    return da.core.normalize_chunks(given, shape, limit=limit, dtype=dtype)


def cut(values: Any) -> Array:
    """Return a NumPy array in chunks; it becomes a part of the graph of later results."""
    return da.from_array(values, chunks=auto_chunks(values.shape, values.dtype))


def duplicate(x: Array) -> Array:
    """Return another array with the same chunks: assignment gives an array other chunks, and writes to none."""
    return da.Array(x.dask, x.name, x.chunks, meta=x._meta)


SMALL = 2**20
"""Maximal size in bytes of an array that keeps its values once they are computed."""


def settle(x: Array) -> None:
    """Compute a small array once; it then holds its chunks instead of their graph."""
    if x.nbytes <= SMALL:
        evaluate([x])


def evaluate(arrays: Sequence[Array]) -> None:
    """Compute arrays in one pass; they then hold their chunks instead of their graphs."""
    for x, held in zip(arrays, dask.persist(*arrays), strict=True):
        x.dask, x._name = held.dask, held.name


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Return `obj` as a dask array; other arrays are split into chunks."""
    if isinstance(obj, da.Array):
        return astype(obj, obj.dtype if dtype is None else dtype, copy=bool(copy))
    if copy is False:
        raise ValueError("asarray: dask has no way to share memory with other libraries; let it copy")
    return cut(np.array(obj, dtype=dtype))


def astype(x: Array, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype."""
    if x.dtype == dtype:
        return duplicate(x) if copy else x
    return x.astype(dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return a copy of another library's array in host memory."""
    return asarray(np.from_dlpack(x), copy=True if copy is None else copy)


def full(shape: Shape | int, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array of one value."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(fill_value, da.Array):
        return da.broadcast_to(astype(fill_value, dtype or fill_value.dtype), shape)
    dtype = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
    return da.full(shape, fill_value, dtype=dtype, chunks=auto_chunks(shape, dtype))


def zeros(shape: Shape | int, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros."""
    return full(shape, 0, dtype=np.float64 if dtype is None else dtype)


def ones(shape: Shape | int, *, dtype: Any = None, device: Any = None) -> Array:
    """Return ones."""
    return full(shape, 1, dtype=np.float64 if dtype is None else dtype)


def empty(shape: Shape | int, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros: there is no memory that could stay uninitialised."""
    return zeros(shape, dtype=dtype)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros in the chunks of `x`: dask's own would have other values at each computation."""
    return da.zeros_like(x, dtype=dtype)


def eye(rows: int, columns: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """Return a matrix with ones on the diagonal `k` and zeros off it."""
    columns = rows if columns is None else columns
    found = arange(rows)[:, None] + k == arange(columns)[None, :]
    return found.astype(np.float64 if dtype is None else dtype)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
    """Return evenly spaced numbers with a given step."""
    begin, end = (0, start) if stop is None else (start, stop)
    count = max(0, int(-(-(end - begin) // step)))
    if not count:
        return cut(np.arange(begin, end, step, dtype=dtype))
    kind = np.result_type(*map(type, (begin, end, step))) if dtype is None else dtype
    if np.dtype(kind).kind == "f":  # dask's own rounds the step anew in each chunk
        positions = da.arange(count, dtype=np.int64, chunks=auto_chunks((count,), kind))
        return da.map_blocks(lambda k: (k * step + begin).astype(kind), positions, dtype=kind)
    return da.arange(begin, end, step, dtype=dtype, chunks=auto_chunks((count,), kind))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """Return `num` evenly spaced numbers from `start` to `stop`; dask's own adds up the steps of all chunks before."""
    if num < 2:
        return cut(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))
    kind = np.result_type(start, stop, float) if dtype is None else np.dtype(dtype)
    step = (stop - start) / (num - endpoint)

    def part(positions: Any) -> Any:
        values = positions * step + start
        return (np.where(positions == num - 1, stop, values) if endpoint else values).astype(kind)

    positions = da.arange(num, dtype=np.int64, chunks=auto_chunks((num,), kind))
    return da.map_blocks(part, positions, dtype=kind)
