"""The probe of a sparsity pattern: products with random numbers find the entries that it misses."""

import random
from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.types import Array

Product = Callable[[Array], Array]
ROUNDING = 1000
"""Differences up to this many rounding errors of a row's terms are rounding."""


def missing_entry(matrix: Any, v: Array, found: Array, product: Product, eps: float) -> tuple[int, int] | None:
    """Return row and column of an entry of the linear map `product` that is missing in `matrix`; None if none is.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array
        The matrix of the map, as a pattern of entries gave it.
    v, found : vectors
        Random numbers, and the product of the map's true matrix with these numbers.
    product : callable
        Takes a vector, returns such a product.
    eps : float
        Rounding error of the numbers.

    Returns
    -------
    tuple of int, or None
        None also for rows whose entries are not finite: such a row already indicates an error.
    """
    xp = plugins.host.namespace
    if not min(matrix.shape):
        return None
    expected = matrix @ v
    scale = abs(matrix) @ xp.abs(v)
    wrong = ~(xp.abs(found - expected) <= ROUNDING * eps * scale) & xp.isfinite(expected)
    for row in xp.nonzero(wrong)[0].tolist():
        column = _column(matrix, product, row, v, ROUNDING * eps * float(scale[row]))
        if column is not None:
            return row, column
    return None


def _column(matrix: Any, product: Product, row: int, v: Array, tolerance: float) -> int | None:
    """Return the column of an entry in `row` outside of the pattern; None without one."""
    xp = plugins.host.namespace
    rest = xp.asarray(v, copy=True)
    rest[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]] = 0.0
    suspects = xp.nonzero(rest)[0]
    if not abs(float(product(rest)[row])) > tolerance:
        return None
    while len(suspects) > 1:  # some half of them has a product of more than a part of the tolerance
        halves = suspects[: len(suspects) // 2], suspects[len(suspects) // 2 :]
        values = []
        for half in halves:
            part = xp.zeros_like(rest)
            part[half] = rest[half]
            values.append(abs(float(product(part)[row])))
        suspects = halves[values[1] > values[0]]
    return int(suspects[0])


def random_vector(size: int) -> Array:
    """Return random numbers of both signs, of magnitudes from a half to one and a half, the same at each call."""
    draw = random.Random(0)
    numbers = [draw.choice((-1, 1)) * draw.uniform(0.5, 1.5) for _ in range(size)]
    return plugins.host.asarray(numbers, plugins.host.namespace.float64)
