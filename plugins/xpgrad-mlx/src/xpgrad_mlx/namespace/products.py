"""The standard's products of vectors, matrices and arrays."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array
from xpgrad_mlx.namespace.statistics import sum


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the product of matrices; integers as sums of products, because MLX's `matmul` lacks them."""
    if mx.issubdtype(mx.result_type(x1, x2), mx.inexact):
        return mx.matmul(x1, x2)
    a = x1[None, :] if x1.ndim == 1 else x1
    b = x2[:, None] if x2.ndim == 1 else x2
    if not (x1.ndim and x2.ndim) or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matmul: expected as many columns as rows; got shapes {x1.shape} and {x2.shape}")
    dtype = mx.result_type(x1, x2)
    y = sum(a[..., :, :, None] * b[..., None, :, :], axis=-2).astype(dtype)
    y = y[..., 0] if x2.ndim == 1 else y
    return (y[..., 0, :] if x2.ndim > 1 else y[..., 0]) if x1.ndim == 1 else y


def matrix_transpose(x: Array, /) -> Array:
    """Return the transposes of matrices."""
    return mx.swapaxes(x, -1, -2)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return dot products along `axis`, the first operand conjugated."""
    dtype = mx.result_type(x1, x2)
    return sum(mx.conj(x1) * x2, axis=axis).astype(dtype)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Return sums of products over axes of both arrays."""
    if isinstance(axes, int):
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    first, second = ([axis % x.ndim for axis in some] for some, x in zip(axes, (x1, x2), strict=True))
    if [x1.shape[axis] for axis in first] != [x2.shape[axis] for axis in second]:
        raise ValueError(f"tensordot: expected equal lengths along axes {axes}; got shapes {x1.shape} and {x2.shape}")
    rows = [axis for axis in range(x1.ndim) if axis not in first]
    columns = [axis for axis in range(x2.ndim) if axis not in second]
    inner = 1
    for axis in first:
        inner *= x1.shape[axis]
    shape = [x1.shape[axis] for axis in rows] + [x2.shape[axis] for axis in columns]
    height, width = (x.size // inner if inner else _product(x, kept) for x, kept in ((x1, rows), (x2, columns)))
    a = mx.transpose(x1, rows + first).reshape(height, inner)
    b = mx.transpose(x2, second + columns).reshape(inner, width)
    return matmul(a, b).reshape(shape)


def _product(x: Array, axes: list[int]) -> int:
    """Return the product of the lengths of `axes`."""
    size = 1
    for axis in axes:
        size *= x.shape[axis]
    return size
