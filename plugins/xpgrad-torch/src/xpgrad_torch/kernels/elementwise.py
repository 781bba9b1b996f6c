"""Elementwise kernels: PyTorch's own functions, without the casts around them that xpgrad's core has done already."""

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from xpgrad.plugin import OPERATORS, python_operator
from xpgrad.types import Array

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


def tanh_x(gy: Array, y: Array, /) -> Array:
    """Return ``gy * (1 - y * y)``."""
    return gy * (ONES.get(y.dtype, 1) - y * y)


ELEMENTWISE = {
    **{OPERATORS[name]: python_operator(name) for name in _OPERATORS},
    **{name: getattr(torch, name) for name in _SAME_NAME.split()},
    "pow": pow,
    "tanh.x": tanh_x,
}
