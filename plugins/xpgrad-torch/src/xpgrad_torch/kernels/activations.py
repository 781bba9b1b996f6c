"""Activations by PyTorch's fused functions, and their gradients with the formulas' own bits.

PyTorch's gradients of `tanh` and `sigmoid` are not used: they lose digits where the output is close to 1.
Where gradients differ only at a kink or for NaN, their input is changed there so that they agree with the formulas.
"""

import math

import torch

from xpgrad.types import Array, Kernel
from xpgrad_torch.kernels.elementwise import ONES, extreme
from xpgrad_torch.kernels.special import ndtr
from xpgrad_torch.kernels.windows import FLOATS

_hardtanh_x = torch.ops.aten.hardtanh_backward.default
_silu_x = torch.ops.aten.silu_backward.default
_leaky_relu_x = torch.ops.aten.leaky_relu_backward.default


def clipped_relu(x: Array, /, z: float) -> Array:
    """Return the elements between 0 and `z`."""
    return torch.clamp(x, 0.0, z) if x.dtype in FLOATS else NotImplemented


def clipped_relu_x(gy: Array, y: Array, z: float, /) -> Array:
    """Return `gy` where `y` is between the kinks, else 0, which PyTorch's function returns for 0 but not for NaN."""
    if not _alike(gy, y):
        return NotImplemented
    total = extreme(y, torch.sum)
    clean = total is not None and total == total
    return _hardtanh_x(gy, y if clean else torch.nan_to_num(y, 0.0, torch.inf, 0.0), 0.0, z)


def elu(x: Array, /, alpha: float) -> Array:
    """Return ``x`` where it is positive, else ``alpha * expm1(x)``."""
    return torch.nn.functional.elu(x, alpha) if x.dtype in FLOATS else NotImplemented


def elu_x(gy: Array, x: Array, alpha: float, /) -> Array:
    """Return `gy`, times ``alpha * exp(x)`` if `x` is negative or NaN; `torch.where` takes longer than these steps."""
    if not _alike(gy, x):
        return NotImplemented
    slope = torch.clamp(x, max=0.0).exp_()
    if alpha != 1:
        slope = _leaky_relu_x(slope, torch.ge(x, 0.0, out=torch.empty_like(x)), alpha, False)
    return slope.mul_(gy)


def hard_sigmoid(x: Array, /) -> Array:
    """Return the elements of ``0.2 * x + 0.5`` between 0 and 1."""
    return torch.mul(x, 0.2).add_(0.5).clamp_(0.0, 1.0) if x.dtype in FLOATS else NotImplemented


def hard_sigmoid_x(gy: Array, y: Array, /) -> Array:
    """Return a fifth of `gy` where `y` is between the kinks, else 0."""
    return clipped_relu_x(0.2 * gy, y, 1.0)


def leaky_relu(x: Array, /, slope: float) -> Array:
    """Return ``x`` where it is positive, else ``slope * x``."""
    return torch.nn.functional.leaky_relu(x, slope) if x.dtype in FLOATS else NotImplemented


def leaky_relu_x(gy: Array, x: Array, slope: float, /) -> Array:
    """Return `gy`, times `slope` where `x` is negative or NaN; PyTorch's function takes 0 for negative."""
    if not _alike(gy, x):
        return NotImplemented
    return _leaky_relu_x(gy, torch.ge(x, 0.0, out=torch.empty_like(x)), slope, False)


def normal_weighted(x: Array, /) -> Array:
    """Return ``x * ndtr(x)``; PyTorch's function has no digits for large negative elements."""
    return ndtr(x).mul_(x) if x.dtype in FLOATS else NotImplemented


def normal_weighted_slope(x: Array, /) -> Array:
    """Return the derivative of ``x * ndtr(x)``."""
    if x.dtype not in FLOATS:
        return NotImplemented
    density = torch.square(x).mul_(-0.5).exp_().mul_(x)
    return ndtr(x).add_(density, alpha=1 / math.sqrt(2 * math.pi))


def normal_weighted_x(gy: Array, x: Array, /) -> Array:
    """Return `gy` times the derivative, in its memory."""
    return normal_weighted_slope(x).mul_(gy) if _alike(gy, x) else NotImplemented


def sigmoid_weighted(x: Array, /, beta: float) -> Array:
    """Return ``x * sigmoid(x)``."""
    return torch.nn.functional.silu(x) if beta == 1 and x.dtype in FLOATS else NotImplemented


def sigmoid_weighted_slope(x: Array, /, beta: float) -> Array:
    """Return the derivative of ``x * sigmoid(x)``, PyTorch's gradient for a cotangent of ones."""
    one = ONES.get(x.dtype) if x.is_cpu else None
    return NotImplemented if beta != 1 or one is None else _silu_x(one.expand_as(x), x)


def sigmoid_weighted_x(gy: Array, x: Array, beta: float, /) -> Array:
    """Return `gy` times the derivative, in its memory."""
    slope = sigmoid_weighted_slope(x, beta)
    return NotImplemented if slope is NotImplemented or not _alike(gy, x) else slope.mul_(gy)


def softplus(x: Array, /, beta: float) -> Array:
    """Return ``log(1 + exp(beta * x)) / beta``, which is `x` to the last digit of float64 from 40 / `beta` on."""
    return torch.nn.functional.softplus(x, beta, 40) if x.dtype in FLOATS and beta > 0 else NotImplemented


def softplus_x(gy: Array, y: Array, beta: float, /) -> Array:
    """Return ``gy * -expm1(-beta * y)`` in one new tensor."""
    return torch.mul(y, -beta).expm1_().neg_().mul_(gy) if _alike(gy, y) else NotImplemented


def _alike(gy: torch.Tensor, y: torch.Tensor) -> bool:
    return gy.dtype is y.dtype and y.dtype in FLOATS and gy.shape == y.shape


ACTIVATIONS: dict[str, Kernel] = {
    "clipped_relu": clipped_relu,
    "clipped_relu.x": clipped_relu_x,
    "elu": elu,
    "elu.x": elu_x,
    "hard_sigmoid": hard_sigmoid,
    "hard_sigmoid.x": hard_sigmoid_x,
    "leaky_relu": leaky_relu,
    "leaky_relu.x": leaky_relu_x,
    "normal_weighted": normal_weighted,
    "normal_weighted.x": normal_weighted_x,
    "normal_weighted_slope": normal_weighted_slope,
    "sigmoid_weighted": sigmoid_weighted,
    "sigmoid_weighted.x": sigmoid_weighted_x,
    "sigmoid_weighted_slope": sigmoid_weighted_slope,
    "softplus": softplus,
    "softplus.x": softplus_x,
}
