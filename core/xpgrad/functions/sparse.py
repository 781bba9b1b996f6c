"""Sparse matrices by coordinates, whose elements are a Variable, and their products with dense matrices."""

import math
from typing import Any, Literal

from xpgrad import array_api, ops
from xpgrad.array_api import matrix_transpose, reshape, take, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.scattering import scattered
from xpgrad.functions.checks import invalid, known_spec, real_floating
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array

__all__ = ["sparse_matmul"]


class CooMatrix:
    """A sparse matrix, or a batch of sparse matrices of one shape.

    Parameters
    ----------
    data : Variable or array, shape (K,) or (B, K), real floating-point
        The elements; elements at the same position are summed.
    row, col : array of int, shape of `data`
        Positions of the elements; elements with -1 are ignored.
    shape : tuple of two int
        Shape of a matrix; both positive.
    order : {"C", "F", "other"}, optional
        How the elements are sorted: by rows, by columns, or not. By default the attribute `order` determines this from
        `row` and `col` on first access.
    requires_grad : bool
        Whether the elements of an array `data` require a gradient; a Variable is unchanged.

    Raises
    ------
    ValueError
        Shapes or `order` are not as above.
    """

    def __init__(
        self, data: AnyArray, row: AnyArray, col: AnyArray, shape: tuple[int, ...],
        order: Literal["C", "F", "other"] | None = None, requires_grad: bool = False,
    ) -> None:  # fmt: skip
        self.data = data if isinstance(data, Variable) else Variable(data, requires_grad=requires_grad)
        self.row, self.col = as_array(row), as_array(col)
        size = self.data.shape
        if len(size) not in (1, 2) or tuple(self.row.shape) != size or tuple(self.col.shape) != size:
            raise ValueError(
                "CooMatrix: data, row and col must be of one shape (K,) or (B, K), got "
                f"{size}, {tuple(self.row.shape)} and {tuple(self.col.shape)}"
            )
        if len(shape) != 2 or not all(n > 0 for n in shape):
            raise ValueError(f"CooMatrix: shape must be two positive numbers, got {tuple(shape)}")
        if order not in ("C", "F", "other", None):
            raise ValueError(f"CooMatrix: order must be 'C', 'F', 'other' or None, got {order!r}")
        self.shape = (int(shape[0]), int(shape[1]))
        self._order = order

    @property
    def order(self) -> str:
        """How the elements are sorted: "C" by rows, "F" by columns, else "other"."""
        if self._order is None:
            row, col = as_variable(self.row), as_variable(self.col)
            if _is_rising(row * self.shape[1] + col, row):
                self._order = "C"
            else:
                self._order = "F" if _is_rising(col * self.shape[0] + row, row) else "other"
        return self._order

    def elements(self) -> tuple[Variable, Variable, Variable]:
        """Return data, row and col, where elements that are not counted are 0 at the place (0, 0)."""
        row, col = as_variable(self.row), as_variable(self.col)
        counted = (row >= 0) & (col >= 0)
        return where(counted, self.data, 0.0), where(counted, row, 0), where(counted, col, 0)

    def to_dense(self) -> Array:
        """Return the matrix as a dense array with shape `shape`, or a batch with shape (B, *`shape`)."""
        data, row, col = self.elements()
        batch, size = data.shape[:-1], self.shape[0] * self.shape[1]
        spec = data.node.spec
        total = spec.backend.spec_for((math.prod(batch) * size,), spec.dtype, spec.device)
        place = numbered(row * self.shape[1] + col, size)
        dense = scattered(total, [(place.array, reshape(data, shape=(-1,)).array)])
        return reshape(dense, shape=(*batch, *self.shape)).array


def _is_rising(place: Variable, row: Variable) -> bool:
    """Return whether places are in ascending order in each row, up to the ignored elements."""
    return bool(array_api.all((place[..., 1:] >= place[..., :-1]) | (row[..., 1:] < 0)))


def numbered(index: Variable, length: int) -> Variable:
    """Return flat indices into an array, from rows of indices into consecutive parts of length `length`."""
    if index.ndim > 1:
        spec = index.node.spec
        starts = spec.backend.namespace.arange(0, index.shape[0] * length, length, dtype=spec.dtype, device=spec.device)
        index = index + reshape(starts, shape=(-1, 1))
    return reshape(index, shape=(-1,))


def to_coo(x: AnyArray, ldnz: int | None = None, requires_grad: bool = False) -> CooMatrix:
    """Return a matrix, or a batch of matrices, as a sparse one of the elements that are not 0, sorted by rows.

    Parameters
    ----------
    x : array, shape (M, N) or (B, M, N)
    ldnz : int, optional
        Least number of elements of each matrix that the result has room for.
    requires_grad : bool
        Whether the elements are a Variable that requires a gradient.

    Raises
    ------
    ValueError
        `x` has not two or three axes.
    """
    x = as_variable(as_array(x))
    if x.ndim not in (2, 3):
        raise ValueError(f"to_coo: x must have shape (M, N) or (B, M, N), got {x.shape}")
    *batch, rows, columns = x.shape
    integer = x.node.spec.backend.namespace.int32
    flat = reshape(x, shape=(*batch, rows * columns))
    zero = array_api.astype(flat == 0, integer)
    most = rows * columns - int(array_api.min(array_api.sum(zero, axis=-1))) if x.size else 0
    place = array_api.argsort(zero, axis=-1, stable=True)[..., :most]
    data = array_api.take_along_axis(flat, place.array, axis=-1)
    place = array_api.astype(where(data == 0, -1, place), integer)
    room = [(0, 0)] * len(batch) + [(0, max(0, (ldnz or 0) - most))]
    row = ops.pad(place // columns, room, constant_values=-1)
    col = ops.pad(where(place < 0, -1, place % columns), room, constant_values=-1)
    return CooMatrix(ops.pad(data, room).array, row, col, (rows, columns), "C", requires_grad)


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
