"""The standard's reductions and cumulative functions."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array

Axis = int | tuple[int, ...] | None


def sum(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:  # noqa: A001
    """Return sums over `axis`."""
    y = mx.sum(x if dtype is None else x.astype(dtype), axis, keepdims)
    return y if dtype is None else y.astype(dtype)


def prod(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return products over `axis`."""
    y = mx.prod(x if dtype is None else x.astype(dtype), axis, keepdims)
    return y if dtype is None else y.astype(dtype)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return means over `axis`."""
    return mx.mean(x, axis, keepdims)


def var(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return variances over `axis`: squares of differences from the mean, over their number less `correction`."""
    change = x - mx.mean(x, axis, True)
    squares = mx.sum(change * change, axis, keepdims)
    count = x.size // squares.size if squares.size else 0
    return squares / max_(count - correction, 0.0)


def std(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return standard deviations over `axis`."""
    return mx.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


max_ = max


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:  # noqa: A001 - the standard's name
    """Return maxima over `axis`."""
    return mx.max(x, axis, keepdims)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:  # noqa: A001 - the standard's name
    """Return minima over `axis`."""
    return mx.min(x, axis, keepdims)


def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:  # noqa: A001 - the standard's name
    """Return whether all elements over `axis` are true."""
    return mx.all(x, axis, keepdims)


def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:  # noqa: A001 - the standard's name
    """Return whether any element over `axis` is true."""
    return mx.any(x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the numbers of elements over `axis` that are not zero."""
    return mx.sum((x != 0).astype(mx.int32), axis, keepdims)


def _cumulative(
    function: Any, first: int, x: Array, axis: int | None, dtype: Any, include_initial: bool
) -> Array:
    """Return what `function` accumulates along `axis`, small integers as MLX's sums have them."""
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"cumulative functions: expected an axis for an array with {x.ndim} axes; got None")
        axis = 0
    wanted = dtype or mx.sum(mx.zeros((1,), x.dtype)).dtype
    if x.ndim == 0:
        x = x.reshape(1)
    y = function(x.astype(wanted), axis).astype(wanted)
    if include_initial:
        shape = tuple(1 if k == axis % x.ndim else n for k, n in enumerate(x.shape))
        y = mx.concatenate([mx.full(shape, first, dtype=wanted), y], axis)
    return y


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the sums of all elements so far along `axis`."""
    return _cumulative(mx.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the products of all elements so far along `axis`."""
    return _cumulative(mx.cumprod, 1, x, axis, dtype, include_initial)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Array:
    """Return differences of neighbours along `axis`, `n` times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    y = mx.concatenate(parts, axis) if len(parts) > 1 else x
    index = [slice(None)] * x.ndim
    for _ in range(n):
        index[axis] = slice(1, None)
        later = y[tuple(index)]
        index[axis] = slice(None, -1)
        before = y[tuple(index)]
        y = later != before if y.dtype == mx.bool_ else later - before
    return y
