"""The standard's reductions and cumulative functions."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array

Axis = int | tuple[int, ...] | None
LONG = 256
"""From how many numbers on sums are taken in blocks: on the CPU, MLX adds one number after another."""
BLOCK = 32


def _reduced(x: Array, axis: Axis, keepdims: bool) -> tuple[tuple[int, ...], int]:
    """Return the shape of a reduction, and the number of elements per result; raise an error for missing axes."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    for k in axes:
        if not -x.ndim <= k < x.ndim:
            raise IndexError(f"reduction: expected axes of an array with {x.ndim}; got axis={axis}")
    gone = {k % x.ndim for k in axes}
    shape = tuple(1 if k in gone else n for k, n in enumerate(x.shape) if keepdims or k not in gone)
    return shape, math.prod(x.shape[k] for k in gone)


def _summed(x: Array) -> Any:
    """Return the dtype of sums of `x`: at least 32 bits."""
    if x.dtype.size >= 4:
        return x.dtype
    return mx.uint32 if mx.issubdtype(x.dtype, mx.unsignedinteger) else mx.int32


def _total(function: Any, first: int, x: Array, axis: Axis, dtype: Any, keepdims: bool) -> Array:
    """Return sums or products of `x` over `axis`, in `dtype` or in MLX's own for small integers."""
    wanted = dtype or _summed(x)
    shape, count = _reduced(x, axis, keepdims)
    if not count:
        return mx.full(shape, first, dtype=wanted)  # MLX returns uninitialized memory, or hangs
    if function is mx.sum and count >= LONG and mx.issubdtype(wanted, mx.inexact):
        return _in_blocks(x.astype(wanted), axis, count).reshape(shape)
    return function(x.astype(wanted), axis, keepdims).astype(wanted)


def _in_blocks(x: Array, axis: Axis, count: int) -> Array:
    """Return sums over `axis` of `count` numbers each, by recursive summation of blocks."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    gone = sorted(k % x.ndim for k in axes)
    kept = [k for k in range(x.ndim) if k not in gone]
    y = mx.transpose(x, gone + kept).reshape(count, -1)
    while y.shape[0] > BLOCK:
        whole = y.shape[0] // BLOCK
        parts = mx.sum(y[: whole * BLOCK].reshape(BLOCK, whole, -1), 0)
        rest = y[whole * BLOCK :]
        y = mx.concatenate([parts, rest], 0) if rest.shape[0] else parts
    return mx.sum(y, 0)


def sum(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return sums over `axis`."""
    return _total(mx.sum, 0, x, axis, dtype, keepdims)


def prod(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return products over `axis`."""
    return _total(mx.prod, 1, x, axis, dtype, keepdims)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return means over `axis`."""
    count = _reduced(x, axis, keepdims)[1]
    return sum(x, axis=axis, keepdims=keepdims) / mx.array(count, dtype=x.dtype)


def var(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return variances over `axis`: squares of differences from the mean, over their number less `correction`."""
    change = x - mean(x, axis=axis, keepdims=True)
    squares = sum(change * change, axis=axis, keepdims=keepdims)
    left = _reduced(x, axis, keepdims)[1] - correction
    return squares / mx.array(left if left > 0 else 0.0, dtype=squares.dtype)


def std(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return standard deviations over `axis`."""
    return mx.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return maxima over `axis`."""
    return mx.max(x, axis, keepdims)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return minima over `axis`."""
    return mx.min(x, axis, keepdims)


def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return whether all elements over `axis` are true."""
    shape, count = _reduced(x, axis, keepdims)
    return mx.all(x, axis, keepdims) if count else mx.full(shape, True)


def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return whether any element over `axis` is true."""
    shape, count = _reduced(x, axis, keepdims)
    return mx.any(x, axis, keepdims) if count else mx.full(shape, False)


def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the numbers of elements over `axis` that are not zero."""
    return sum((x != 0).astype(mx.int32), axis=axis, keepdims=keepdims)


def _cumulative(function: Any, first: int, x: Array, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    """Return values accumulated by `function` along `axis`; small integers are widened like MLX's sums."""
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"cumulative functions: expected an axis for an array with {x.ndim} axes; got None")
        axis = 0
    wanted = dtype or _summed(x)
    if x.ndim == 0:
        x = x.reshape(1)
    y = function(x.astype(wanted), axis).astype(wanted)
    if include_initial:
        shape = tuple(1 if k == axis % x.ndim else n for k, n in enumerate(x.shape))
        y = mx.concatenate([mx.full(shape, first, dtype=wanted), y], axis)
    return y


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Return the sums of all elements so far along `axis`."""
    return _cumulative(mx.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Return the products of all elements so far along `axis`."""
    return _cumulative(mx.cumprod, 1, x, axis, dtype, include_initial)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Return differences of neighbours along `axis`, `n` times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    y = mx.concatenate(parts, axis) if len(parts) > 1 else x
    index = [slice(None)] * x.ndim
    for _ in range(n):
        index[axis] = slice(1, None)
        later = y[tuple(index)]
        index[axis] = slice(None, -1)
        before = y[tuple(index)]
        y = later != before if y.dtype == mx.bool_ else later - before
    return y
