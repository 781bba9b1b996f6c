"""Colours of the columns, or rows, of a sparse matrix: columns of one colour share no row, and vice versa.

The sum of the columns of one colour has all their entries (Curtis, Powell and Reid, 1974: On the estimation of sparse
Jacobian matrices). Colours are assigned greedily in two orders, and the better result is used.
"""

import dataclasses
from collections.abc import Iterable, Sequence


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
