"""Elementwise functions: batch elements are aligned by their last axes, after the hidden axis."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.standard import CHAPTERS
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row

OTHERS = "add", "multiply"
"""Functions with rows of their own, for values that are computed later."""


@row(*(name for name in CHAPTERS["elementwise"] if name not in OTHERS), "where")
def elementwise(b: Batching, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return an elementwise function of arrays and scalars; arrays may be keyword arguments, as in `clip`."""
    kind = b.kind
    ndim = 0
    for x in (*args, *options.values()) if options else args:
        if type(x) is kind:
            own = len(x.values.shape) - x.batched
            ndim = own if own > ndim else ndim
        elif type(x) in (list, tuple):  # an array for some libraries
            ndim = max(ndim, _depth(x))
    if options:
        options = {name: b.aligned(x, ndim) for name, x in options.items()}
    aligned = [b.aligned(x, ndim) if type(x) is kind else x for x in args]
    return b.made(b.base.restore(function(*aligned, **options)))


def _depth(x: Any) -> int:
    """Return the number of axes of nested lists."""
    return (1 + _depth(x[0]) if x else 1) if isinstance(x, (list, tuple)) else getattr(x, "ndim", 0)
