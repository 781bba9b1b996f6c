"""Connections of neighbouring pixels that differ from place to place or from channel to channel."""

import math
from collections.abc import Sequence

from xpgrad.array_api import concat, matmul, permute_dims, reshape
from xpgrad.functions.checks import invalid, known_spec
from xpgrad.functions.mixed import in_dtype_of, unified
from xpgrad.functions.sequences import pad
from xpgrad.functions.windows import geometry_on, images, per_axis, windows
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Size, integers

__all__ = ["local_convolution_2d", "shift"]


def local_convolution_2d(x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1) -> Variable:
    """Return the convolution of images with separate filters for each position.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), floating-point
    W : Variable or array, shape (out, OH, OW, C, KH, KW), floating-point
    b : Variable or array, shape (out, OH, OW), optional
    stride : int or pair of int

    Returns
    -------
    Variable, shape (N, out, OH, OW)
        In the dtype of `x`, as from `convolution_2d`.

    Raises
    ------
    InvalidType
        Shapes do not fit, or a dtype is not floating-point.
    """
    name = "local_convolution_2d"
    spec, filters = images(x, name, 2), known_spec(W, name)
    if not filters.differentiable or filters.ndim != 6 or filters.shape[3] != spec.shape[1]:
        expect = f"W of shape (out, OH, OW, {spec.shape[1]}, KH, KW) and a floating-point dtype, as x is {spec!r}"
        raise invalid(name, expect, f"W is {filters!r}")
    out, oh, ow, c, *ksize = filters.shape
    geometry = geometry_on(name, spec, per_axis(integers(ksize), 2, "the last lengths of W", name), stride, 0)
    if geometry.out != (oh, ow):
        raise invalid(name, f"W of shape {(out, *geometry.out, c, *ksize)}, as x is {spec!r}", f"W is {filters!r}")
    if b is not None and (not (bias := known_spec(b, name)).differentiable or bias.shape != (out, oh, ow)):
        raise invalid(name, f"b of shape {(out, oh, ow)} and a floating-point dtype", f"b is {bias!r}")
    n, elements = spec.shape[0], c * math.prod(ksize)
    x, W, b = unified(name, x, W, b, single=True)
    columns = permute_dims(windows(as_variable(x), geometry=geometry), axes=(4, 5, 0, 1, 2, 3))
    columns = reshape(columns, shape=(oh * ow, n, elements))
    weights = permute_dims(reshape(W, shape=(out, oh * ow, elements)), axes=(1, 2, 0))
    y = permute_dims(reshape(matmul(columns, weights), shape=(oh, ow, n, out)), axes=(2, 3, 0, 1))
    return in_dtype_of(spec, y if b is None else y + b)


def shift(x: AnyArray, ksize: Size = 3, dilate: Size = 1) -> Variable:
    """Return images with each group of channels moved in another direction.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), floating-point
        There is a group for each element of a window, and C is at least their number.
    ksize : int or pair of int, odd
        Height and width of that window: a group moves from the middle to its element. The last group, with the
        remaining channels, is not shifted.
    dilate : int or pair of int
        Distance of the elements of the window; negative ones move the other way.

    Returns
    -------
    Variable, shape of `x`

    Raises
    ------
    InvalidType
        `x` is not of that shape or dtype.
    ValueError
        `ksize` is not odd.

    References
    ----------
    Wu and others: Shift: a zero FLOP, zero parameter alternative to spatial convolutions, 2017.
    """
    spec = images(x, "shift", 2)
    kh, kw = per_axis(ksize, 2, "ksize", "shift")
    dy, dx = dilate if isinstance(dilate, Sequence) else (dilate, dilate)
    if not kh % 2 or not kw % 2:
        raise ValueError(f"shift: ksize must be odd, got {ksize!r}")
    _, c, h, w = spec.shape
    groups = kh * kw
    if c < groups:
        raise invalid("shift", f"x with at least {groups} channels, one for each element of a window", f"x is {spec!r}")
    high, wide, size, middle = kh // 2 * abs(dy), kw // 2 * abs(dx), c // groups, groups // 2
    framed = pad(x, ((0, 0), (0, 0), (high, high), (wide, wide)), "constant")
    parts = []
    for group in range(groups):
        row, column = divmod({middle: groups - 1, groups - 1: middle}.get(group, group), kw)
        top, left = high - (row - kh // 2) * dy, wide - (column - kw // 2) * dx
        last = c if group == groups - 1 else (group + 1) * size
        parts.append(framed[:, group * size : last, top : top + h, left : left + w])
    return concat(parts, axis=1)
