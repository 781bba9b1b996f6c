"""The standard's elementwise functions that MLX has otherwise, or not at all."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array
from xpgrad_mlx.namespace.operands import taking_large_numbers

_maximum, _minimum = map(taking_large_numbers, (mx.maximum, mx.minimum))
E_LOST = 5.318237706605891e-17  # (e - its nearest float64) / e
"""By how much, relatively, Euler's number is larger than its nearest float64."""


def _double(x: Array) -> bool:
    """Return whether MLX would compute a function of `x` in float32 although it is float64."""
    return bool(x.dtype == mx.float64)


def exp(x: Array, /) -> Array:
    """Return the exponential.

    On the CPU, MLX's function is wrong by up to 64 units in the last place for float32, and by more for float64,
    because it computes in float32.
    """
    if x.dtype == mx.float32 and mx.default_device().type == mx.cpu:
        far = x < -64  # for these the reciprocal would overflow before the result is zero
        y = mx.expm1(mx.abs(x) - mx.where(far, 64.0, 0.0)) + 1
        return mx.where(x < 0, mx.where(far, math.exp(-64), 1.0) / y, y)
    if not _double(x):
        return mx.exp(x)
    y = mx.power(mx.full(x.shape, math.e, dtype=mx.float64), x)
    return mx.where(mx.isfinite(x) & mx.isfinite(y), y + y * (x * E_LOST), y)


def sin(x: Array, /) -> Array:
    """Return the sine; in float64 from the tangent of the half angle, because MLX computes `sin` in float32.

    On the CPU, MLX's function is wrong by thousands of units in the last place beyond 8,192, and takes longer.
    """
    if x.dtype == mx.float32 and mx.default_device().type == mx.cpu:
        return sin(x.astype(mx.float64)).astype(mx.float32)
    if not _double(x):
        return mx.where(x == 0, x, mx.sin(x)) if x.dtype == mx.float32 else mx.sin(x)  # the zero has its sign
    t = mx.tan(0.5 * x)
    return mx.where(x == 0, x, 2 / (t + 1 / t))


def cos(x: Array, /) -> Array:
    """Return the cosine; in float64 as sine over tangent, because MLX computes `cos` in float32."""
    if x.dtype == mx.float32 and mx.default_device().type == mx.cpu:
        t = mx.tan(0.5 * x.astype(mx.float64))
        return ((1 - t) * (1 + t) / (1 + t * t)).astype(mx.float32)
    if not _double(x):
        return mx.cos(x)
    return mx.where(mx.abs(x) < 1e-9, 1.0 + 0.0 * x, sin(x) / mx.tan(x))


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Return the logarithm of the sum of exponentials."""
    a, b = _pair(x1, x2)
    if not _double(a):
        return mx.logaddexp(a, b)
    top = mx.maximum(a, b)
    gap = mx.where(a == b, 0.0, mx.minimum(a, b) - top)  # infinities that are equal have no difference
    return top + mx.log1p(exp(gap))


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Return quotients rounded down; quotients of or by infinity are as in NumPy."""
    y = mx.floor_divide(x1, x2)
    if not mx.issubdtype(y.dtype, mx.floating):
        return y
    a, b = _pair(x1, x2)
    y = mx.where(mx.isinf(b) & mx.isfinite(a) & (mx.sign(a) * mx.sign(b) < 0), -1.0, y)
    return mx.where(mx.isinf(a) & mx.isfinite(b) & (b != 0), math.nan, y)


def expm1(x: Array, /) -> Array:
    """Return ``exp(x) - 1``; for complex numbers from real functions, because MLX has no complex `expm1`."""
    if x.dtype != mx.complex64:
        return mx.expm1(x)
    a, b = mx.real(x), mx.imag(x)
    half = mx.sin(0.5 * b)
    return complex_of(mx.expm1(a) * mx.cos(b) - 2 * half * half, mx.exp(a) * mx.sin(b))


def complex_of(real: Array, imag: Array) -> Array:
    """Return complex numbers of their parts, signed zeros and infinities kept."""
    return mx.view(mx.stack([real, imag], axis=-1), mx.complex64).reshape(real.shape)


def sign(x: Array, /) -> Array:
    """Return -1, 0 or 1, or ``x / abs(x)`` of complex numbers; NaN of NaN, for which MLX returns 0."""
    return mx.where(mx.isnan(x), x, mx.sign(x)) if mx.issubdtype(x.dtype, mx.floating) else mx.sign(x)


def signbit(x: Array, /) -> Array:
    """Return whether the sign bit is set."""
    if not mx.issubdtype(x.dtype, mx.floating):
        return x < 0
    return mx.view(x, mx.int64 if _double(x) else mx.int32) < 0


def copysign(x1: Any, x2: Any, /) -> Array:
    """Return the moduli of `x1` with the signs of `x2`."""
    a, b = _pair(x1, x2)
    return mx.where(signbit(b), -mx.abs(a), mx.abs(a))


def hypot(x1: Any, x2: Any, /) -> Array:
    """Return ``sqrt(x1**2 + x2**2)`` without overflow."""
    a, b = (mx.abs(x) for x in _pair(x1, x2))
    large, small = mx.maximum(a, b), mx.minimum(a, b)
    ratio = small / mx.where(large == 0, 1.0, large)
    y = large * mx.sqrt(1 + ratio * ratio)
    return mx.where(mx.isinf(a) | mx.isinf(b), math.inf, y)


def nextafter(x1: Any, x2: Any, /) -> Array:
    """Return the next number after `x1` towards `x2`."""
    a, b = _pair(x1, x2)
    whole = mx.int64 if _double(a) else mx.int32
    bits = mx.view(a, whole)
    step = mx.where((b > a) == (a > 0), 1, -1).astype(whole)
    least = mx.view(mx.ones(a.shape, dtype=whole), a.dtype)
    y = mx.where(a == 0, copysign(least, b), mx.view(bits + step, a.dtype))
    return mx.where(a == b, b, mx.where(mx.isnan(a) | mx.isnan(b), math.nan, y))


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Return the numbers of `x`, those outside of `min` to `max` replaced by the nearer limit."""
    y = mx.array(x)
    if min is not None:
        y = _maximum(y, min)
    if max is not None:
        y = _minimum(y, max)
    return y.astype(x.dtype)


def round(x: Array, /) -> Array:
    """Return the nearest integers; ties round to even."""
    return mx.round(x)


def imag(x: Array, /) -> Array:
    """Return the imaginary parts."""
    return mx.imag(x) if x.dtype == mx.complex64 else mx.zeros_like(x)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Return `x1`, its bits moved to the right by `x2`."""
    return mx.right_shift(x1, x2)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Return `x1`, its bits moved to the left by `x2`."""
    return mx.left_shift(x1, x2)


def _pair(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Return two operands, one of which may be a number, as arrays of one shape and dtype."""
    if not isinstance(x1, mx.array):
        x1 = mx.array(x1, dtype=x2.dtype)
    if not isinstance(x2, mx.array):
        x2 = mx.array(x2, dtype=x1.dtype)
    dtype = mx.result_type(x1, x2)
    a, b = mx.broadcast_arrays(x1.astype(dtype), x2.astype(dtype))
    return a, b
