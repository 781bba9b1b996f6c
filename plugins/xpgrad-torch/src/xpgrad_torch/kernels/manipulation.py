"""Manipulation: the tensors' own methods."""

from collections.abc import Sequence

import array_api_compat.torch as compat
import torch

from xpgrad.types import Array, Shape


def reshape(x: Array, /, shape: Shape, copy: bool | None = None) -> Array:
    """Return the elements in another shape."""
    return x.reshape(shape) if copy is None else compat.reshape(x, shape, copy=copy)


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """Return the array with its axes in another order."""
    return x.permute(tuple(axes))


def broadcast_to(x: Array, /, shape: Shape) -> Array:
    """Return `x` stretched to `shape`: a view with strides of 0."""
    return x.expand(shape)


def concat(arrays: Sequence[Array], /, axis: int | None = 0) -> Array:
    """Concatenate arrays."""
    return compat.concat(tuple(arrays), axis=None) if axis is None else torch.cat(tuple(arrays), axis)


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the matrix product; factors of two dtypes are promoted, which PyTorch's `matmul` rejects."""
    return torch.matmul(x1, x2) if x1.dtype is x2.dtype else compat.matmul(x1, x2)


def matrix_transpose(x: Array, /) -> Array:
    """Return the array with its last two axes swapped."""
    return x.mT


MANIPULATION = {
    "broadcast_to": broadcast_to,
    "concat": concat,
    "matmul": matmul,
    "matrix_transpose": matrix_transpose,
    "permute_dims": permute_dims,
    "reshape": reshape,
}
