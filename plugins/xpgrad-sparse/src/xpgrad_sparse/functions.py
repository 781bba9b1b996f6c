"""Products of constant sparse matrices with dense NumPy arrays."""

from typing import Any

import numpy as np
import sparse

from xpgrad import FunctionNode, Variable
from xpgrad.errors import ShapeError
from xpgrad.types import AnyArray, Array


class Product(FunctionNode):
    """The product with one sparse matrix; a class, because the matrix is no array of the graph.

    Parameters
    ----------
    a : sparse.SparseArray, shape (M, N)
    """

    def __init__(self, a: sparse.SparseArray) -> None:
        super().__init__()
        self.a = a

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return ``a @ x``."""
        return (np.asarray(self.a @ inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the product of the transpose with the cotangent."""
        transpose = self.a.T
        return (_product(transpose.conj() if transpose.dtype.kind == "c" else transpose, grad_outputs[0]),)


def matmul(a: sparse.SparseArray, x: AnyArray) -> Variable:
    """Return the product of a constant sparse matrix and a dense array, which has the gradient.

    Parameters
    ----------
    a : sparse.COO or sparse.GCXS, shape (M, N)
        Its fill value is 0, and it has no gradient. A COO is converted to GCXS at each call.
    x : Variable or array of NumPy's, shape (N,) or (N, K)

    Returns
    -------
    Variable of a NumPy array, shape (M,) or (M, K)

    Raises
    ------
    TypeError
        `a` is not sparse, or `x` is not dense.
    ShapeError
        The shapes do not fit.
    """
    values = x.array if isinstance(x, Variable) else x
    if not isinstance(a, sparse.SparseArray) or not isinstance(values, np.ndarray):
        raise TypeError(
            "matmul: expected a sparse matrix and a dense array of NumPy's, got "
            f"{type(a).__name__} and {type(values).__name__}; xpgrad.array_api.matmul multiplies arrays of one kind"
        )
    if a.ndim != 2 or values.ndim not in (1, 2) or a.shape[1] != values.shape[0]:
        raise ShapeError(f"matmul: expected shapes (M, N) and (N,) or (N, K), got {a.shape} and {values.shape}")
    return _product(a if isinstance(a, sparse.GCXS) else sparse.GCXS(a, compressed_axes=(0,)), x)


def _product(a: sparse.SparseArray, x: AnyArray) -> Variable:
    (y,) = Product(a).apply((x,))
    return y
