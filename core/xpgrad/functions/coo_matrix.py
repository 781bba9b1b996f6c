"""`CooMatrix`: sparse matrices by coordinates, whose elements are a Variable."""

import math
from typing import Literal

from xpgrad import array_api, ops
from xpgrad.array_api import reshape, where
from xpgrad.backend.scattering import scattered
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array


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
        xp = spec.backend.namespace
        starts = xp.arange(0, index.shape[0] * length, length, dtype=spec.dtype, device=spec.device)
        index = index + xp.reshape(starts, (-1, 1))
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
