"""Elementwise kernels: CuPy's kernels, called directly, and gradients in one launch."""

from typing import Any

from xpgrad.plugin import CHAPTERS
from xpgrad.types import Array
from xpgrad_cupy import namespace
from xpgrad_cupy.kernels.loops import loop

# Functions of array_api_compat in Python, which the default bodies call as well; and `clip` is not a kernel.
_OTHERWISE = {"ceil", "clip", "floor", "round", "sign", "trunc"}
ELEMENTWISE = {name: getattr(namespace, name) for name in (*CHAPTERS["elementwise"], "where") if name not in _OTHERWISE}

_SLOPE = """
    T slope = T(1) - T(t * t);
    T near = T(1) + T(abs(t));
    if (slope < T(0.03125)) slope = T(near * near) * T(exp(T(-2) * T(abs(x))));
    """
_tanh_slope = loop("tanh_slope", "T x, T t", "T y", f"{_SLOPE} y = slope;")
_tanh_x = loop("tanh_x", "T gy, T x, T t", "T gx", f"{_SLOPE} gx = gy * slope;")
_gate = loop("gate", "T x1, S x2", "T y", "y = x1 * T(x2 > S(0) ? 1 : 0)")


def tanh_slope(x: Array, t: Array, /) -> Any:
    """Return the derivative of tanh in one launch; complex products use CuPy's kernels."""
    return _tanh_slope(x, t) if t.dtype.kind == "f" else NotImplemented


def tanh_x(gy: Array, x: Array, t: Array, /) -> Any:
    """Return ``gy * tanh_slope(x, t)``."""
    return _tanh_x(gy, x, t) if t.dtype.kind == "f" else NotImplemented


def gate(x1: Array, x2: Array, /) -> Array:
    """Return ``x1 * (x2 > 0)``."""
    return _gate(x1, x2)


ELEMENTWISE |= {"gate": gate, "tanh_slope": tanh_slope, "tanh.x": tanh_x}
