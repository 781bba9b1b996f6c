"""Elementwise kernels: NumPy's own loops, called directly."""

import math
from typing import Any

import numpy as np

import xpgrad
from xpgrad.array_api import hypot
from xpgrad.plugin import CHAPTERS
from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels import rows
from xpgrad_numpy.kernels.precision import kept

# These differ from NumPy in the namespace, where rounding keeps integers unchanged. `clip` is not a kernel.
_OTHERWISE = {"ceil", "clip", "floor", "round", "trunc"}
ELEMENTWISE: dict[str, Kernel] = {
    name: getattr(np, name) for name in (*CHAPTERS["elementwise"], "where") if name not in _OTHERWISE
}

INTEGERS = {np.dtype(x): np.dtype(y) for x, y in (("float32", "int32"), ("float64", "int64"))}
BITWISE_FROM = 4096  # elements: NumPy's `where` takes a branch for each, and ten times as long if it is mispredicted
SAMPLE = 1024
"""Leading elements of a condition by which it is taken for random or not, and of tanh, for saturated or not."""
IN_PLACE_FROM = 1024  # elements; for fewer, an additional call or comparison costs more than the memory
SATURATED = 1 - rows.CANCELS / 2
_ONES = {dtype: np.ones((), dtype) for dtype in map(np.dtype, ("float16", "float32", "float64"))}


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Return elements of `x1` where `condition` is true, of `x2` elsewhere."""
    y = where_by_bits(condition, x1, x2)
    return np.where(condition, x1, x2) if y is None else y


def where_by_bits(condition: Array, x1: Any, x2: Any, out: Array | None = None, /) -> Array | None:
    """Return what `where` does, to the bit, by operations without branches; None where these take longer.

    Parameters
    ----------
    condition, x1, x2 : array or float
    out : array, optional
        For the result; it is none of the others.
    """
    like = x2 if type(x1) is float else x1
    integer = INTEGERS.get(like.dtype) if type(like) is type(condition) is np.ndarray else None
    if integer is None or condition.size < BITWISE_FROM or condition.dtype != bool:
        return None
    for x in (x1, x2, condition) if out is None else (x1, x2, condition, out):
        if type(x) is not float and not (
            type(x) is np.ndarray
            and (x is condition or x.dtype == like.dtype)
            and x.shape == condition.shape
            and x.flags.c_contiguous
        ):
            return None
    zero1, zero2 = (type(x) is float and x == 0 and math.copysign(1, x) > 0 for x in (x1, x2))
    if not (zero1 or zero2):
        sample = condition.reshape(-1)[:SAMPLE]
        if np.count_nonzero(sample[1:] != sample[:-1]) < SAMPLE // 16:  # long runs are predicted
            return None
    y = np.empty_like(like) if out is None else out
    bits, truth = y.view(integer), condition.view(np.int8)
    if zero2:
        np.copyto(bits, np.negative(truth))  # all bits of an element, or none
        np.bitwise_and(bits, _bits(x1, like.dtype, integer), out=bits)
    elif zero1:
        np.copyto(bits, np.subtract(truth, 1))
        np.bitwise_and(bits, x2.view(integer), out=bits)
    else:
        other = _bits(x2, like.dtype, integer)
        np.copyto(bits, np.negative(truth))
        np.bitwise_and(bits, np.bitwise_xor(_bits(x1, like.dtype, integer), other), out=bits)
        np.bitwise_xor(bits, other, out=bits)
    return y


def _bits(x: Any, dtype: Any, integer: Any) -> Any:
    return x.view(integer) if type(x) is np.ndarray else np.array(x, dtype).view(integer)


def _taken(chosen: Any) -> Kernel:
    """Return the vjp of an extremum: the cotangent where `chosen`, half of it at a tie, 0 elsewhere."""
    name = f"taken_where_{chosen.__name__}"

    def vjp(gy: Array, x1: Any, x2: Any, /) -> Array:
        if gy.size >= rows.LARGE:
            found = rows.run(name if np.ndim(x2) else f"{name}_than_number", (gy, x1, x2), ())
            if found is not NotImplemented:
                return found
        gx, ties = where(chosen(x1, x2), gy, 0.0), np.equal(x1, x2)
        return where(ties, 0.5 * gy, gx) if ties.any() else gx

    return vjp


def _of_leg(number: int) -> Kernel:
    """Return the vjp of `hypot` with respect to a leg, faster for lengths whose squares are normal numbers."""
    rule = hypot.definition.rules[f"x{number + 1}"]  # type: ignore[attr-defined]  # a primitive has one

    def vjp(gy: Array, x1: Any, x2: Any, y: Array, /) -> Any:
        if not y.size or y.dtype.char not in "fd":
            return NotImplemented
        if not (y.min() >= 2.0 ** (-3 * np.finfo(y.dtype).maxexp // 8) and y.max() < math.inf):
            xp = xpgrad.get_device("@numpy").backend.root.xp
            return rule(xp, gy, x1, x2, y)  # a program calls this kernel for such values, too
        return gy * ((x1, x2)[number] / y)

    return vjp


def tanh_slope(x: Array, t: Array, /) -> Array:
    """Return ``1 - t * t``, and the derivative of tanh at `x` from its exponential where that cancels."""
    if t.ndim and t.dtype in _ONES:
        return tanh_x(_ONES[t.dtype], x, t)
    slope = 1 - t * t
    return slope if t.dtype.kind == "c" else np.where(slope < rows.CANCELS, _of_tails(x, t), slope)


def tanh_x(gy: Array, x: Array, t: Array, out: Array | None = None, memory: Array | None = None, /) -> Array:
    """Return ``gy * tanh_slope(x, t)``.

    Parameters
    ----------
    out : array, optional
        For the result; it may be `gy`.
    memory : array, optional
        For the derivative; it may be `out`, but no other argument.
    """
    one = _ONES.get(t.dtype)
    if one is None or not t.ndim:
        return np.multiply(gy, tanh_slope(x, t), out=out)
    size = t.size
    if size >= rows.LARGE and t.flags.c_contiguous and np.abs(t.reshape(-1)[:SAMPLE]).max() > SATURATED:
        found = rows.run("tanh_x", (gy, x, t), (), out)
        if found is not NotImplemented:
            return found
    slope = t * t if memory is None else np.multiply(t, t, memory)
    np.subtract(one, slope, slope)
    # The index of a minimum takes a tenth of the time of the minimum; the first NaN counts as minimum.
    if size and not slope.item(slope.argmin()) >= rows.CANCELS:
        places = np.flatnonzero(slope < rows.CANCELS)  # indices are read six times as fast as an irregular mask
        slope.put(places, _of_tails(x.take(places), t.take(places)))
    if out is None:
        if size < IN_PLACE_FROM or gy.dtype is not slope.dtype or gy.shape != slope.shape:
            return gy * slope
        out = slope
    return np.multiply(gy, slope, out)


def _of_tails(x: Array, t: Array) -> Array:
    return np.square(1 + np.abs(t)) * np.exp(-2 * np.abs(x))


def square_x(gy: Array, x: Array, /) -> Array:
    """Return ``2 * (gy * x)``; NumPy computes with scalars in a fifth of the time that 0-d arrays take.

    Complex scalars it multiplies by another loop, which rounds differently.
    """
    if x.ndim or x.dtype.kind != "f":
        half = np.multiply(gy, x)
        return np.add(half, half)
    half = gy[()] * x[()]
    return np.asarray(half + half)


def expm1(x: Array, /) -> Array:
    """Return ``exp(x) - 1``; NumPy's function lacks the standard's values at complex infinities and NaNs."""
    y = np.expm1(x)
    if y.dtype in _ONES or y.dtype.kind != "c" or (finite := np.isfinite(x)).all():
        return y
    return np.where(finite, y, np.exp(x) - 1)


def constant_power(x: Array, /, exponent: Any) -> Array:
    """Return ``x**exponent``."""
    y = x**exponent
    return y if y.dtype is x.dtype else kept(y, x.dtype)


ELEMENTWISE["constant_power"] = constant_power
ELEMENTWISE["expm1"] = expm1
ELEMENTWISE["maximum.x1"] = ELEMENTWISE["minimum.x2"] = _taken(np.greater)
ELEMENTWISE["maximum.x2"] = ELEMENTWISE["minimum.x1"] = _taken(np.less)
ELEMENTWISE["hypot.x1"], ELEMENTWISE["hypot.x2"] = _of_leg(0), _of_leg(1)
ELEMENTWISE["square.x"] = square_x
ELEMENTWISE["tanh_slope"] = tanh_slope
ELEMENTWISE["tanh.x"] = ELEMENTWISE["tanh_backward"] = tanh_x
ELEMENTWISE["where"] = where
