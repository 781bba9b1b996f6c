"""Products of sparse and dense matrices."""

import math
from typing import Any

from xpgrad import ops
from xpgrad.array_api import matrix_transpose, reshape, take
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.checks import invalid, known_spec, real_floating
from xpgrad.functions.coo_matrix import CooMatrix, numbered
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["sparse_matmul"]


@in_single_precision
def sparse_matmul(a: Any, b: Any, transa: bool = False, transb: bool = False) -> Variable:
    """Return the product of a sparse and a dense matrix, or the products of two batches of matrices.

    Parameters
    ----------
    a, b : one a sparse matrix, the other a Variable or array
        The sparse one is a `utils.CooMatrix`, whose elements may require a gradient, or a matrix or array of
        `scipy.sparse`, which has none. The dense matrix is real floating-point, of shape (M, N), or (B, M, N) for a
        batch.
    transa, transb : bool
        Transpose the matrices of `a`, of `b` first.

    Returns
    -------
    Variable, shape (M, N) or (B, M, N)

    Raises
    ------
    InvalidType
        Dtypes or shapes do not fit.
    ValueError
        Not exactly one of `a` and `b` is sparse.
    """
    if _is_sparse(a) == _is_sparse(b):
        raise ValueError(
            "sparse_matmul: expected one sparse matrix, a CooMatrix or one of scipy.sparse, and one dense array; got "
            f"{type(a).__name__} and {type(b).__name__}"
        )
    if _is_sparse(a):
        return _product(_coo(a, b), b, transa, transb)
    return matrix_transpose(_product(_coo(b, a), a, not transb, not transa))


def _is_sparse(x: Any) -> bool:
    return isinstance(x, CooMatrix) or hasattr(x, "tocoo")


def _coo(x: Any, dense: AnyArray) -> CooMatrix:
    """Return a sparse matrix with coordinates; one of SciPy is moved to the device of `dense`."""
    if isinstance(x, CooMatrix):
        return x
    found, spec = x.tocoo(), known_spec(dense, "sparse_matmul")
    data, row, col = spec.backend.device_for(spec.device).send([found.data, found.row, found.col])
    return CooMatrix(data, row, col, found.shape, "other")


def _product(sparse: CooMatrix, dense: AnyArray, transpose: bool, transpose_dense: bool) -> Variable:
    """Return the products of sparse and dense matrices, either of which may be transposed first."""
    data, into, out_of = sparse.elements()
    rows, length = sparse.shape
    if transpose:
        into, out_of, rows, length = out_of, into, length, rows
    real_floating(data, "sparse_matmul", "the sparse matrix")
    spec = real_floating(dense, "sparse_matmul", "the dense matrix")
    expect = f"a dense matrix of shape {(*data.shape[:-1], length, 'N')}, after it is transposed if asked"
    if spec.ndim != data.ndim + 1 or spec.shape[:-2] != data.shape[:-1]:
        raise invalid("sparse_matmul", expect, f"it is {spec!r}")
    x = matrix_transpose(dense) if transpose_dense else as_variable(dense)
    if x.shape[-2] != length:
        raise invalid("sparse_matmul", expect, f"it is {spec!r}")
    batch = data.shape[:-1]
    lines = take(reshape(x, shape=(math.prod(batch) * length, x.shape[-1])), numbered(out_of, length).array, axis=0)
    terms = lines * reshape(data, shape=(-1, 1))
    y = ops.segment_sum(terms, numbered(into, rows), num_segments=math.prod(batch) * rows)
    return reshape(y, shape=(*batch, rows, x.shape[-1]))
