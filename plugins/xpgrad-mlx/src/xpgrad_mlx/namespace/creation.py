"""The standard's creation functions for MLX arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from xpgrad_mlx.memory import DTYPES, Array, checked, dtype_name

Shape = int | tuple[int, ...]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Return an array of MLX with the values of `obj`; arrays of other libraries keep their dtype."""
    checked(device)
    if isinstance(obj, mx.array):
        if dtype is not None and obj.dtype != dtype:
            return _unless(copy, obj).astype(dtype)
        return mx.array(obj) if copy else obj
    if copy is False:
        raise ValueError("asarray: MLX copies what is not its own; expected copy=None or True; got copy=False")
    if isinstance(obj, (np.ndarray, np.generic)):
        return of_host(np.asarray(obj), dtype)
    if isinstance(obj, (list, tuple)) and not _holds_arrays(obj):
        return of_host(_default(np.asarray(obj)) if dtype is None else np.asarray(obj, dtype_name(dtype)), dtype)
    if isinstance(obj, int) and not isinstance(obj, bool) and abs(obj) >= 2**31:
        return of_host(np.asarray(obj), dtype)
    return mx.array(obj) if dtype is None else mx.array(obj, dtype=dtype)


def of_host(array: Any, dtype: Any = None) -> Array:
    """Return a copy of a NumPy array of any strides and byte order, in its dtype or in `dtype`."""
    name = array.dtype.name
    if dtype is None and name not in DTYPES:
        raise TypeError(f"asarray: MLX has no dtype {name}; cast first, to one of {', '.join(DTYPES)}")
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)
    if name in DTYPES:
        made = mx.array(native, dtype=DTYPES[name])
        return made if dtype is None or dtype == DTYPES[name] else made.astype(dtype)
    return mx.array(native, dtype=dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return a copy of another library's array in its dtype; MLX's function converts float64 to float32."""
    checked(device)
    if isinstance(x, mx.array):
        return asarray(x, copy=copy)
    if copy is False:
        raise ValueError("from_dlpack: MLX copies arrays of other libraries; expected copy=None; got copy=False")
    return of_host(np.from_dlpack(x))


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """Return numbers from `start` to `stop`, evenly spaced by `step`."""
    checked(device)
    given: list[Any] = [start, stop, step]
    start, stop, step = (number.item() if isinstance(number, mx.array) else number for number in given)
    if stop is None:
        start, stop = 0, start
    if all(isinstance(number, int) for number in (start, stop, step)) and max(abs(start), abs(stop)) > 2**24:
        large = max(start, stop) > 2**63 - 1  # MLX computes integer ranges in floating point
        integers = of_host(np.arange(start, stop, step, dtype=np.uint64 if large else np.int64))
        return integers if dtype is None else integers.astype(dtype)
    if all(isinstance(number, int) for number in (start, stop, step)):
        return mx.arange(start, stop, step, dtype=dtype)
    count = max(math.ceil((stop - start) / step), 0)  # MLX adds up the steps, with an error for each
    numbers = start + step * np.arange(count)
    single = dtype is None or (dtype != mx.float64 and mx.issubdtype(dtype, mx.floating))
    return of_host(numbers.astype(np.float32) if single else numbers, dtype)


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Array:
    """Return `num` evenly spaced numbers from `start` to `stop`."""
    checked(device)
    if isinstance(start, complex) or isinstance(stop, complex):
        return of_host(np.linspace(start, stop, num, endpoint=endpoint), dtype or mx.complex64)
    return mx.linspace(start, stop, num, endpoint=endpoint, dtype=dtype or mx.float32)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """Return a matrix with ones on its diagonal `k`, and zeros off it."""
    checked(device)
    return mx.eye(n_rows, n_rows if n_cols is None else n_cols, k=k, dtype=dtype or mx.float32)


def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array filled with `fill_value`."""
    shape = (shape,) if isinstance(shape, int) else shape
    return mx.array(mx.broadcast_to(asarray(fill_value, dtype=dtype, device=device), shape))


def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros."""
    checked(device)
    return mx.zeros(shape, dtype or mx.float32)


def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Return ones."""
    checked(device)
    return mx.ones(shape, dtype or mx.float32)


def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array of zeros."""
    return zeros(shape, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return zeros with the shape and, by default, the dtype of `x`."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return ones with the shape and, by default, the dtype of `x`."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array filled with `fill_value`, with the shape and, by default, the dtype of `x`."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Return an array of zeros with the shape and, by default, the dtype of `x`."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Return the lower triangles of matrices."""
    return mx.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Return the upper triangles of matrices."""
    return mx.triu(x, k)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Return coordinate matrices of coordinate vectors."""
    return list(mx.meshgrid(*arrays, indexing=indexing)) if arrays else []


def _unless(copy: bool | None, obj: Array) -> Array:
    """Return `obj`; raise where a copy was forbidden, but is needed."""
    if copy is False:
        raise ValueError("asarray: another dtype needs a copy; expected copy=None or True; got copy=False")
    return obj


def _holds_arrays(items: Sequence[Any]) -> bool:
    """Return whether a nested sequence contains an MLX array."""
    return any(_holds_arrays(item) if isinstance(item, (list, tuple)) else isinstance(item, mx.array) for item in items)


def _default(array: Any) -> Any:
    """Return an array of NumPy in MLX's default dtypes: float32, complex64, and int32 where it suffices."""
    if array.dtype == np.int64 and (not array.size or np.max(np.abs(array)) < 2**31):
        return array.astype(np.int32)
    return array.astype({"f": np.float32, "c": np.complex64}.get(array.dtype.kind, array.dtype))
