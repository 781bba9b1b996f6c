"""Reductions: PyTorch's methods, except over no axes at all, by which it means all axes."""

from collections.abc import Sequence

import array_api_compat.torch as compat

from xpgrad.types import Array, Dtype

Axis = int | Sequence[int] | None


def sum(x: Array, /, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Array:
    """Sum over `axis`; small integers in int64."""
    if axis == ():
        return compat.sum(x, axis=(), dtype=dtype, keepdims=keepdims)
    return x.sum(axis, keepdims, dtype=dtype)


def mean(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Mean over `axis`."""
    if axis == ():
        return compat.mean(x, axis=(), keepdims=keepdims)
    return x.mean(axis, keepdims)


STATISTICAL = {"mean": mean, "sum": sum}
