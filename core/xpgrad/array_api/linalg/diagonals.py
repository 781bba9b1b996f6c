"""Diagonals of matrices: extraction, expansion and traces."""

from xpgrad.array_api.shared.axes import matrices
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.types import AnyArray, Array, Dtype, Namespace


@primitive(linear=("x",), extension="linalg", x=lambda xp, gy, offset: xp.linalg.diagonal(gy, offset=offset))
def expand_diagonal(xp: Namespace, x: Array, /, rows: int, columns: int, *, offset: int = 0) -> Array:
    """Matrices of shape (rows, columns) with the vectors `x` on the diagonal `offset` and zeros off the diagonal.

    Parameters
    ----------
    x : Variable or array, shape (..., K)
        K is the length of that diagonal.
    rows, columns : int
    offset : int
        0 for the main diagonal, positive above it.
    """
    before = min(max(offset, 0), columns)  # columns before the first element
    after = columns - before - x.shape[-1]
    empty = (*x.shape[:-1], before), (*x.shape[:-1], after)
    ends = [xp.zeros(shape, dtype=x.dtype, device=xp.device_of(x)) for shape in empty]
    line = xp.concat([ends[0], x, ends[1]], axis=-1)[..., None, :] if columns else x[..., None, :]
    on = xp.eye(rows, columns, k=offset, dtype=x.dtype, device=xp.device_of(x)) != 0
    return xp.where(on, line, xp.zeros_like(line))


def _diagonal_rule(xp: Namespace, gy: Array, x_spec: Spec, offset: int) -> Array:
    return xp.linalg.expand_diagonal(gy, x_spec.shape[-2], x_spec.shape[-1], offset=offset)


def _taken(xp: Namespace, x: Array, offset: int) -> Array:
    """Return diagonals by slices, without an extension of the library."""
    rows, columns = x.shape[-2:]
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    start = offset if offset >= 0 else -offset * columns
    along = slice(start, start + (count - 1) * (columns + 1) + 1, columns + 1) if count > 0 else slice(0)
    return xp.reshape(x, (*x.shape[:-2], rows * columns))[..., along]


@primitive(linear=("x",), extension="linalg", x=_diagonal_rule)
def diagonal(xp: Namespace, x: AnyArray, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N)
    offset : int
        0 for the main diagonal, positive above it, negative below.

    Returns
    -------
    Variable, shape (..., K)
        K is the length of the diagonal; 0 if it is outside the matrix.
    """
    matrices(x, "diagonal")
    return _taken(xp, x, offset)


def _trace_rule(xp: Namespace, gy: Array, x_spec: Spec, offset: int) -> Array:
    rows, columns = x_spec.shape[-2:]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    line = xp.broadcast_to(gy[..., None], shape=(*x_spec.shape[:-2], length))
    return xp.linalg.expand_diagonal(line, rows, columns, offset=offset)


@primitive(linear=("x",), extension="linalg", x=_trace_rule)
def trace(xp: Namespace, x: AnyArray, /, *, offset: int = 0, dtype: Dtype | None = None) -> Array:
    """The sums of the diagonals of matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), numeric
    offset : int
        0 for the main diagonal, positive above it, negative below.
    dtype : dtype or None
        Dtype of the result. By default the dtype of `x` if it is floating-point, else at least the default integer.

    Returns
    -------
    Variable, shape (...)
    """
    matrices(x, "trace")
    return xp.sum(_taken(xp, x, offset), axis=-1, dtype=dtype)
