"""The standard's names over sparse: functions that it lacks or that support only the fill value 0."""

import math
from functools import wraps
from typing import Any, Literal

import numpy as np
import sparse
from sparse import COO

from xpgrad_sparse.positions import array_of, dense, getitem, summed, zero_filled


def __getattr__(name: str) -> Any:
    return getattr(sparse, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(sparse)})


# Creation


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> COO:
    """Return a sparse array; lists of integers are exact, even where NumPy would convert them to floating point."""
    if dtype is not None and isinstance(obj, (list, tuple, int)):
        return array_of(np.asarray(obj, dtype))
    return sparse.asarray(obj, dtype=dtype, device=device, copy=copy)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> COO:
    """Return evenly spaced numbers, stored explicitly."""
    start, stop = (0, start) if stop is None else (start, stop)
    return COO.from_numpy(np.arange(start, stop, step, dtype=dtype))


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> COO:
    """Return `num` evenly spaced numbers, stored explicitly."""
    return COO.from_numpy(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> COO:
    """Return a matrix with ones on the diagonal `k`."""
    return sparse.eye(n_rows, n_cols, k=k, dtype=np.float64 if dtype is None else dtype)


def broadcast_to(x: COO, /, shape: tuple[int, ...]) -> COO:
    """Return the array broadcast to a shape; a single element becomes the fill value, without stored elements."""
    if np.broadcast_shapes(x.shape, tuple(shape)) != tuple(shape):
        raise ValueError(f"broadcast_to: {x.shape} cannot be stretched to {tuple(shape)}")
    if x.size == 1:
        return sparse.full(shape, x.todense().reshape(()).item(), dtype=x.dtype)
    return sparse.broadcast_to(x, tuple(shape))


def meshgrid(*arrays: COO, indexing: Literal["xy", "ij"] = "xy") -> tuple[COO, ...]:
    """Return coordinates from vectors of coordinates."""
    return tuple(map(COO.from_numpy, np.meshgrid(*map(dense, arrays), indexing=indexing)))


# Functions that sparse has for the fill value 0, or for equal ones


def concat(arrays: Any, /, *, axis: int | None = 0) -> COO:
    """Concatenate arrays along an axis."""
    if axis is None:
        arrays, axis = [sparse.reshape(x, (-1,)) for x in arrays], 0
    first, *others = [x.shape[:axis] + x.shape[axis % x.ndim + 1 :] for x in arrays]
    if any(other != first for other in others):
        raise ValueError(f"concat: arrays of shapes {[x.shape for x in arrays]} differ in other axes than {axis}")
    return sparse.concat(_alike(arrays), axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> COO:
    """Stack arrays of one shape along a new axis."""
    if any(x.shape != arrays[0].shape for x in arrays):
        raise ValueError(f"stack: arrays of shapes {[x.shape for x in arrays]} are not of one shape")
    return sparse.stack(_alike(arrays), axis=axis)


def tril(x: COO, /, *, k: int = 0) -> COO:
    """Return the lower triangles of matrices."""
    return sparse.tril(zero_filled(x), k=k)


def triu(x: COO, /, *, k: int = 0) -> COO:
    """Return the upper triangles of matrices."""
    return sparse.triu(zero_filled(x), k=k)


def matmul(x1: COO, x2: COO, /) -> COO:
    """Return the product of matrices; stacks are multiplied as diagonal blocks of two large matrices."""
    a, b = zero_filled(x1), zero_filled(x2)
    if a.ndim <= 2 and b.ndim <= 2:
        return array_of(sparse.matmul(a, b))
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"matmul: arrays of shapes {a.shape} and {b.shape} have no product")
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.ndim > 1 else ()
    a, b = (a if a.ndim > 1 else a[None, :]), (b if b.ndim > 1 else b[:, None])
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return sparse.reshape(_product_of_stacks(a, b, stack), (*stack, *rows, *columns))


def affine(x: COO, W: COO, b: COO | None, /) -> COO:
    """Return ``x @ W.T``, plus `b` if it is not None."""
    y = matmul(x, sparse.matrix_transpose(W))
    return y if b is None else y + b


def _product_of_stacks(a: COO, b: COO, stack: tuple[int, ...]) -> COO:
    """Return the products of matrices as an array with three axes."""
    count, (m, k), n = math.prod(stack), a.shape[-2:], b.shape[-1]
    if not count * m * k * n:
        return sparse.zeros((count, m, n), dtype=np.result_type(a.dtype, b.dtype))
    blocks = []
    for x in (a, b):
        x = sparse.reshape(sparse.broadcast_to(x, (*stack, *x.shape[-2:])), (count, *x.shape[-2:]))
        (which, row, column), (height, width) = x.coords, x.shape[-2:]
        places = np.stack([which * height + row, which * width + column])
        blocks.append(COO(places, x.data, shape=(count * height, count * width)))
    y = array_of(sparse.matmul(*blocks))
    places = np.stack([y.coords[0] // m, y.coords[0] % m, y.coords[1] % n])
    return COO(places, y.data, shape=(count, m, n))


def tensordot(x1: COO, x2: COO, /, *, axes: Any = 2) -> COO:
    """Return the product of two arrays, summed over pairs of their axes."""
    return array_of(sparse.tensordot(zero_filled(x1), zero_filled(x2), axes))


def vecdot(x1: COO, x2: COO, /, *, axis: int = -1) -> COO:
    """Return dot products along an axis."""
    first = sparse.conj(x1) if sparse.isdtype(x1.dtype, "complex floating") else x1
    return sum(first * x2, axis=axis, dtype=sparse.result_type(x1, x2))


def nonzero(x: COO, /) -> tuple[COO, ...]:
    """Return the positions of elements that are not zero; stored zeros, such as -0.0, do not count."""
    found = np.nonzero(dense(x)) if x.fill_value != 0 or not x.ndim else x.coords[:, x.data != 0]
    return tuple(map(COO.from_numpy, found))


# Sums, which sparse computes with fill values


def sum(x: COO, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> COO:
    """Return sums; empty sums are 0 for every fill value, and integer sums are exact."""
    if x.dtype.kind in "fc" and x.size:
        return array_of(sparse.sum(x, axis=axis, dtype=dtype, keepdims=keepdims))
    gone = {k % x.ndim for k in (range(x.ndim) if axis is None else np.atleast_1d(axis))}
    left = [k for k in range(x.ndim) if k not in gone]
    x, wanted = zero_filled(x), np.sum(np.zeros(0, x.dtype), dtype=dtype).dtype
    y = summed(x.coords[left], x.data.astype(wanted), tuple(x.shape[k] for k in left))
    return sparse.reshape(y, tuple(1 if k in gone else n for k, n in enumerate(x.shape))) if keepdims else y


def prod(x: COO, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> COO:
    """Return products; a zero counts, also where sparse's product of the stored elements has overflowed before."""
    if x.dtype.kind not in "fc":
        return array_of(np.prod(dense(x), axis=axis, dtype=dtype, keepdims=keepdims))
    y = array_of(sparse.prod(x, axis=axis, dtype=dtype, keepdims=keepdims))
    if x.fill_value != 0 or not x.size:
        return y
    zero = count_nonzero(x, axis=axis, keepdims=keepdims) < x.size // max(y.size, 1)
    finite = sparse.all(sparse.isfinite(x), axis=axis, keepdims=keepdims)
    return array_of(sparse.where(zero & finite, np.zeros((), y.dtype), y))


# Positions


def take(x: COO, indices: COO, /, *, axis: int | None = None) -> COO:
    """Return elements of `x` at `indices` along one axis."""
    return getitem(x, index=(*[slice(None)] * ((axis or 0) % x.ndim), indices))


def take_along_axis(x: COO, indices: COO, /, *, axis: int = -1) -> COO:
    """Return elements of `x` at `indices` along one axis, with separate indices for each line."""
    axis %= x.ndim
    outer = list(x.shape)
    outer[axis] = indices.shape[axis]
    positions = np.broadcast_to(dense(indices), np.broadcast_shapes(tuple(outer), indices.shape))
    whole = list(positions.shape)
    whole[axis] = x.shape[axis]
    grid: list[Any] = list(np.indices(positions.shape, sparse=True))
    grid[axis] = positions
    return getitem(sparse.broadcast_to(x, tuple(whole)), index=tuple(grid))


def argmax(x: COO, /, *, axis: int | None = None, keepdims: bool = False) -> COO:
    """Return positions of the first maxima along an axis; sparse would also drop other axes of length 1."""
    return _reduced(sparse.argmax(x, axis=axis, keepdims=True), x.shape, axis, keepdims)


def argmin(x: COO, /, *, axis: int | None = None, keepdims: bool = False) -> COO:
    """Return positions of the first minima along an axis; sparse would also drop other axes of length 1."""
    return _reduced(sparse.argmin(x, axis=axis, keepdims=True), x.shape, axis, keepdims)


def count_nonzero(x: COO, /, *, axis: Any = None, keepdims: bool = False) -> COO:
    """Return how many elements are not zero."""
    return sum(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64)


# Functions whose results are dense: NumPy's


def sort(x: COO, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> COO:
    """Return the elements in order; equal elements are indistinguishable, so every sort is stable."""
    return sparse.sort(x, axis=axis, descending=descending) if x.size else x


def repeat(x: COO, repeats: Any, /, *, axis: int | None = None) -> COO:
    """Return each element, `repeats` times."""
    x, axis = (sparse.reshape(x, (-1,)), 0) if axis is None else (x, axis % x.ndim)
    positions = np.repeat(np.arange(x.shape[axis]), dense(repeats))
    return getitem(x, index=(*[slice(None)] * axis, positions))


def argsort(x: COO, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> COO:
    """Return the indices that sort `x`."""
    values = dense(x)
    if descending:
        values = np.flip(values, axis=axis)
    order = np.argsort(values, axis=axis, stable=True)
    return COO.from_numpy(np.flip(values.shape[axis] - 1 - order, axis=axis) if descending else order)


def searchsorted(x1: COO, x2: COO, /, *, side: Any = "left", sorter: COO | None = None) -> COO:
    """Return the positions at which to insert the elements of `x2`."""
    return array_of(np.searchsorted(dense(x1), dense(x2), side=side, sorter=dense(sorter)))


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> COO:
    """Return whether the elements of `x1` occur in `x2`."""
    return array_of(np.isin(dense(x1), dense(x2), invert=invert))


def cumulative_sum(x: COO, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> COO:
    """Return cumulative sums."""
    return COO.from_numpy(np.cumulative_sum(dense(x), axis=axis, dtype=dtype, include_initial=include_initial))


def cumulative_prod(x: COO, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> COO:
    """Return cumulative products."""
    return COO.from_numpy(np.cumulative_prod(dense(x), axis=axis, dtype=dtype, include_initial=include_initial))


def unique_all(x: COO, /) -> Any:
    """Return unique values, their first positions, the inverse and counts."""
    found = np.unique_all(dense(x))
    return type(found)(*map(COO.from_numpy, found))


def unique_counts(x: COO, /) -> Any:
    """Return unique values and counts."""
    found = np.unique_counts(dense(x))
    return type(found)(*map(COO.from_numpy, found))


def unique_values(x: COO, /) -> COO:
    """Return unique values."""
    return COO.from_numpy(np.unique_values(dense(x)))


def unique_inverse(x: COO, /) -> Any:
    """Return unique values and the inverse."""
    found = np.unique_inverse(dense(x))
    return type(found)(*map(COO.from_numpy, found))


def _reduced(found: COO, shape: tuple[int, ...], axis: int | None, keepdims: bool) -> COO:
    """Return a reduction of an array of `shape`, reshaped to the axes that `axis` and `keepdims` imply."""
    axes = range(len(shape)) if axis is None else [axis % len(shape)]
    kept = [1 if k in axes else length for k, length in enumerate(shape) if keepdims or k not in axes]
    return sparse.reshape(found, tuple(kept))


def _alike(arrays: Any) -> list[COO]:
    """Return the arrays of one dtype, with one fill value."""
    dtype = sparse.result_type(*arrays)
    arrays = [x if x.dtype == dtype else sparse.astype(x, dtype) for x in arrays]
    return arrays if len({x.fill_value.tobytes() for x in arrays}) == 1 else [zero_filled(x) for x in arrays]


# Functions of unsigned integers: sparse takes a Python number as int64, so that uint64 is computed in float64


def _exact(function: Any) -> Any:
    @wraps(function)
    def call(x1: Any, x2: Any, /) -> COO:
        if isinstance(x2, int) and getattr(x1, "dtype", None) == np.uint64:
            x2 = np.asarray(x2, np.uint64)
        elif isinstance(x1, int) and getattr(x2, "dtype", None) == np.uint64:
            x1 = np.asarray(x1, np.uint64)
        return function(x1, x2)

    return call


for _name in (
    "add", "subtract", "multiply", "floor_divide", "remainder", "pow", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "maximum", "minimum",
):  # fmt: skip
    globals()[_name] = _exact(getattr(sparse, _name))
