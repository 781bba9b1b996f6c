"""Elementwise kernels: CuPy's own, called directly, and gradients in one launch."""

from typing import Any

from xpgrad.plugin import CHAPTERS
from xpgrad.types import Array
from xpgrad_cupy import namespace
from xpgrad_cupy.kernels.loops import loop

# Functions of array_api_compat in Python, which the default bodies call as well; and `clip` is not a kernel.
_OTHERWISE = {"ceil", "clip", "floor", "round", "sign", "trunc"}
ELEMENTWISE = {name: getattr(namespace, name) for name in (*CHAPTERS["elementwise"], "where") if name not in _OTHERWISE}

_tanh_x = loop("tanh_x", "T gy, T y", "T gx", "gx = gy * T(T(1) - T(y * y))")
_gate = loop("gate", "T x1, S x2", "T y", "y = x1 * T(x2 > S(0) ? 1 : 0)")


def tanh_x(gy: Array, y: Array, /) -> Any:
    """Return ``gy * (1 - y * y)``; complex products are left to CuPy's own."""
    return _tanh_x(gy, y) if y.dtype.kind == "f" else NotImplemented


def gate(x1: Array, x2: Array, /) -> Array:
    """Return ``x1 * (x2 > 0)``."""
    return _gate(x1, x2)


ELEMENTWISE |= {"gate": gate, "tanh.x": tanh_x}
