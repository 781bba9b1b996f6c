"""Elementwise kernels: NumPy's own loops, called without anything in between."""

from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.precision import kept

_SAME_NAME = """add subtract multiply divide floor_divide remainder pow square negative positive
equal not_equal less less_equal greater greater_equal
bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
exp expm1 log log1p log2 log10 logaddexp
acosh asinh atanh cosh sinh tanh
isfinite isinf isnan logical_and logical_not logical_or logical_xor
abs copysign hypot reciprocal sign signbit sqrt
conj imag nextafter real
maximum minimum where
acos asin atan atan2 cos sin tan"""

ELEMENTWISE: dict[str, Kernel] = {name: getattr(np, name) for name in _SAME_NAME.split() if hasattr(np, name)}

_ONES = {dtype: np.ones((), dtype) for dtype in map(np.dtype, ("float16", "float32", "float64"))}


def tanh_x(gy: Array, y: Array, /) -> Array:
    """Return ``gy * (1 - y * y)``; a 0-d array as the 1 saves a fifth of the time on small arrays."""
    one = _ONES.get(y.dtype)
    return gy * (1 - y * y) if one is None else gy * (one - y * y)


def constant_power(x: Array, /, exponent: Any) -> Array:
    """Return ``x**exponent``."""
    y = x**exponent
    return y if y.dtype is x.dtype else kept(y, x.dtype)


ELEMENTWISE["constant_power"] = constant_power
ELEMENTWISE["tanh.x"] = tanh_x
