"""Kernels of neural networks: PyTorch's fused functions, and rules with fewer temporary tensors than their formulas."""

from typing import Any

import torch

from xpgrad.types import Array
from xpgrad_torch.kernels.elementwise import ONES, extreme

HALF = frozenset((torch.float16, torch.bfloat16))
"""Dtypes whose products with probabilities vanish, and whose sums are made in single precision."""

NEARLY_ONE = 0.995
"""From here on ``1 - y`` loses digits of the gradient of `expit`."""

DOMINANT = 0.9
"""Above this probability the gradient of softmax is computed from differences from its cotangent."""

_threshold = torch.ops.aten.threshold_backward.default


def gate(x1: Array, x2: Array, /) -> Array:
    """Return `x1` where `x2` is positive, else 0, in one pass."""
    if x1.dtype is not x2.dtype or x1.shape != x2.shape:
        return x1 * (x2 > 0)
    return _threshold(x1, x2, 0)


def expit_x(gy: Array, x: Array, y: Array, /) -> Array:
    """Return ``gy * (y * (1 - y))``; 1 - y as the function of -x where it loses digits."""
    if y.dtype in HALF:
        return expit_x(gy.float(), x.float(), y.float()).to(y.dtype)
    gx = ONES.get(y.dtype, 1) - y
    largest = extreme(y, torch.amax)
    if largest is None:
        gx = torch.where(y > NEARLY_ONE, torch.sigmoid(-x), gx)
    elif not largest <= NEARLY_ONE:  # or a NaN, which hides the other elements
        places = y > NEARLY_ONE
        gx[places] = torch.sigmoid(-x[places])
    return gx.mul_(y).mul_(gy)


def softmax(x: Array, /, axis: Any) -> Array:
    """Return exponentials normalised along `axis`; PyTorch's own function takes one axis."""
    if type(axis) is int:
        return torch.softmax(x, axis)
    if x.dtype in HALF:
        return softmax(x.float(), axis).to(x.dtype)
    e = _below_maximum(x, axis).exp_()
    return e.div_(e.sum(_axes(x, axis), keepdim=True))


def softmax_x(gy: Array, y: Array, axis: Any, /) -> Array:
    """Return ``y * (gy - sum(gy * y))`` in one new tensor."""
    if y.dtype in HALF:
        return softmax_x(gy.float(), y.float(), axis).to(y.dtype)
    most = extreme(y, torch.amax)
    if most is None or not most <= DOMINANT:
        gy = gy - _sum(torch.where(y > DOMINANT, gy, 0.0), axis)
    gx = gy * y
    return torch.sub(gy, _sum(gx, axis), out=gx).mul_(y)


def _sum(x: Array, axis: Any) -> Array:
    return x.sum(axis, keepdim=True) if axis is not None else x.sum()


def log_softmax(x: Array, /, axis: Any) -> Array:
    """Return the logarithm of `softmax`; PyTorch's own function takes one axis."""
    if type(axis) is int:
        return torch.log_softmax(x, axis)
    if x.dtype in HALF:
        return log_softmax(x.float(), axis).to(x.dtype)
    y = _below_maximum(x, axis)
    return y.sub_(torch.exp(y).sum(_axes(x, axis), keepdim=True).log_())


def _axes(x: Array, axis: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else tuple(axis)


def _below_maximum(x: Array, axis: Any) -> Array:
    """Return `x` minus its maximum over `axis`, in a new tensor."""
    return x - torch.amax(x, _axes(x, axis), keepdim=True) if x.numel() else x.clone()


def affine(x: Array, W: Array, b: Array | None, /) -> Array:
    """Return ``x @ W.T + b`` in one call."""
    return torch.matmul(x, W.T) if b is None else torch.addmm(b, x, W.T)


NEURAL = {
    "relu": torch.relu,
    "gate": gate,
    "special.expit": torch.sigmoid,
    "special.expit.x": expit_x,
    "softmax": softmax,
    "softmax.x": softmax_x,
    "log_softmax": log_softmax,
    "affine": affine,
}
