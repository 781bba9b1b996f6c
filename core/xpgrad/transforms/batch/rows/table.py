"""The table of rows: from the name of a function, or of a kernel, to its computation for a batch."""

from collections.abc import Callable
from typing import Any

Row = Callable[..., Any]
"""``row(b, function, *args, **kwargs)``: `b` is the `Batching`, `function` that of the base, on raw arrays.

Arrays among the arguments are `BatchArray` objects, of which one at least is batched, or the base's scalars; the result
is a `BatchArray`, or a tuple or list of these.
"""

rows: dict[str, Row] = {}
BY_BODY = frozenset(["linalg.matrix_rank", "linalg.pinv"])
"""Kernels with options that may be Variables: their default bodies run on batches, where the library's have rows."""


gradient_rows: dict[str, Row] = {}
"""Rows of gradient kernels, which a library may have: ``cross_entropy.x``. They may return `NotImplemented`, too."""


def row(*names: str) -> Callable[[Row], Row]:
    """Make the decorated function the row of functions with these names: ``sum``, ``linalg.inv``, ``scatter_add``."""
    return _adder(rows, names)


def gradient_row(*names: str) -> Callable[[Row], Row]:
    """Make the decorated function the row of gradient kernels with these names; without one, the rule is used."""
    return _adder(gradient_rows, names)


def _adder(known: dict[str, Row], names: tuple[str, ...]) -> Callable[[Row], Row]:
    def add(function: Row) -> Row:
        for name in names:
            if name in known:
                raise ValueError(f"two rows for {name}")
            known[name] = function
        return function

    return add
