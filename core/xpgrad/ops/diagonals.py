"""Diagonals and triangles of matrices, and their indices."""

from typing import Any

from xpgrad.array_api.indexing import setitem
from xpgrad.array_api.manipulation import reshape
from xpgrad.array_api.shared.copying import place_of
from xpgrad.backend.current import current_device
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_numbers
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray


def create_diagonal(x: AnyArray, /, *, offset: int = 0) -> Variable:
    """Matrices of zeros with the vectors along the last axis of `x` on a diagonal.

    Parameters
    ----------
    x : Variable or array, shape (*S, N)
    offset : int
        Position above the main diagonal; below it if negative.

    Returns
    -------
    Variable, shape (*S, N + abs(offset), N + abs(offset))
    """
    x = as_variable(x)
    if not x.ndim:
        raise ShapeError("create_diagonal: expected an array with at least one axis, got shape ()")
    *lead, n = x.shape
    offset = as_numbers("create_diagonal", "offset", offset)
    side = n + abs(offset)
    spec = x.node.spec
    zeros = spec.backend.namespace.zeros((*lead, side * side), dtype=spec.dtype, device=spec.device)
    flat = setitem(zeros, x, index=(..., _diagonal(side, n, offset)))
    return reshape(flat, shape=(*lead, side, side))


def _diagonal(columns: int, count: int, offset: int) -> slice:
    """Return the slice of a flattened matrix that is a diagonal of `count` elements."""
    if not count:
        return slice(0, 0)
    start = offset if offset >= 0 else -offset * columns
    return slice(start, start + (count - 1) * (columns + 1) + 1, columns + 1)


def diag(x: AnyArray, /, k: int = 0) -> Variable:
    """Matrix with the vector `x` on its diagonal `k`, or the diagonal `k` of the matrix `x`.

    Parameters
    ----------
    x : Variable or array, shape (N,) or (M, N)
    k : int
        Position above the main diagonal; below it if negative.
    """
    x = as_variable(x)
    if x.ndim == 1:
        return create_diagonal(x, offset=k)
    if x.ndim != 2:
        raise ShapeError(f"diag: expected a vector or a matrix, got shape {x.shape}")
    rows, columns = x.shape
    count = max(0, min(rows + min(k, 0), columns - max(k, 0)))
    return reshape(x, shape=(rows * columns,))[_diagonal(columns, count, k)]


def _numbers(shape: tuple[int, int], device: Any) -> tuple[Any, Any, Any]:
    backend, handle = place_of(current_device().backend, device)
    xp = backend.xp
    rows, columns = xp.arange(shape[0], device=handle), xp.arange(shape[1], device=handle)
    return xp, xp.reshape(rows, shape=(-1, 1)), xp.reshape(columns, shape=(1, -1))


def diag_indices(n: int, /, *, ndim: int = 2, device: Any = None) -> tuple[Variable, ...]:
    """Indices on `device` of the main diagonal of an array with `ndim` axes of length `n`, one array for each axis."""
    xp, rows, _ = _numbers((n, 0), device)
    return (constant_variable(xp.reshape(rows, shape=(-1,))),) * ndim


def tril_indices(n: int, /, *, offset: int = 0, m: int | None = None, device: Any = None) -> tuple[Variable, Variable]:
    """Indices on `device` of the elements on and below diagonal `offset` of a matrix with `n` rows and `m` columns."""
    return _triangle("less_equal", n, offset, m, device)


def triu_indices(n: int, /, *, offset: int = 0, m: int | None = None, device: Any = None) -> tuple[Variable, Variable]:
    """Indices on `device` of the elements on and above diagonal `offset` of a matrix with `n` rows and `m` columns."""
    return _triangle("greater_equal", n, offset, m, device)


def _triangle(comparison: str, n: int, offset: int, m: int | None, device: Any) -> tuple[Variable, Variable]:
    xp, rows, columns = _numbers((n, n if m is None else m), device)
    first, second = xp.nonzero(getattr(xp, comparison)(xp.subtract(columns, rows), offset))
    return constant_variable(first), constant_variable(second)
