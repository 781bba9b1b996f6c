"""Reductions: NumPy's loops without its wrappers, which cost more than the work on small arrays."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import Spec
from xpgrad.types import WHOLE, Array, Dtype, Kernel, Shape
from xpgrad_numpy.kernels.precision import SINGLE, divided, is_half
from xpgrad_numpy.kernels.rows import SHARED, sums

Axis = int | Sequence[int] | None
BLAS_FROM = 4096  # elements
_add: Kernel = np.add.reduce
_multiply: Kernel = np.multiply.reduce
_maximum: Kernel = np.maximum.reduce
_minimum: Kernel = np.minimum.reduce


def sum(x: Array, /, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Array:
    """Sum over `axis`; small integers in the default integer dtype, like NumPy's loop."""
    if x.itemsize < 4 and is_half(dtype or x.dtype):
        return _add(x, axis, SINGLE, None, keepdims).astype(dtype or x.dtype)
    if x.size >= SHARED and dtype is None and (y := sums(x, axis, keepdims)) is not NotImplemented:
        return y
    return _add(x, axis, dtype, None, keepdims)


def prod(x: Array, /, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Array:
    """Product over `axis`."""
    if x.itemsize < 4 and is_half(dtype or x.dtype):
        return _multiply(x, axis, SINGLE, None, keepdims).astype(dtype or x.dtype)
    return _multiply(x, axis, dtype, None, keepdims)


def max(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Maximum over `axis`."""
    return _maximum(x, axis, None, None, keepdims)


def min(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Minimum over `axis`."""
    return _minimum(x, axis, None, None, keepdims)


def mean(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Mean over `axis`; cases that need a wider accumulator or a warning are left to NumPy."""
    count = _count(x, axis)
    if count and is_half(x.dtype):
        return (_add(x, axis, SINGLE, None, keepdims) / count).astype(x.dtype)
    if not count or x.dtype.char not in "fdFD":
        return np.mean(x, axis=axis, keepdims=keepdims)
    return sum(x, axis, None, keepdims) / count


def var(x: Array, /, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variance over `axis`."""
    if is_half(x.dtype):
        return var(x.astype(SINGLE), axis, correction, keepdims).astype(x.dtype)
    count = _count(x, axis) - float(correction)
    if count <= 0 or x.dtype.char not in "fd":
        y = np.var(x, axis=axis, correction=correction, keepdims=keepdims)
        return y if count > 0 else y * math.nan
    centred = x - mean(x, axis, True)
    return _add(np.square(centred, out=centred if centred.ndim else None), axis, None, None, keepdims) / count


def std(x: Array, /, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation over `axis`."""
    if is_half(x.dtype):
        return std(x.astype(SINGLE), axis, correction, keepdims).astype(x.dtype)
    return np.sqrt(var(x, axis, correction, keepdims))


def _count(x: Array, axis: Axis) -> int:
    if axis is None:
        return int(x.size)
    if isinstance(axis, WHOLE):
        return int(x.shape[axis])
    return math.prod(x.shape[a] for a in axis)


def broadcast_to(x: Array, /, shape: Shape) -> Array:
    """Return `x` broadcast to `shape`: a view with strides of 0, created directly if `x` is contiguous."""
    if x.shape == shape:
        return x
    strides = _stretched(x.shape, x.strides, shape)
    if strides is None or not x.flags.c_contiguous:
        return np.broadcast_to(x, shape)
    return np.ndarray(shape, x.dtype, x, 0, strides)


@functools.lru_cache(4096)
def _stretched(small: Shape, strides: Shape, large: Shape) -> Shape | None:
    """Return the strides that broadcast `small` to `large`, or None if it does not broadcast or is empty."""
    lead = len(large) - len(small)
    if lead < 0 or 0 in small or any(n not in (1, m) for n, m in zip(small, large[lead:], strict=True)):
        return None
    return (0,) * lead + tuple(s if n == m else 0 for n, m, s in zip(small, large[lead:], strides, strict=True))


def sum_to(x: Array, /, shape: Shape) -> Array:
    """Return `x` summed over the axes that broadcasting from `shape` added or stretched."""
    if x.itemsize < 4 and is_half(x.dtype) and x.shape != shape:
        return sum_to(x.astype(SINGLE), shape).astype(x.dtype)
    if x.ndim == 2 and len(shape) == 1 and x.shape[1] == shape[0]:
        return _add(x, 0, x.dtype)  # a bias: no axis is kept
    axes = _summed(x.shape, shape)
    if not axes:
        return x
    if x.ndim > 2 and axes == (x.ndim - 2,) and x.size >= BLAS_FROM and x.dtype.char in "fd" and x.flags.c_contiguous:
        # NumPy's loop adds row by row, which takes up to thirty times as long where rows are short, and rounds more
        total = np.matmul(np.ones((1, x.shape[-2]), x.dtype), x)
    else:
        total = _add(x, axes, x.dtype, None, True)
    return total if total.shape == shape else total.reshape(shape)


@functools.lru_cache(4096)
def _summed(large: Shape, small: Shape) -> tuple[int, ...]:
    lead = len(large) - len(small)
    return tuple(range(lead)) + tuple(i + lead for i, n in enumerate(small) if n == 1 and large[i + lead] != 1)


def sum_vjp(gy: Array, x_spec: Spec, axis: Axis, keepdims: bool, /) -> Array:
    """Return the gradient of `sum`: a view of the cotangent."""
    if not (keepdims or axis is None):
        gy = gy.reshape(_kept(x_spec.shape, _hashable(axis)))
    return broadcast_to(gy, x_spec.shape)


def _hashable(axis: Any) -> int | tuple[int, ...]:
    return axis if type(axis) is int else int(axis) if isinstance(axis, WHOLE) else tuple(axis)


@functools.lru_cache(4096)
def _kept(shape: Shape, axis: int | tuple[int, ...]) -> Shape:
    axes = [a % len(shape) for a in ((axis,) if isinstance(axis, int) else axis)] if shape else ()  # NumPy takes 0
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def extremum_vjp(gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, keepdims: bool, /) -> Array:
    """Return the gradient of `max` and `min`: the cotangent in equal shares for the elements that are extreme."""
    if not (keepdims or axis is None):
        shape = _kept(x.shape, _hashable(axis))
        gy, y = gy.reshape(shape), y.reshape(shape)
    extreme = x == y
    share = divided(gy, np.count_nonzero(extreme) if axis is None else _add(extreme, axis, np.intp, None, True))
    return np.where(extreme, share, share.dtype.type(0))


STATISTICAL: dict[str, Kernel] = {
    "broadcast_to": broadcast_to,
    "max": max,
    "max.x": extremum_vjp,
    "mean": mean,
    "min": min,
    "min.x": extremum_vjp,
    "prod": prod,
    "std": std,
    "sum": sum,
    "sum.x": sum_vjp,
    "sum_to": sum_to,
    "var": var,
}
