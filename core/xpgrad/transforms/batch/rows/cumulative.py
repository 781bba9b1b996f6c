"""Statistical and utility functions along one axis."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row


@row("cumulative_prod", "cumulative_sum")
def cumulative(b: Batching, function: Callable[..., Any], x: Any, /, *, axis: int | None = None, **options: Any) -> Any:
    """Return running totals of batch elements."""
    return b.restored(function(x.values, axis=b.only_axis(axis, x), **options))


@row("diff")
def diff(
    b: Batching, function: Callable[..., Any], x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None,
    append: Any = None,
) -> Any:  # fmt: skip
    """Return differences of adjacent elements of batch elements."""
    ends = {"prepend": prepend, "append": append}
    given = {name: b.front(end) for name, end in ends.items() if end is not None}
    return b.restored(function(b.front(x), axis=b.axis(axis, x.ndim), n=n, **given))
