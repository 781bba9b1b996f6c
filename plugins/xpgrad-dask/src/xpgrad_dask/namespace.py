"""dask.array as the Array API standard has it: array_api_compat's namespace, and what that lacks or computes at once.

Nothing here computes, and nothing takes more than the chunks it says: functions along an axis get that axis in one
chunk, those of matrices the last two (`linalg`), and everything else stays in the chunks that it comes in.
"""

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks

from xpgrad.types import Array, Dtype, Namespace, Shape
from xpgrad_dask import fft, linalg
from xpgrad_dask.blocks import along, whole
from xpgrad_dask.products import matmul, tensordot, vecdot

compat: Namespace = importlib.import_module("array_api_compat.dask.array")  # no module of known names, for type checkers

UNKNOWN = "dask does not know the shape of {} before it computes; {}"


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Return `obj` as an array; what is no array of dask's is cut into chunks of dask's own choice."""
    if not isinstance(obj, da.Array):
        return compat.asarray(obj, dtype=dtype, copy=copy)
    if dtype is not None and dtype != obj.dtype:
        return obj.astype(dtype)
    return duplicate(obj) if copy else obj


def duplicate(x: Array) -> Array:
    """Return another array with the same chunks: dask's assignment gives an array other chunks and writes nowhere."""
    return da.Array(x.dask, x.name, x.chunks, meta=x._meta)


def astype(x: Array, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype."""
    if x.dtype == dtype:
        return duplicate(x) if copy else x
    return x.astype(dtype)


def broadcast_to(x: Array, /, shape: Shape) -> Array:
    """Return `x` stretched to `shape`, where it is stretched in chunks of dask's size, each of one element's memory."""
    shape = tuple(shape)
    if x.shape == shape:
        return x
    surplus = len(shape) - x.ndim
    kept = [i - surplus for i in range(len(shape)) if i >= surplus and x.shape[i - surplus] == shape[i]]
    given = ["auto" if i - surplus not in kept else x.chunks[i - surplus] for i in range(len(shape))]
    return da.broadcast_to(x, shape, chunks=auto_chunks(shape, x.dtype, given))


def auto_chunks(shape: Shape, dtype: Dtype, given: Sequence[Any] | None = None) -> Any:
    """Return chunks of dask's size for `shape`, where `given` does not have them."""
    if 0 in shape:  # dask divides by the size
        return tuple((n,) if each == "auto" else each for n, each in zip(shape, given or ["auto"] * len(shape)))
    return normalize_chunks(tuple(given) if given is not None else "auto", shape, dtype=dtype)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Return arrays stretched to one shape."""
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements in order along `axis`, which comes in one chunk."""
    return along(_sort, axis % x.ndim, x, dtype=x.dtype, descending=descending)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort `x` along `axis`, which comes in one chunk."""
    return along(_argsort, axis % x.ndim, x, dtype=np.dtype(np.int64), descending=descending)


def _sort(x: Any, axis: int, descending: bool) -> Any:
    return _host().sort(x, axis=axis, descending=descending, stable=True)


def _argsort(x: Any, axis: int, descending: bool) -> Any:
    return _host().argsort(x, axis=axis, descending=descending, stable=True)


def _host() -> Namespace:
    return importlib.import_module("array_api_compat.numpy")


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return elements of `x` along one axis at the numbers in a vector."""
    return x[(slice(None),) * (0 if axis is None else axis % x.ndim) + (indices,)]


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return elements of `x` along one axis, which comes in one chunk, at numbers of each line's own."""
    axis %= x.ndim
    shape = list(np.broadcast_shapes(_without(x.shape, axis), _without(indices.shape, axis)))
    x, indices = (broadcast_to(a, (*shape[:axis], a.shape[axis], *shape[axis:])) for a in (x, indices))
    x, indices = whole(x, [axis]), whole(indices, [axis])
    letters, inner = tuple(range(x.ndim)), x.ndim
    return da.blockwise(
        _take_along_axis, letters,
        x, tuple(inner if i == axis else i for i in letters),
        indices, letters,
        axis=axis, dtype=x.dtype, concatenate=True, meta=np.empty((0,) * x.ndim, x.dtype),
    )  # fmt: skip


def _take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    return np.take_along_axis(x, indices, axis)


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Return where the elements of `x2` would have to go into the sorted vector `x1`."""
    if sorter is not None:
        x1 = take(x1, sorter, axis=0)
    if not isinstance(x2, da.Array):
        x2 = asarray(x2)
    found = da.searchsorted(x1, da.reshape(x2, (-1,)) if x2.ndim != 1 else x2, side=side)
    return da.reshape(found, x2.shape) if x2.ndim != 1 else found


def nonzero(x: Array, /) -> Any:
    """Refuse: how many elements there are is known only after computing."""
    raise IndexError(UNKNOWN.format("nonzero(x), nor of x[mask],", "use where, or compute the mask first"))


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Return arrays along a new axis."""
    return da.stack(_of_one_dtype(arrays), axis=axis)


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Return arrays one after the other along `axis`; by default of None flattened."""
    arrays = _of_one_dtype(arrays)
    if axis is None:
        arrays, axis = [da.reshape(x, (-1,)) for x in arrays], 0
    return da.concatenate(arrays, axis=axis)


def _of_one_dtype(arrays: Sequence[Array]) -> list[Array]:
    dtype = np.result_type(*(x.dtype for x in arrays))
    return [x.astype(dtype) for x in arrays]


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """Return a copy of an array in host memory."""
    return asarray(np.from_dlpack(x))


def __getattr__(name: str) -> Any:
    return getattr(compat, name)


def __dir__() -> list[str]:
    return sorted({*dir(compat), *globals()})
