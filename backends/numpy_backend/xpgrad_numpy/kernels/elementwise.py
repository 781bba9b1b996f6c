"""Elementwise kernels: NumPy's own loops, called directly."""

from typing import Any

import numpy as np

from xpgrad.plugin import CHAPTERS
from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.precision import kept

# In the namespace these differ from NumPy: rounding does not change integers; and `clip` is not a kernel.
_OTHERWISE = {"ceil", "clip", "floor", "round", "trunc"}
ELEMENTWISE: dict[str, Kernel] = {
    name: getattr(np, name) for name in (*CHAPTERS["elementwise"], "where") if name not in _OTHERWISE
}

_ONES = {dtype: np.ones((), dtype) for dtype in map(np.dtype, ("float16", "float32", "float64"))}


def tanh_x(gy: Array, y: Array, /) -> Array:
    """Return ``gy * (1 - y * y)``; a 0-d array as the 1 saves a fifth of the time on small arrays."""
    one = _ONES.get(y.dtype)
    return gy * (1 - y * y) if one is None else gy * (one - y * y)


def square_x(gy: Array, x: Array, /) -> Array:
    """Return ``2 * (gy * x)``; NumPy computes with scalars in a fifth of the time that 0-d arrays take.

    Complex scalars it multiplies by another loop, which rounds differently.
    """
    if x.ndim or x.dtype.kind != "f":
        half = np.multiply(gy, x)
        return np.add(half, half)
    half = gy[()] * x[()]
    return np.asarray(half + half)


def constant_power(x: Array, /, exponent: Any) -> Array:
    """Return ``x**exponent``."""
    y = x**exponent
    return y if y.dtype is x.dtype else kept(y, x.dtype)


ELEMENTWISE["constant_power"] = constant_power
ELEMENTWISE["square.x"] = square_x
ELEMENTWISE["tanh.x"] = tanh_x
