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

LOG_DOMINANT = -0.106
"""Below it, a probability is less than `DOMINANT`."""

_sigmoid_x = torch.ops.aten.sigmoid_backward.default
_threshold = torch.ops.aten.threshold_backward.default
_softmax_x = torch.ops.aten._softmax_backward_data.default
_log_softmax_x = torch.ops.aten._log_softmax_backward_data.default


def gate(x1: Array, x2: Array, /) -> Array:
    """Return `x1` where `x2` is positive, else 0, in one pass."""
    if x1.dtype is not x2.dtype or x1.shape != x2.shape:
        return x1 * (x2 > 0)
    return _threshold(x1, x2, 0)


def expit_x(gy: Array, x: Array, y: Array, /) -> Array:
    """Return ``gy * (y * (1 - y))``; 1 - y as the function of -x where it loses digits."""
    if y.dtype in HALF:
        return expit_x(gy.float(), x.float(), y.float()).to(y.dtype)
    one = ONES.get(y.dtype)
    gx = y * (1 - y) if one is None else _sigmoid_x(one, y)
    largest = extreme(y, torch.amax)
    if largest is None:
        gx = torch.where(y > NEARLY_ONE, y * torch.sigmoid(-x), gx)
    elif not largest <= NEARLY_ONE:  # or a NaN, which hides the other elements
        places = y > NEARLY_ONE
        gx[places] = y[places] * torch.sigmoid(-x[places])
    return gx.mul_(gy)


def log_expit_x(gy: Array, x: Array, /) -> Array:
    """Return ``gy * expit(-x)`` in one new tensor."""
    return torch.neg(x).sigmoid_().mul_(gy) if x.dtype in ONES and _alike(gy, x) else NotImplemented


def softmax(x: Array, /, axis: Any) -> Array:
    """Return exponentials normalised along `axis`; PyTorch's own function takes one axis."""
    if type(axis) is int:
        return torch.softmax(x, axis)
    if x.dtype in HALF:
        return softmax(x.float(), axis).to(x.dtype)
    e = _below_maximum(x, axis).exp_()
    return e.div_(e.sum(_axes(x, axis), keepdim=True))


def softmax_backward(g: Array, p: Array, /, axis: Any) -> Array:
    """Return ``p * (g - sum(g * p))``; along one axis, PyTorch's function computes it in one pass."""
    if p.dtype in HALF:
        return softmax_backward(g.float(), p.float(), axis).to(p.dtype)
    most = extreme(p, torch.amax)
    if most is None or not most <= DOMINANT:
        g = g - _sum(torch.where(p > DOMINANT, g, 0.0), axis)
    if type(axis) is int and _alike(g, p):
        return _softmax_x(g, p, axis, p.dtype)
    gx = g * p
    return torch.sub(g, _sum(gx, axis), out=gx).mul_(p)


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


def log_softmax_backward(g: Array, score: Array, /, axis: Any) -> Array:
    """Return ``g - exp(score) * sum(g)``; where a probability is nearly 1, from the sum of the other probabilities."""
    if score.dtype in HALF:
        return log_softmax_backward(g.float(), score.float(), axis).to(score.dtype)
    most = extreme(score, torch.amax)
    if most is not None and most <= LOG_DOMINANT and type(axis) is int and _alike(g, score):
        return _log_softmax_x(g, score, axis, score.dtype)
    p = torch.exp(score)
    dominant = p > DOMINANT
    rest, others = (_sum(torch.where(dominant, 0.0, each), axis) for each in (p, g))
    return torch.where(dominant, g * rest - p * others, g - p * _sum(g, axis))


def _alike(g: torch.Tensor, y: torch.Tensor) -> bool:
    return g.dtype is y.dtype and g.shape == y.shape


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
    "special.log_expit": torch.nn.functional.logsigmoid,
    "special.log_expit.x": log_expit_x,
    "softmax": softmax,
    "softmax_backward": softmax_backward,
    "log_softmax": log_softmax,
    "log_softmax_backward": log_softmax_backward,
    "affine": affine,
}
