"""Sparsity patterns, as users give them, and colours: columns of one colour share no row, and vice versa.

The sum of the columns of one colour has all their entries (Curtis, Powell and Reid, 1974: On the estimation of sparse
Jacobian matrices). Colours are assigned greedily in two orders, and the better result is used.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from xpgrad.backend.holder import unwrap
from xpgrad.backend.plugins import plugins
from xpgrad.errors import SparsityError, UnknownArray


@dataclasses.dataclass(frozen=True)
class Colouring:
    """Colours of the columns or rows of a matrix.

    Attributes
    ----------
    forward : bool
        Whether the columns have colours, for forward mode; else the rows.
    colours : tuple of int
        From 0; -1 for a column or row without entries.
    count : int
        Number of colours.
    """

    forward: bool
    colours: tuple[int, ...]
    count: int


def coloured(forward: bool, rows_of: Sequence[Sequence[int]], rows: int) -> Colouring:
    """Return a colouring of columns.

    Parameters
    ----------
    forward : bool
        As in the result; for the rows of a matrix give its transpose.
    rows_of : sequence of sequences of int
        The rows in which each column has an entry.
    rows : int
        Number of rows.
    """
    counts = [0] * rows
    for column in rows_of:
        for i in column:
            counts[i] += 1
    natural = [j for j, column in enumerate(rows_of) if column]
    neighbours = {j: sum(counts[i] for i in rows_of[j]) for j in natural}
    largest_first = sorted(natural, key=lambda j: -neighbours[j])
    found = [_greedy(order, rows_of, rows) for order in (natural, largest_first)]
    colours, count = min(found, key=lambda each: each[1])
    return Colouring(forward, tuple(colours), count)


def _greedy(order: Iterable[int], rows_of: Sequence[Sequence[int]], rows: int) -> tuple[list[int], int]:
    """Return the colours of columns, each the lowest colour unused in its rows by earlier columns; and their number."""
    taken = [0] * rows  # the bits are colours
    colours, count = [-1] * len(rows_of), 0
    for j in order:
        used = 0
        for i in rows_of[j]:
            used |= taken[i]
        lowest = ~used & (used + 1)
        colours[j] = lowest.bit_length() - 1
        count = max(count, colours[j] + 1)
        for i in rows_of[j]:
            taken[i] |= lowest
    return colours, count


def scipy_sparse(name: str) -> Any:
    """Return ``scipy.sparse``, or raise with the `name` of the function that needs it."""
    try:
        import scipy.sparse  # an optional library
    except ImportError:
        raise ImportError(
            f"{name}: needs SciPy for sparse matrices, which is not installed; pip install scipy"
        ) from None
    return scipy.sparse


class Pattern:
    """Where a matrix may have entries.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        Its stored elements are the entries, including zeros.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of ones
        Matrix with sorted indices.
    shape : tuple of int
    """

    def __init__(self, matrix: Any) -> None:
        matrix = matrix.tocsr(copy=True)
        matrix.sum_duplicates()
        matrix.data = plugins.host.namespace.ones(matrix.data.shape, dtype=plugins.host.namespace.float64)
        self.matrix, self.shape = matrix, tuple(matrix.shape)
        self._colourings: dict[bool, Colouring] = {}

    def colouring(self, mode: str) -> Colouring:
        """Return colours of the columns for "forward", of the rows for "reverse", the smaller number for "auto"."""
        if mode != "auto":
            return self._coloured(mode == "forward")
        columns, rows = self._coloured(True), self._coloured(False)
        return columns if columns.count < rows.count else rows

    def _coloured(self, forward: bool) -> Colouring:
        if forward not in self._colourings:
            compressed = self.matrix.tocsc() if forward else self.matrix
            starts, indices = compressed.indptr.tolist(), compressed.indices.tolist()
            lines = [indices[start:end] for start, end in itertools.pairwise(starts)]
            self._colourings[forward] = coloured(forward, lines, self.shape[0 if forward else 1])
        return self._colourings[forward]

    def united(self, other: "Pattern") -> "Pattern":
        """Return the pattern with the entries of both."""
        return Pattern(self.matrix + other.matrix)


def pattern_of(sparsity: Any, name: str) -> Pattern:
    """Return a pattern as a user gives it: a sparse matrix, or a matrix whose elements that are not zero are entries.

    Raises
    ------
    SparsityError
        The pattern is not a matrix with two axes. The text begins with `name`.
    """
    sparse, host = scipy_sparse(name), plugins.host
    if isinstance(sparsity, Pattern):
        return sparsity
    if not sparse.issparse(sparsity):
        array = unwrap(sparsity)
        try:
            listed = isinstance(array, (list, tuple))
            on_host: Any = host.asarray(array) if listed else plugins.backend_of(array).to_host(array)
            sparsity = sparse.coo_array(on_host != 0)
        except (UnknownArray, TypeError, ValueError) as error:
            raise SparsityError(
                f"{name}: sparsity must be a matrix, dense or sparse, got {type(array).__name__}"
            ) from error
    if len(sparsity.shape) != 2:
        raise SparsityError(f"{name}: sparsity must be a matrix of two axes, got shape {tuple(sparsity.shape)}")
    return Pattern(sparse.csr_array(sparsity))
