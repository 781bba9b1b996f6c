"""Coefficients of splines through the elements of images, and the values of these splines between the elements."""

import functools
import math
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.scipy.ndimage.filters import extended
from xpgrad.scipy.operands import from_host, inexact, one_axis, required
from xpgrad.types import AnyArray, Array

MARGIN = 12
"""Elements by which images are continued in the modes whose splines have no exact coefficients, as in SciPy."""
CONTINUED = ("nearest", "grid-constant")
MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap")


@functools.lru_cache(maxsize=64)
def _matrix(n: int, order: int, mode: str) -> Array:
    """Return the transposed matrix that takes elements to coefficients."""
    eye = plugins.host.namespace.eye(n)
    return required("scipy.ndimage", "spline_filter").spline_filter1d(eye, order, axis=0, mode=mode).T


def checked_order(order: int, function: str) -> int:
    """Return the order of a spline, an integer from 0 to 5."""
    if order not in range(6):
        raise ValueError(f"{function}: expected an order from 0 to 5, got {order!r}")
    return int(order)


def checked_mode(mode: str, function: str) -> str:
    """Return the way in which images are continued."""
    if mode not in MODES:
        raise ValueError(f"{function}: expected the mode {', '.join(MODES)}, got {mode!r}")
    return mode


@in_single_precision
def spline_filter1d(input: AnyArray, order: int = 3, axis: int = -1, mode: str = "mirror") -> Variable:
    """Return the coefficients of splines through the elements along an axis.

    Parameters
    ----------
    input : Variable or array, floating-point
    order : int, 0 to 5
    axis : int
    mode : str
        As for `map_coordinates`.
    """
    x = inexact(input, "spline_filter1d")
    if checked_mode(mode, "spline_filter1d") and checked_order(order, "spline_filter1d") < 2:
        return x
    along = one_axis(axis, x, "spline_filter1d")
    if x.shape[along] < 2:
        return x
    moved = xpa.moveaxis(x, along, -1)
    return xpa.moveaxis(xpa.matmul(moved, from_host(x, _matrix(x.shape[along], order, mode))), -1, along)


def spline_filter(input: AnyArray, order: int = 3, mode: str = "mirror") -> Variable:
    """Return the coefficients of splines through the elements of an image; arguments as for `spline_filter1d`."""
    x = inexact(input, "spline_filter")
    for axis in range(x.ndim):
        x = spline_filter1d(x, order, axis, mode)
    return x


def coefficients(x: Variable, order: int, mode: str, cval: float, prefilter: bool, name: str) -> tuple[Variable, int]:
    """Return the coefficients of a spline, and by how many elements the image was continued at each end."""
    checked_mode(mode, name)
    if not prefilter or checked_order(order, name) < 2:
        return x, 0
    margin = MARGIN if mode in CONTINUED else 0
    for axis in range(x.ndim):
        x = extended(x, axis, margin, margin, mode, cval, name)
    return spline_filter(x, order, mode), margin


def _folded(c: Variable, n: int, mode: str) -> Variable:
    """Return coordinates, or integers, within an axis of `n` elements."""
    if n == 1 and mode not in ("constant", "grid-constant"):
        return xpa.zeros_like(c)
    if mode == "nearest":
        return xpa.clip(c, 0, n - 1)
    if mode == "mirror":
        rest = xpa.remainder(c, 2 * n - 2)
        return xpa.minimum(rest, 2 * n - 2 - rest)
    if mode in ("reflect", "grid-mirror"):
        if not c.node.spec.differentiable:
            rest = xpa.remainder(c, 2 * n)
            return xpa.minimum(rest, 2 * n - 1 - rest)
        rest = xpa.remainder(c + 0.5, 2.0 * n)
        return xpa.minimum(rest, 2.0 * n - rest) - 0.5
    if mode == "wrap":
        return xpa.where(c == n - 1, c, xpa.remainder(c, n - 1))
    if mode == "grid-wrap":
        return xpa.remainder(c, n)
    return c


def _basis(t: Variable, order: int) -> list[Any]:
    """Return the values of the B-splines that are not 0 at a place `t` between two knots."""
    w: list[Any] = [1.0 - t, t] if order else [xpa.ones_like(t)]
    for d in range(2, order + 1):
        grown = []
        for j in range(d + 1):
            parts = []
            if j:
                parts.append((t + float(d - j)) * w[j - 1])
            if j < d:
                parts.append((1.0 + j - t) * w[j])
            grown.append((parts[0] + parts[1] if len(parts) > 1 else parts[0]) * (1.0 / d))
        w = grown
    return w


def taps(
    c: Variable, n: int, order: int, mode: str, index_dtype: Any, margin: int = 0
) -> tuple[Variable, Variable, Variable | None]:
    """Return the elements that the values of a spline at coordinates depend on, and their weights.

    Parameters
    ----------
    c : Variable, shape S
    n : int
        Number of coefficients.
    margin : int
        Number of coefficients before the first element of the image.

    Returns
    -------
    indices, weights : Variable, shape (order + 1, *S)
    inside : Variable of bool or None
        Whether an element is inside the image: shape S for "constant", the shape of the indices for "grid-constant".
    """
    inside = None
    c = c + float(margin) if margin else c
    if mode == "constant":
        inside = (c >= 0) & (c <= n - 1)
    c = xpa.clip(c, -order, n - 1 + order) if mode == "nearest" else _folded(c, n, mode)
    base = xpa.floor(c if order % 2 else c + 0.5)
    t = c - base if order % 2 else c + 0.5 - base
    start = xpa.astype(base, index_dtype) - order // 2
    kind = {"constant": "mirror", "wrap": "mirror"}.get(mode, mode)
    if kind == "mirror":  # places outside, of any index, are not used
        start = xpa.clip(start, -(order // 2), n - 1 - order // 2)
    if kind == "mirror" and n > order + 1:  # one reflection at each edge
        each = [start + k if k else start for k in range(order + 1)]
        each[: order // 2] = map(xpa.abs, each[: order // 2])
        each[order // 2 + 1 :] = [xpa.minimum(i, 2 * n - 2 - i) for i in each[order // 2 + 1 :]]
        return xpa.stack(each, axis=0), xpa.stack(_basis(t, order), axis=0), inside
    index = xpa.stack([start + k for k in range(order + 1)], axis=0)
    if mode == "grid-constant":
        inside = (index >= 0) & (index < n)
        index = xpa.clip(index, 0, n - 1)
    else:
        index = _folded(index, n, kind)
    return index, xpa.stack(_basis(t, order), axis=0), inside


def along_axis(
    x: Variable, axis: int, c: Variable, order: int, mode: str, index_dtype: Any, margin: int
) -> tuple[Variable, Variable | None]:
    """Return the values of splines along an axis at coordinates, a vector, and which of them are inside."""
    index, weights, inside = taps(c, x.shape[axis], order, mode, index_dtype, margin)
    if mode == "grid-constant" and inside is not None:
        weights, inside = xpa.where(inside, weights, 0.0), None
    flat = xpa.take(x, xpa.reshape(index, (-1,)), axis=axis)
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    wide = (*index.shape, *(1,) * (x.ndim - axis - 1))
    return xpa.sum(xpa.reshape(flat, shape) * xpa.reshape(weights, wide), axis=axis), inside


def at_points(
    x: Variable, coordinates: list[Variable], order: int, mode: str, cval: float, index_dtype: Any, margin: int
) -> Variable:
    """Return the values of a spline in all axes at points, whose coordinates have one shape."""
    shape, ndim, count = coordinates[0].shape, x.ndim, order + 1
    place: Any = None
    weights: list[Variable] = []
    within: Any = None
    for axis, c in enumerate(coordinates):
        index, w, inside = taps(c, x.shape[axis], order, mode, index_dtype, margin)
        wide = (*(1,) * axis, count, *(1,) * (ndim - axis - 1), *shape)
        index = xpa.reshape(index, wide)
        place = place * x.shape[axis] + index if axis else index
        weights.append(w)
        if inside is not None:
            inside = xpa.reshape(inside, wide) if mode == "grid-constant" else inside
            within = inside if within is None else within & inside
    size = math.prod(x.shape)
    found = xpa.take(xpa.reshape(x, (size,)), xpa.reshape(place, (-1,)))
    found = xpa.reshape(found, place.shape)
    if mode == "grid-constant":
        found = xpa.where(within, found, cval)
    for axis in range(ndim - 1, -1, -1):
        found = xpa.sum(found * weights[axis], axis=axis)
    return xpa.where(within, found, cval) if mode == "constant" else found
