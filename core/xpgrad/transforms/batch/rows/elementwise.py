"""Elementwise functions: batch elements are aligned by their last axes, after the hidden axis."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row

ELEMENTWISE = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert"),
    *("bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign"),
    *("cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot"),
    *("imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp"),
    *("logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "negative"),
    *("nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit"),
    *("sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc", "where"),
)
"""The standard's elementwise functions, and `where`."""


@row(*ELEMENTWISE)
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
