"""Statistical functions and other functions with axes: axes of elements follow the hidden axis."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Shape


@row("all", "any", "max", "mean", "min", "prod", "std", "sum", "var", "count_nonzero")
def reduction(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = None, **options: Any) -> Any:
    """Return a reduction over axes of batch elements; without `axis` over all axes."""
    if not x.ndim and axis is None:  # no axes: some libraries would reduce the hidden one
        return b.restored(function(b.reshaped(x, (1,)), axis=(1,), **{**options, "keepdims": False}))
    return b.made(b.base.restore(function(b.front(x), axis=b.axes(axis, x.ndim), **options)))


@row("sum_to")
def sum_to(b: Batching, function: Callable[..., Any], x: Any, /, shape: Shape) -> Any:
    """Return members summed to `shape`."""
    if x.shape == shape:
        return x
    lead = (1,) * (x.ndim - len(shape))
    return b.made(b.shaped(b.base.restore(function(x.values, shape=(b.size, *lead, *shape))), (b.size, *shape)))
