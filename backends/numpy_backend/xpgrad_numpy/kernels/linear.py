"""Products of matrices."""

import numpy as np

from xpgrad.types import Array


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return the matrix product; `dot` is the same for two matrices, and takes half the time on small ones."""
    ndim = x1.ndim
    if x2.ndim == 2:
        if ndim == 2:
            return x1.dot(x2)
        if ndim > 2 and x1.flags.c_contiguous and x1.shape[-1]:  # one product for the whole batch
            return x1.reshape((-1, x1.shape[-1])).dot(x2).reshape((*x1.shape[:-1], x2.shape[1]))
    return np.matmul(x1, x2)


def matrix_transpose(x: Array, /) -> Array:
    """Return the array with its last two axes swapped."""
    return x.mT


LINEAR = {"matmul": matmul, "matrix_transpose": matrix_transpose}
