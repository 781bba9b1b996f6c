"""Elementwise kernels: PyTorch's own functions, without the casts around them that xpgrad's core has done already."""

import math
import operator
from typing import Any

import array_api_compat.torch as compat
import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

import xpgrad
from xpgrad.array_api import hypot
from xpgrad.plugin import OPERATORS, Spec, python_operator
from xpgrad.types import Array, Kernel

_softplus_x = torch.ops.aten.softplus_backward.default
SATURATED = {torch.float32: 17.0, torch.float64: 37.0}
"""Where the logistic function rounds to 1."""
_OPERATORS = "add", "sub", "mul", "truediv", "neg", "eq", "ne", "lt", "le", "gt", "ge"
_SAME_NAME = """acos acosh asin asinh atan atanh cos cosh exp expm1 isfinite isinf isnan log log10 log1p log2
logical_not reciprocal sin sinh sqrt square tan tanh"""

# Of NumPy's memory: within `torch.func.functionalize`, where this may be imported, PyTorch's own ones are wrapped.
ONES = {getattr(torch, name): from_dlpack(np.ones((), name)) for name in ("float32", "float64")}
"""0-d tensors, which PyTorch subtracts from in half the time of a Python number; they meet tensors on every device."""


def pow(x1: Array, x2: Array, /) -> Array:
    """Return powers; a 0-d exponent in host memory is treated as a Python number, which PyTorch rounds differently."""
    if isinstance(x2, torch.Tensor) and x2.ndim == 0 and x2.device.type == "cpu" and isinstance(x1, torch.Tensor):
        return torch.pow(x1, x2.item()).to(torch.promote_types(x1.dtype, x2.dtype))
    return torch.pow(x1, x2)


BITWISE_FROM = 2**13
"""Elements from which operations on bits may take less time than `torch.where`."""
SAMPLE = 512
NUMBERS = float, int
INTEGERS = {torch.float32: torch.int32, torch.float64: torch.int64}
CANCELS = 1 / 32
"""Below it ``1 - t * t`` loses digits in the derivative of tanh."""


def tanh_slope(x: Array, t: Array, /) -> Array:
    """Return the derivative of tanh at `x`."""
    one = ONES.get(t.dtype)
    if one is not None:
        return tanh_backward(one, x, t)
    slope = 1 - t * t
    if t.dtype.is_complex:
        return slope
    tails = torch.square(1 + torch.abs(t)) * torch.exp(-2 * torch.abs(x))
    return torch.where(slope < CANCELS, tails, slope)


def tanh_backward(g: Array, x: Array, t: Array, /) -> Array:
    """Return ``4 * g * sigmoid(-2 * x) * sigmoid(2 * x)`` for positive `x`: no step overflows or loses digits."""
    if g.dtype is not x.dtype or x.dtype not in SATURATED:
        return g * tanh_slope(x, t)
    most, x = SATURATED[x.dtype], torch.abs(x)
    gx = _softplus_x(g, x, -2.0, most)
    return _softplus_x(gx, x, 2.0, most).mul_(4)


def extreme(y: Array, reduction: Any) -> float | None:
    """Return the maximum or minimum of `y` in host memory; None if it is empty or has no values to look at."""
    try:
        look = y.is_cpu and not torch.compiler.is_compiling()  # to look would be to wait for an accelerator
        return reduction(y).item() if look else None
    except RuntimeError:  # the array is empty, or under torch.func.vmap
        return None


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Return elements of two arrays, by operations on their bits for large arrays and an irregular condition.

    On the host PyTorch's function has a branch for each element, and takes ten times as long if these are mispredicted.
    """
    dtype = _dtype_of_bits(condition, x1, x2)
    if dtype is None or not _is_irregular(condition):
        return torch.where(condition, x1, x2)
    integers = INTEGERS[dtype]
    bits1, bits2 = ((x if type(x) is torch.Tensor else torch.tensor(x, dtype=dtype)).view(integers) for x in (x1, x2))
    mask = condition.to(integers).neg_()
    if type(x2) is float and x2 == 0 and math.copysign(1, x2) > 0:
        return mask.bitwise_and_(bits1).view(dtype)
    return mask.bitwise_and_(bits1 ^ bits2).bitwise_xor_(bits2).view(dtype)


def _dtype_of_bits(condition: Array, x1: Any, x2: Any) -> torch.dtype | None:
    """Return the common dtype of operands whose bits can be chosen from; None for others, and for small arrays."""
    if type(condition) is not torch.Tensor or condition.dtype is not torch.bool:
        return None
    if condition.numel() < BITWISE_FROM or not condition.is_cpu:
        return None
    tensors = [x for x in (x1, x2) if type(x) is torch.Tensor]
    dtypes = {x.dtype for x in tensors}
    numbers = len(tensors) == 2 or type(x1) in NUMBERS or type(x2) in NUMBERS
    fit = all((x.shape == condition.shape or not x.ndim) and x.is_cpu and not x.requires_grad for x in tensors)
    return dtypes.pop() if len(dtypes) == 1 and dtypes <= INTEGERS.keys() and numbers and fit else None


def _is_irregular(condition: torch.Tensor) -> bool:
    """Return whether the first elements of a condition can be read and are irregular."""
    changes = extreme(condition.reshape(-1)[:SAMPLE].diff(), torch.sum)
    return changes is not None and changes > SAMPLE // 16


def sign(x: Array, /) -> Array:
    """Return the signs of real numbers, NaN for NaN, for which PyTorch returns 0."""
    if not x.dtype.is_floating_point:
        found: Array = compat.sign(x)
        return found
    total, y = extreme(x, torch.sum), torch.sign(x)
    return y if total is not None and total == total else torch.where(torch.isnan(x), x, y)


def _taken(chosen: Kernel) -> Kernel:
    """Return the vjp of an extremum: the cotangent where `chosen`, half of it at a tie, 0 elsewhere.

    Operators also compare a number with a tensor, which PyTorch's functions refuse.
    """

    def vjp(gy: Array, x1: Any, x2: Any, /) -> Array:
        gx, ties = where(chosen(x1, x2), gy, 0.0), x1 == x2
        return gx if extreme(ties, torch.any) is False else where(ties, 0.5 * gy, gx)

    return vjp


def _of_leg(number: int) -> Kernel:
    """Return the vjp of `hypot` with respect to a leg, faster for lengths whose squares are normal numbers."""
    rule = hypot.definition.rules[f"x{number + 1}"]  # type: ignore[attr-defined]  # a primitive has one

    def vjp(gy: Array, x1: Any, x2: Any, y: Array, /) -> Any:
        least, most = extreme(y, torch.amin), extreme(y, torch.amax)
        if least is None or most is None or y.dtype not in INTEGERS:
            return NotImplemented
        _, exponent = math.frexp(torch.finfo(y.dtype).max)
        normal = least >= 2.0 ** (-3 * exponent // 8) and most < math.inf
        if not normal:  # a program calls this kernel for such values, too
            return rule(xpgrad.get_device("@torch:cpu").backend.root.xp, gy, x1, x2, y)
        return gy * ((x1, x2)[number] / y)

    return vjp


def atan_x(gy: Array, x: Array, x_spec: Spec, /) -> Any:
    """Return ``gy / (1 + x * x)``, by the reciprocal of `x` from 1 on, as the formula does, in fewer new tensors."""
    if x.dtype not in INTEGERS or gy.dtype is not x.dtype:
        return NotImplemented
    inverse = torch.reciprocal(x)
    far = inverse / (x + inverse)
    return where(torch.abs(x) > 1, far, torch.square(x).add_(1).reciprocal_()).mul_(gy)


ELEMENTWISE = {
    **{OPERATORS[name]: python_operator(name) for name in _OPERATORS},
    **{name: getattr(torch, name) for name in _SAME_NAME.split()},
    "atan.x": atan_x,
    "hypot.x1": _of_leg(0),
    "hypot.x2": _of_leg(1),
    "maximum.x1": _taken(operator.gt),
    "maximum.x2": _taken(operator.lt),
    "minimum.x1": _taken(operator.lt),
    "minimum.x2": _taken(operator.gt),
    "pow": pow,
    "sign": sign,
    "tanh_backward": tanh_backward,
    "tanh_slope": tanh_slope,
    "where": where,
}
