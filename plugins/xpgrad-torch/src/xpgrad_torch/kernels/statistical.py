"""Reductions by PyTorch's methods, except over an empty tuple of axes, which PyTorch reads as all axes."""

import math
from collections.abc import Sequence

import array_api_compat.torch as compat
import torch

from xpgrad.types import Array, Dtype, Shape
from xpgrad_torch.kernels.neural import HALF

Axis = int | Sequence[int] | None


def sum(x: Array, /, axis: Axis = None, dtype: Dtype | None = None, keepdims: bool = False) -> Array:
    """Sum over `axis`; small integers in int64."""
    if isinstance(axis, Sequence) and not axis:
        return compat.sum(x, axis=(), dtype=dtype, keepdims=keepdims)
    return x.sum(axis, keepdims, dtype=dtype)


def mean(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Mean over `axis`."""
    if isinstance(axis, Sequence) and not axis:
        return compat.mean(x, axis=(), keepdims=keepdims)
    return x.mean(axis, keepdims)


def std(x: Array, /, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation over `axis`, also with a fraction as `correction`, which array-api-compat refuses."""
    if isinstance(axis, Sequence) and not axis:
        return x[..., None].std(-1, correction=correction)
    y = x.std(axis, correction=correction, keepdim=keepdims)
    return y if x.numel() > correction * y.numel() else y * math.nan


def count_nonzero(x: Array, /, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Array:
    """Count the elements along `axis` that are not zero."""
    if axis == ():
        return (x != 0).to(torch.int64)
    return compat.count_nonzero(x, axis=axis, keepdims=keepdims)


def sum_to(x: Array, /, shape: Shape) -> Array:
    """Return the sum over the axes that broadcasting from `shape` added or stretched, where possible not as a view."""
    lead = tuple(range(x.ndim - len(shape)))
    axes = lead + tuple(i for i, n in enumerate(shape, len(lead)) if n == 1 and x.shape[i] != 1)
    if not axes:
        return x
    total = x.sum(axes, axes != lead, dtype=torch.float32 if x.dtype in HALF else x.dtype).to(x.dtype)
    return total if total.shape == shape else total.reshape(shape)


STATISTICAL = {"count_nonzero": count_nonzero, "mean": mean, "std": std, "sum": sum, "sum_to": sum_to}
