"""Elementwise kernels: PyTorch's own functions, without the casts around them that xpgrad's core has done already."""

from typing import Any

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from xpgrad.plugin import OPERATORS, python_operator
from xpgrad.types import Array, Kernel

_OPERATORS = "add", "sub", "mul", "truediv", "neg", "eq", "ne", "lt", "le", "gt", "ge"
_SAME_NAME = """acos acosh asin asinh atan atanh cos cosh exp expm1 isfinite isinf isnan log log10 log1p log2
logical_not reciprocal sin sinh sqrt square tan tanh where"""

# Of NumPy's memory: within `torch.func.functionalize`, where this may be imported, PyTorch's own ones are wrapped.
ONES = {getattr(torch, name): from_dlpack(np.ones((), name)) for name in ("float32", "float64")}
"""0-d tensors, which PyTorch subtracts from in half the time of a Python number; they meet tensors on every device."""


def pow(x1: Array, x2: Array, /) -> Array:
    """Return powers; a 0-d exponent in host memory is treated as a Python number, which PyTorch rounds differently."""
    if isinstance(x2, torch.Tensor) and x2.ndim == 0 and x2.device.type == "cpu" and isinstance(x1, torch.Tensor):
        return torch.pow(x1, x2.item()).to(torch.promote_types(x1.dtype, x2.dtype))
    return torch.pow(x1, x2)


CANCELS = 1 / 32
"""Below it ``1 - t * t`` loses digits in the derivative of tanh."""


def tanh_slope(x: Array, t: Array, /) -> Array:
    """Return ``1 - t * t``, and where it cancels the derivative of tanh at `x` from its exponential."""
    one = ONES.get(t.dtype)
    slope = 1 - t * t if one is None else torch.addcmul(one, t, t, value=-1)
    if t.dtype.is_complex:
        return slope
    least = extreme(slope, torch.amin)
    if least is None:
        return torch.where(slope < CANCELS, _of_tails(x, t), slope)
    if not least >= CANCELS:  # or a NaN, which hides the other elements
        if not t.ndim:
            return torch.where(slope < CANCELS, _of_tails(x, t), slope)
        replace(slope, slope, CANCELS, _of_tails, x, t)
    return slope


def _of_tails(x: Array, t: Array) -> Array:
    return torch.square(1 + torch.abs(t)) * torch.exp(-2 * torch.abs(x))


def extreme(y: Array, reduction: Any) -> float | None:
    """Return the maximum or minimum of `y` in host memory; None if it is empty or has no values to look at."""
    try:
        look = y.is_cpu and not torch.compiler.is_compiling()  # to look would be to wait for an accelerator
        return reduction(y).item() if look else None
    except RuntimeError:  # the array is empty, or under torch.func.vmap
        return None


def replace(values: Array, looked_at: Array, bound: float, kernel: Kernel, *xs: Array) -> None:
    """Write the results of a kernel for elements of `xs` to `values`, where `looked_at` is below a bound.

    `values` is in host memory. Where few elements are, NumPy finds them in a third of the time of PyTorch.
    """
    if looked_at.dtype not in ONES or not values.is_contiguous():
        places = looked_at < bound
        values[places] = kernel(*(x[places] for x in xs))
        return
    found = np.flatnonzero(looked_at.reshape(-1).numpy() < bound)
    cells = torch.from_numpy(found)
    values.view(-1).index_copy_(0, cells, kernel(*(x.reshape(-1).index_select(0, cells) for x in xs)))


def tanh_x(gy: Array, x: Array, t: Array, /) -> Array:
    """Return ``gy * tanh_slope(x, t)``, in the memory of the slope."""
    slope = tanh_slope(x, t)
    return slope.mul_(gy) if gy.dtype is slope.dtype and gy.shape == slope.shape else gy * slope


ELEMENTWISE = {
    **{OPERATORS[name]: python_operator(name) for name in _OPERATORS},
    **{name: getattr(torch, name) for name in _SAME_NAME.split()},
    "pow": pow,
    "tanh_slope": tanh_slope,
    "tanh.x": tanh_x,
}
