"""Kernels of neural networks: PyTorch's fused functions, and rules with fewer temporary tensors than their formulas."""

import torch

from xpgrad.types import Array
from xpgrad_torch.kernels.elementwise import ONES

HALF = frozenset((torch.float16, torch.bfloat16))
"""Dtypes whose products with probabilities vanish, and whose sums are made in single precision."""

_threshold = torch.ops.aten.threshold_backward.default


def gate(x1: Array, x2: Array, /) -> Array:
    """Return `x1` where `x2` is positive, else 0, in one pass."""
    if x1.dtype is not x2.dtype or x1.shape != x2.shape:
        return x1 * (x2 > 0)
    return _threshold(x1, x2, 0)


def sigmoid_x(gy: Array, y: Array, /) -> Array:
    """Return ``gy * (y * (1 - y))`` in one new tensor."""
    gx = ONES.get(y.dtype, 1) - y
    return gx.mul_(y).mul_(gy)


def softmax(x: Array, /, axis: int) -> Array:
    """Return exponentials normalised along `axis`."""
    return torch.softmax(x, axis)


def softmax_x(gy: Array, y: Array, axis: int, /) -> Array:
    """Return ``y * (gy - sum(gy * y))`` in one new tensor."""
    if y.dtype in HALF:
        return softmax_x(gy.float(), y.float(), axis).to(y.dtype)
    gx = gy * y
    total = gx.sum(axis, keepdim=True)
    return torch.sub(gy, total, out=gx).mul_(y)


def log_softmax(x: Array, /, axis: int) -> Array:
    """Return the logarithm of `softmax`."""
    return torch.log_softmax(x, axis)


def affine(x: Array, W: Array, b: Array | None, /) -> Array:
    """Return ``x @ W.T + b`` in one call."""
    return torch.matmul(x, W.T) if b is None else torch.addmm(b, x, W.T)


NEURAL = {
    "relu": torch.relu,
    "gate": gate,
    "sigmoid": torch.sigmoid,
    "sigmoid.x": sigmoid_x,
    "softmax": softmax,
    "softmax.x": softmax_x,
    "log_softmax": log_softmax,
    "affine": affine,
}
