"""Executors of plugins: their names, and the kernels that they compile for a backend."""

from collections.abc import Callable
from typing import Any, NamedTuple


class RowKernel(NamedTuple):
    """A kernel of arrays of one dtype, which an executor compiles for any number of rows and columns.

    Attributes
    ----------
    name : str
    levels : tuple of str
        For each array "point" (an element for each row and column), "row" (one column), "column" (one row) or "one".
    formula : callable
        ``formula(xp, *arrays)`` returns the results, by the default bodies of kernels.
    """

    name: str
    levels: tuple[str, ...]
    formula: Callable[..., Any]


class RowFunction(NamedTuple):
    """A compiled `RowKernel`.

    Attributes
    ----------
    call : callable
        ``call(addresses, rows, columns, first, last)`` computes the rows, or with `by_column` the columns, from `first`
        to before `last`. The addresses are those of the arrays and then of the results, contiguous in C order. Returns
        0 if there is no memory for temporary values, else another number.
    levels : tuple of str
        The levels of the results.
    by_column : bool
        Whether threads share the columns instead of the rows.
    each : callable or None
        For functions of elements ``each(addresses, sizes, count, width)`` computes `count` groups of arrays and
        results; a group has `width` addresses, and a number of elements in `sizes`. It returns as `call` does.
    whole : bool
        Whether one call computes all rows, since it also adds along columns.
    """

    call: Callable[[Any, int, int, int, int], int]
    levels: tuple[str, ...]
    by_column: bool
    each: Callable[[Any, Any, int, int], int] | None = None
    whole: bool = False


def executor_name(plugin: str) -> str:
    """Return the name of a plugin's executor: ``jax`` for that of ``xpgrad_jax.plugin``."""
    return plugin.partition(".")[0].removeprefix("xpgrad_")
