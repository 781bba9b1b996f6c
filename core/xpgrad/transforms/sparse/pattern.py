"""Sparsity patterns: where a Jacobian may have entries, as users give it."""

import itertools
from typing import Any

from xpgrad.backend.holder import unwrap
from xpgrad.backend.plugins import plugins
from xpgrad.errors import SparsityError, UnknownArray
from xpgrad.transforms.sparse.colouring import Colouring, coloured


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
            on_host = host.asarray(array) if isinstance(array, (list, tuple)) else _to_host(array)
            sparsity = sparse.coo_array(on_host != 0)
        except (UnknownArray, TypeError, ValueError) as error:
            raise SparsityError(
                f"{name}: sparsity must be a matrix, dense or sparse, got {type(array).__name__}"
            ) from error
    if len(sparsity.shape) != 2:
        raise SparsityError(f"{name}: sparsity must be a matrix of two axes, got shape {tuple(sparsity.shape)}")
    return Pattern(sparse.csr_array(sparsity))


def _to_host(array: Any) -> Any:
    return plugins.backend_of(array).to_host(array)
