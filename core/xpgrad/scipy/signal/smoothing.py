"""Smoothing by local polynomials, and the removal of trends."""

import functools
import itertools
import operator
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable
from xpgrad.ops.padding import pad
from xpgrad.scipy.operands import beside, from_host, inexact, numbers_beside, one_axis, padded, required
from xpgrad.types import AnyArray, Array, integers

PADDING = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap"}
"""Modes of `pad` by SciPy's names; in the mode "constant", the value may be a Variable."""


def continued(x: Variable, count: int, boundary: str | None) -> Variable:
    """Return a signal continued by `count` elements at both ends: zeros, reflections ("even", "odd") or constants."""
    if boundary is None or not count:
        return x
    n = x.shape[-1]
    if boundary == "zeros":
        return padded(x, x.ndim - 1, count, count)
    left, right = xpa.flip(x[..., 1 : count + 1], axis=-1), xpa.flip(x[..., n - 1 - count : n - 1], axis=-1)
    if boundary == "odd":
        left, right = 2.0 * x[..., :1] - left, 2.0 * x[..., n - 1 :] - right
    elif boundary == "constant":
        left, right = (xpa.broadcast_to(end, left.shape) for end in (x[..., :1], x[..., n - 1 :]))
    return xpa.concat([left, x, right], axis=-1)


@functools.lru_cache(maxsize=64)
def _polynomial(length: int, order: int, derivative: int) -> Array:
    """Return the matrix that takes one window to the polynomial that fits it best, at each of its places."""
    eye = plugins.host.namespace.eye(length)
    return required("scipy.signal", "savgol_filter").savgol_filter(
        eye, length, order, derivative, axis=0, mode="interp"
    )


@in_single_precision
def savgol_filter(
    x: AnyArray, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
    mode: str = "interp", cval: float = 0.0,
) -> Variable:  # fmt: skip
    """Return values or derivatives of polynomials fitted to windows along an axis.

    Parameters
    ----------
    x : Variable or array, floating-point
    window_length : int
    polyorder : int
        The degree of the polynomials, below `window_length`.
    deriv : int
        The order of the derivative.
    delta : float or Variable, shape ()
        The distance of the samples, for derivatives.
    axis : int
    mode : {"interp", "mirror", "nearest", "wrap", "constant"}
        Use the polynomials of the first and last windows at the ends, or continue the signal.
    cval : float or Variable, shape ()
        The value in the mode "constant".
    """
    given = inexact(x, "savgol_filter")
    along = one_axis(axis, given, "savgol_filter")
    y: Variable = xpa.moveaxis(given, along, -1)
    if mode not in ("interp", "constant", *PADDING):
        raise ValueError(f"savgol_filter: expected the mode interp, constant, {', '.join(PADDING)}, got {mode!r}")
    scipy_signal = required("scipy.signal", "savgol_filter")
    weights = scipy_signal.savgol_coeffs(window_length, polyorder, deriv)[::-1]
    half, n = window_length // 2, y.shape[-1]
    before = (window_length - 1) // 2  # a window of even length reaches farther to the right
    if mode == "interp" and n < window_length:
        raise ShapeError(f"savgol_filter: expected at least {window_length} elements along axis {axis}, got {n}")
    if mode != "interp":
        if mode == "constant":
            value = beside(y, cval, "savgol_filter")
            if value.ndim:
                raise ShapeError(f"savgol_filter: expected a number as cval, got shape {value.shape}")
            first, last = [xpa.broadcast_to(value, (*y.shape[:-1], count)) for count in (before, half)]
            y = xpa.concat([first, y, last], axis=-1)
        else:
            y = pad(y, [(0, 0)] * (y.ndim - 1) + [(before, half)], PADDING[mode])
        n += before + half
    terms = (float(weights[k]) * y[..., k : n - window_length + 1 + k] for k in range(window_length))
    found: Variable = functools.reduce(operator.add, terms)
    if mode == "interp":
        edges = from_host(y, _polynomial(window_length, polyorder, deriv).T)
        first, last = xpa.matmul(y[..., :window_length], edges), xpa.matmul(y[..., n - window_length :], edges)
        found = xpa.concat([first[..., :half], found[..., half - before :], last[..., window_length - half :]], axis=-1)
    return xpa.moveaxis(found / delta**deriv if deriv else found, -1, along)


@in_single_precision
def detrend(data: AnyArray, axis: int = -1, type: str = "linear", bp: Any = 0) -> Variable:
    """Return a signal without its mean, or without the lines that fit its parts best.

    Parameters
    ----------
    data : Variable or array, floating-point
    axis : int
    type : {"linear", "constant"}
    bp : int or sequence of int
        Places at which a new line begins, if the type is "linear".
    """
    x = inexact(data, "detrend")
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError(f"detrend: expected type 'linear' or 'constant', got {type!r}")
    along = one_axis(axis, x, "detrend")
    if type[0] == "c":
        return x - xpa.mean(x, axis=along, keepdims=True)
    x = xpa.moveaxis(x, along, -1)
    n = x.shape[-1]
    places = sorted({0, n, *integers(bp, "detrend")})
    if places[0] < 0 or places[-1] > n:
        raise ValueError(f"detrend: expected bp from 0 to {n}, got {bp!r}")
    parts = []
    for start, stop in itertools.pairwise(places):
        part, count = x[..., start:stop], stop - start
        part = part - xpa.mean(part, axis=-1, keepdims=True)
        if count > 1:
            t = numbers_beside(x, 0, count) - (count - 1) / 2
            slope = xpa.sum(part * t, axis=-1, keepdims=True) / (count * (count * count - 1) / 12)
            part = part - slope * t
        parts.append(part)
    return xpa.moveaxis(xpa.concat(parts, axis=-1) if parts else x, -1, along)
