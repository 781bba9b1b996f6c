"""Sparse matrices: Variables as elements, at places that are constant.

They keep no particular order of elements; a place that occurs more than once has the sum.
"""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables, is_operand
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.ops.scattering import segment_sum
from xpgrad.scipy.operands import from_host, required
from xpgrad.types import Array, integers


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
    __array_ufunc__ = None  # so that operators of NumPy's arrays leave products to this class

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

    def conjugate(self) -> "SparseArray":
        """Return the complex conjugate."""
        return self.conj()

    def __mul__(self, number: Any) -> "SparseArray":
        """Return the product with a number."""
        data, factor = as_variables("multiply", self.data, number)
        if factor.ndim:
            raise ShapeError(f"multiply: expected a number for a sparse array, got shape {factor.shape}; use @")
        return SparseArray(data * factor, self.row, self.col, self.shape)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> "SparseArray":
        """Return the quotient by a number."""
        return self.__mul__(1.0 / number)

    def __neg__(self) -> "SparseArray":
        return SparseArray(-self.data, self.row, self.col, self.shape)

    def __add__(self, other: Any) -> "SparseArray":
        """Return the sum with a sparse matrix."""
        other, xp = self._beside(other, "add"), plugins.host.namespace
        if other.shape != self.shape:
            raise ShapeError(f"add: expected sparse arrays of one shape, got {self.shape} and {other.shape}")
        data = xpa.concat(list(as_variables("add", self.data, other.data)))
        return SparseArray(data, xp.concat([self.row, other.row]), xp.concat([self.col, other.col]), self.shape)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "SparseArray":
        """Return the difference from a sparse matrix."""
        return self + -self._beside(other, "subtract")

    def __rsub__(self, other: Any) -> "SparseArray":
        return (-self).__add__(other)

    def _beside(self, other: Any, name: str) -> "SparseArray":
        """Return a sparse matrix; one of SciPy is a constant in the library of this one."""
        found = as_sparse(other, name)
        if found is not other and found.data.device.backend is not self.data.device.backend:
            found.data = from_host(self.data, on_host(found.data))
        return found

    def _times(self, other: "SparseArray") -> "SparseArray":
        """Return the product with a sparse matrix: a term for each pair of elements that meet."""
        if self.shape[1] != other.shape[0]:
            raise ShapeError(f"matmul: expected {self.shape[1]} rows, got a sparse array of shape {other.shape}")
        xp: Any = plugins.host.namespace
        order = xp.argsort(other.row, stable=True)
        counts = xp.bincount(other.row, minlength=other.shape[0])
        starts, repeats = xp.cumulative_sum(counts) - counts, counts[self.col]
        left = xp.repeat(xp.arange(self.row.shape[0]), repeats)
        within = xp.arange(left.shape[0]) - (xp.cumulative_sum(repeats) - repeats)[left]
        right = order[starts[self.col[left]] + within]
        data = xpa.multiply(*(xpa.take(x.data, places(at, at, x.data)[0]) for x, at in ((self, left), (other, right))))
        return SparseArray(data, self.row[left], other.col[right], (self.shape[0], other.shape[1]))

    def __rmatmul__(self, x: Any) -> Variable:
        """Return the product of a vector or a dense matrix with this matrix."""
        x = as_variables("matmul", self.data, x)[1]
        return self.T @ x if x.ndim < 2 else xpa.matrix_transpose(self.T @ xpa.matrix_transpose(x))

    def sum(self, axis: int | None = None) -> Variable:
        """Return the sum of all elements, or of those of each column (0) or row (1)."""
        if axis is None:
            return xpa.sum(self.data)
        other = 1 - checked_axes(axis, 2, "sum")[0]
        return segment_sum(self.data, places(self.row, self.col, self.data)[other], self.shape[other])

    def diagonal(self, k: int = 0) -> Variable:
        """Return the elements `k` places right of the main diagonal."""
        (at,) = plugins.host.namespace.nonzero(self.col - self.row == k)
        chosen, row = places(at, self.row[at] + min(k, 0), self.data)
        return segment_sum(
            xpa.take(self.data, chosen), row, max(min(self.shape[0] + min(k, 0), self.shape[1] - max(k, 0)), 0)
        )

    def tocoo(self) -> "SparseArray":
        """Return the matrix itself, as `tocsr` and `tocsc` do; `to_scipy` converts."""
        return self

    tocsr = tocsc = tocoo

    def dot(self, x: Any) -> Any:
        """Return ``self @ x``."""
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        """Return the product with a vector, a dense matrix or a sparse matrix."""
        if isinstance(x, SparseArray) or hasattr(x, "tocoo"):
            return self._times(self._beside(x, "matmul"))
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

    todense = toarray

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
        if isinstance(given, tuple):
            return _at_places(*given, shape) if len(given) == 2 and isinstance(given[1], tuple) else None
        if not is_operand(given) or as_variable(given).ndim != 2:
            raise TypeError(f"{name}: expected elements and places, or a matrix; got {type(given).__name__}")
        dense = as_variable(given)
        row, col = plugins.host.namespace.nonzero(on_host(dense))
        at = places(row * dense.shape[1] + col, col, dense)[0]
        return SparseArray(xpa.take(xpa.reshape(dense, (-1,)), at), row, col, (dense.shape[0], dense.shape[1]))
    coo = given.tocoo()
    row, col = (_integers(x) for x in (coo.row, coo.col))
    return SparseArray(as_variable(coo.data), row, col, coo.shape)


def _at_places(data: Any, at: tuple[Any, Any], shape: Any) -> SparseArray:
    """Return a sparse matrix from elements and places; the last place determines the shape by default."""
    row, col = map(_integers, at)
    shape = (int(row.max()) + 1, int(col.max()) + 1) if shape is None else integers(shape)
    if any(x.size and not 0 <= x.min() <= x.max() < n for x, n in zip((row, col), shape, strict=True)):
        raise ShapeError(f"sparse array: expected places within the shape {tuple(shape)}, got others")
    return SparseArray(as_variable(data), row, col, shape)


def coo_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from elements and their places, or from a matrix.

    Parameters
    ----------
    given : tuple ``(data, (row, col))``, a sparse matrix, or a Variable or array of two axes
        Elements of a dense matrix that are 0 are left out, and have no gradient.
    shape : pair of int, optional
    """
    found = _converted(given, shape, "coo_array")
    if found is None:
        raise TypeError("coo_array: expected a tuple (data, (row, col)) or a matrix, got another tuple")
    return found


def _compressed(given: Any, shape: Any, name: str, by_row: bool) -> SparseArray:
    found = _converted(given, shape, name)
    if found is not None:
        return found
    data, indices, indptr = given
    if shape is None:
        raise TypeError(f"{name}: expected the shape of the matrix beside its elements, indices and pointers")
    xp: Any = plugins.host.namespace
    pointers, minor = _integers(indptr), _integers(indices)
    if pointers.shape != (int(shape[0 if by_row else 1]) + 1,):
        raise ShapeError(f"{name}: expected a pointer more than the shape {tuple(shape)}, got {pointers.shape[0]}")
    major = xp.repeat(xp.arange(pointers.shape[0] - 1), pointers[1:] - pointers[:-1])
    return _at_places(data, (major, minor) if by_row else (minor, major), shape)


def csr_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from its compressed rows, or from a matrix of SciPy.

    Parameters
    ----------
    given : tuple ``(data, indices, indptr)``, or as for `coo_array`
        `data` may be a Variable, for gradients of results with respect to the elements.
    shape : pair of int
    """
    return _compressed(given, shape, "csr_array", True)


def csc_array(given: Any, shape: tuple[int, int] | None = None) -> SparseArray:
    """Return a sparse matrix from its compressed columns; arguments as for `csr_array`."""
    return _compressed(given, shape, "csc_array", False)


def as_sparse(a: Any, name: str) -> SparseArray:
    """Return a sparse matrix of this module."""
    if not hasattr(a, "shape"):
        raise TypeError(f"{name}: expected a matrix, got {type(a).__name__}")
    found = a if isinstance(a, SparseArray) else _converted(a, a.shape, name)
    assert found is not None
    return found
