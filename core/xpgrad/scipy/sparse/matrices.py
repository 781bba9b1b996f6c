"""Sparse matrices: Variables as elements, at places that are constant.

They keep no particular order of elements; a place that occurs more than once has the sum.
"""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.ops.scattering import segment_sum
from xpgrad.scipy.reference import required
from xpgrad.types import Array


def on_host(x: Any) -> Array:
    """Return the values of an array or a Variable as an array of the host."""
    array = as_array(x)
    host = plugins.host
    if plugins.backend_of(array) is host:
        return array
    return transfer(array, host.default_device)


def places(row: Array, col: Array, like: Variable) -> tuple[Variable, Variable]:
    """Return rows and columns as constants on the device of a Variable."""
    moved = (x if like.device.backend is plugins.host else transfer(x, like.device) for x in (row, col))
    rows, columns = (constant_variable(x) for x in moved)
    return rows, columns


class SparseArray:
    """A matrix of Variables at constant places.

    Attributes
    ----------
    data : Variable, shape (K,)
        The elements.
    row, col : array of int on the host, shape (K,)
        Their places.
    shape : pair of int
    """

    ndim = 2

    def __init__(self, data: Variable, row: Array, col: Array, shape: tuple[int, int]) -> None:
        self.data, self.row, self.col, self.shape = data, row, col, (int(shape[0]), int(shape[1]))
        if data.ndim != 1 or not data.shape == tuple(row.shape) == tuple(col.shape):
            raise ShapeError(f"sparse array: expected as many places as elements, got {data.shape} and {row.shape}")

    def __repr__(self) -> str:
        return f"<SparseArray {self.shape}, {self.data.shape[0]} elements of {self.data.dtype}>"

    @property
    def T(self) -> "SparseArray":
        """The transpose."""
        return SparseArray(self.data, self.col, self.row, (self.shape[1], self.shape[0]))

    def conj(self) -> "SparseArray":
        """Return the complex conjugate."""
        data = xpa.conj(self.data) if self.data.node.spec.complex else self.data
        return SparseArray(data, self.row, self.col, self.shape)

    def __matmul__(self, x: Any) -> Variable:
        """Return the product with a vector or a dense matrix."""
        x = as_variables("matmul", self.data, x)[1]
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            raise ShapeError(f"matmul: expected a vector or matrix with {self.shape[1]} rows, got shape {x.shape}")
        row, col = places(self.row, self.col, self.data)
        data = self.data if x.ndim == 1 else self.data[:, None]
        return segment_sum(data * xpa.take(x, col, axis=0), row, self.shape[0])

    def toarray(self) -> Variable:
        """Return the dense matrix."""
        row, col = places(self.row, self.col, self.data)
        m, n = self.shape
        return xpa.reshape(segment_sum(self.data, row * n + col, m * n), (m, n))

    def to_scipy(self, format: str = "csc") -> Any:
        """Return the values as a matrix of SciPy, which has no gradient."""
        coo = required("scipy.sparse", "coo_array").coo_array((on_host(self.data), (self.row, self.col)), self.shape)
        return coo.asformat(format)


def _integers(x: Any) -> Array:
    host = plugins.host
    return host.asarray(on_host(x) if hasattr(x, "shape") else x, host.namespace.int64)


def _converted(given: Any, shape: Any, name: str) -> SparseArray | None:
    """Return a matrix of SciPy or of this module as one of this module; None for tuples."""
    if isinstance(given, SparseArray):
        return given
    if not hasattr(given, "tocoo"):
        if not isinstance(given, tuple) or shape is None:
            raise TypeError(f"{name}: expected a tuple of elements and places, and a shape; got {type(given).__name__}")
        return None
    coo = given.tocoo()
    row, col = (_integers(x) for x in (coo.row, coo.col))
    return SparseArray(as_variable(coo.data), row, col, coo.shape)


def coo_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from elements and their places, or from a matrix of SciPy.

    Parameters
    ----------
    given : tuple ``(data, (row, col))``, or a sparse matrix
    shape : pair of int
    """
    found = _converted(given, shape, "coo_array")
    if found is not None or shape is None:
        return found or SparseArray(*given)
    data, (row, col) = given
    return SparseArray(as_variable(data), _integers(row), _integers(col), shape)


def _compressed(given: Any, shape: Any, name: str, by_row: bool) -> SparseArray:
    found = _converted(given, shape, name)
    if found is not None:
        return found
    data, indices, indptr = given
    xp: Any = plugins.host.namespace
    pointers, minor = _integers(indptr), _integers(indices)
    major = xp.repeat(xp.arange(pointers.shape[0] - 1), pointers[1:] - pointers[:-1])
    return SparseArray(as_variable(data), *((major, minor) if by_row else (minor, major)), shape)


def csr_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from its compressed rows, or from a matrix of SciPy.

    Parameters
    ----------
    given : tuple ``(data, indices, indptr)``, or a sparse matrix
        `data` may be a Variable, for gradients of results with respect to the elements.
    shape : pair of int
    """
    return _compressed(given, shape, "csr_array", True)


def csc_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from its compressed columns; arguments as for `csr_array`."""
    return _compressed(given, shape, "csc_array", False)


def as_sparse(a: Any, name: str) -> SparseArray:
    """Return a sparse matrix of this module."""
    found = a if isinstance(a, SparseArray) else _converted(a, a.shape, name)
    assert found is not None
    return found
