"""Convolutions of images of any number of axes, their transposes, and products with the windows of images.

Filters may also differ from place to place or from channel to channel.

Three functions are closed under differentiation: they are the derivatives of one trilinear form of an image, a weight
and an output. Their default bodies are `windows`, `fold` and matrix products.
"""

import math
from collections.abc import Sequence
from typing import Any

from xpgrad.array_api import concat, matmul, permute_dims, reshape
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import invalid, known_spec
from xpgrad.functions.mixed import in_dtype_of, unified
from xpgrad.functions.sequences import pad
from xpgrad.functions.windows import geometry_on, geometry_under, images, in_dimensions, per_axis, windows
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Shape, Size, integers

__all__ = [
    "convolution_1d", "convolution_2d", "convolution_3d", "convolution_nd", "deconvolution_1d", "deconvolution_2d",
    "deconvolution_3d", "deconvolution_nd", "depthwise_convolution_2d", "dilated_convolution_2d",
    "local_convolution_2d", "shift",
]  # fmt: skip


def _of_bias(xp: Namespace, gy: Array) -> Array:
    return xp.sum(gy, axis=(0, *range(2, gy.ndim)))


def _biased(xp: Namespace, y: Array, b: Array | None) -> Array:
    return y if b is None else y + xp.reshape(b, shape=(b.shape[0],) + (1,) * (y.ndim - 2))


def _columns(xp: Namespace, x: Array, geometry: Geometry, groups: int) -> Array:
    """Return the windows on `x` as matrices, shape (N, groups, elements of a window, windows)."""
    n, c = x.shape[:2]
    rows = c // groups * math.prod(geometry.ksize)
    return xp.reshape(xp.windows(x, geometry=geometry, fill=0.0), shape=(n, groups, rows, math.prod(geometry.out)))


@primitive(
    x=lambda xp, gy, W, geometry, groups: xp.transposed_convolution(gy, W, None, geometry=geometry, groups=groups),
    W=lambda xp, gy, x, geometry, groups: xp.convolution_filter_backward(x, gy, geometry=geometry, groups=groups),
    b=_of_bias,
)
def convolution(xp: Namespace, x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Products of the windows on `x` with the filters `W`, plus `b` unless it is None.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *geometry.size)
    W : Variable or array, shape (out, C / groups, *geometry.ksize)
    b : Variable or array, shape (out,), or None
    geometry : Geometry
    groups : int

    Returns
    -------
    Variable, shape (N, out, *geometry.out)
    """
    filters = xp.reshape(W, shape=(groups, W.shape[0] // groups, math.prod(W.shape[1:])))
    y = xp.matmul(filters, _columns(xp, x, geometry, groups))
    return _biased(xp, xp.reshape(y, shape=(x.shape[0], W.shape[0], *geometry.out)), b)


@primitive(
    x=lambda xp, gy, W, geometry, groups: xp.convolution(gy, W, None, geometry=geometry, groups=groups),
    W=lambda xp, gy, x, geometry, groups: xp.convolution_filter_backward(gy, x, geometry=geometry, groups=groups),
    b=_of_bias,
)
def transposed_convolution(
    xp: Namespace, x: AnyArray, W: AnyArray, b: AnyArray | None, /, geometry: Geometry, groups: int
) -> Array:
    """Sums over the windows on an image of the filters `W` times the elements of `x`, plus `b`.

    Parameters
    ----------
    x : Variable or array, shape (N, in, *geometry.out)
    W : Variable or array, shape (in, C / groups, *geometry.ksize)
    b : Variable or array, shape (C,), or None
    geometry : Geometry
    groups : int

    Returns
    -------
    Variable, shape (N, C, *geometry.size)
    """
    n, c, inputs = x.shape[0], W.shape[1] * groups, W.shape[0] // groups
    filters = xp.reshape(W, shape=(groups, inputs, math.prod(W.shape[1:])))
    columns = xp.reshape(x, shape=(n, groups, inputs, math.prod(geometry.out)))
    products = xp.matmul(xp.matrix_transpose(filters), columns)
    return _biased(
        xp, xp.fold(xp.reshape(products, shape=(n, c, *geometry.ksize, *geometry.out)), geometry=geometry), b
    )


@primitive(
    linear=("x", "g"),
    x=lambda xp, gy, g, geometry, groups: xp.transposed_convolution(g, gy, None, geometry=geometry, groups=groups),
    g=lambda xp, gy, x, geometry, groups: xp.convolution(x, gy, None, geometry=geometry, groups=groups),
)
def convolution_filter_backward(xp: Namespace, x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Sums over batch and windows of the windows on `x` times the elements of `g`: the gradient of a weight.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *geometry.size)
    g : Variable or array, shape (N, out, *geometry.out)
    geometry : Geometry
    groups : int

    Returns
    -------
    Variable, shape (out, C / groups, *geometry.ksize)
    """
    n, out, count = x.shape[0], g.shape[1], math.prod(geometry.out)
    columns = xp.permute_dims(_columns(xp, x, geometry, groups), axes=(1, 0, 3, 2))
    rows = xp.permute_dims(xp.reshape(g, shape=(n, groups, out // groups, count)), axes=(1, 2, 0, 3))
    rows = xp.reshape(rows, shape=(groups, out // groups, n * count))
    products = xp.matmul(rows, xp.reshape(columns, shape=(groups, n * count, columns.shape[3])))
    return xp.reshape(products, shape=(out, x.shape[1] // groups, *geometry.ksize))


def _convolved(
    function: str, ndim: int | None, x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1,
    pad: Size = 0, cover_all: bool = False, dilate: Size = 1, groups: int = 1,
) -> Variable:  # fmt: skip
    """Return the convolution of images with filters, which are not reversed: a cross-correlation.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), floating-point
        Images with one or more axes D.
    W : Variable or array, shape (out, C / groups, *K), floating-point
    b : Variable or array, shape (out,), optional
    stride, pad, dilate : int, or one for each axis D
        Distances of the windows, zeros around the images, and distances of the elements of one window.
    cover_all : bool
        Let windows exceed the end, so that the windows cover every element.
    groups : int
        Number of groups into which the channels are cut, each with its own filters and outputs.

    Returns
    -------
    Variable, shape (N, out, *O)
        Each of O is ``(d + 2 * pad - dilate * (k - 1) - 1) // stride + 1``, rounded up with `cover_all`. The dtype is
        the dtype of `x`, even if `W` or `b` has another real dtype; the computation then uses float32 or higher
        precision.

    Raises
    ------
    InvalidType
        Shapes do not fit, a dtype is not floating-point, or no window fits.
    """
    spec = images(x, function, ndim)
    filters, ksize = _filters(function, spec, W, groups)
    if spec.shape[1] != filters.shape[1] * groups or filters.shape[0] % groups:
        expect = f"W of shape (out, C / groups, ...), where x has {spec.shape[1]} channels and groups is {groups}"
        raise invalid(function, expect, f"W is {filters!r}")
    _check_bias(function, b, filters.shape[0])
    geometry = geometry_on(function, spec, ksize, stride, pad, dilate, cover_all)
    x, W, b = unified(function, x, W, b, single=True)
    return in_dtype_of(spec, convolution(x, W, b, geometry=geometry, groups=groups))


# The function for two axes has Chainer's signature, with its last options by keyword only.
convolution_nd, convolution_1d, _convolution_2d, convolution_3d = in_dimensions("convolution", _convolved)


def convolution_2d(
    x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1, pad: Size = 0, cover_all: bool = False, *,
    dilate: Size = 1, groups: int = 1,
) -> Variable:  # fmt: skip
    """Return the convolution of images with filters, which are not reversed: a cross-correlation.

    It is `convolution_nd` for two axes.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W)
        Images.
    W : Variable or array, shape (out, C / groups, KH, KW)
        Filters.
    b : Variable or array, shape (out,), optional
        Added to each output channel.
    stride, pad, dilate : int or pair of int
        Distance between positions of the filters, zeros at each border, and distance between elements of a filter.
    cover_all : bool
        Each pixel is covered by a filter: the output may have one more position along an axis.
    groups : int
        Number of parts of the channels, each of which has its own filters.

    Returns
    -------
    Variable, shape (N, out, OH, OW)
        In the dtype of `x`.

    Raises
    ------
    ShapeError
        Shapes do not fit, or the filters are larger than the padded images.
    """
    return _convolved("convolution_2d", 2, x, W, b, stride, pad, cover_all, dilate, groups)


def dilated_convolution_2d(
    x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1, pad: Size = 0, dilate: Size = 1,
    cover_all: bool = False,
) -> Variable:  # fmt: skip
    """Return the dilated convolution of images; options are the same as for `convolution_2d`, in another order."""
    return _convolved("dilated_convolution_2d", 2, x, W, b, stride, pad, cover_all, dilate, 1)


def depthwise_convolution_2d(
    x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1, pad: Size = 0
) -> Variable:
    """Return the convolution of each channel of images with separate filters.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), floating-point
    W : Variable or array, shape (M, C, KH, KW), floating-point
        M filters for each channel.
    b : Variable or array, shape (C * M,), optional
    stride, pad : int or pair of int

    Returns
    -------
    Variable, shape (N, C * M, OH, OW)
        The outputs of one channel are next to each other.
    """
    name = "depthwise_convolution_2d"
    spec, filters = images(x, name, 2), images(W, name, 2, "W")
    multiplier, channels, *ksize = filters.shape
    if channels != spec.shape[1]:
        raise invalid(name, f"W of shape (M, {spec.shape[1]}, KH, KW), the channels of x", f"W is {filters!r}")
    W = reshape(permute_dims(W, axes=(1, 0, 2, 3)), shape=(channels * multiplier, 1, *ksize))
    return _convolved(name, 2, x, W, b, stride, pad, False, 1, max(channels, 1))


def _deconvolved(
    function: str, ndim: int | None, x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1,
    pad: Size = 0, outsize: Size | None = None, dilate: Size = 1, groups: int = 1,
) -> Variable:  # fmt: skip
    """Return the transposed convolution: the gradient of a convolution with filters `W`, applied to `x`.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), floating-point
        Images with one or more axes D.
    W : Variable or array, shape (C, out / groups, *K), floating-point
    b : Variable or array, shape (out,), optional
    stride, pad, dilate : int, or one for each axis D
        Groups of the convolution from the result to `x`.
    outsize : int, or one for each axis D, optional
        Size of the result, by default the smallest; `stride` different sizes lead to the same `x`.
    groups : int

    Returns
    -------
    Variable, shape (N, out, *O)
        Each length of O is ``stride * (d - 1) + dilate * (k - 1) + 1 - 2 * pad``, or the length in `outsize`. The dtype
        is as for a convolution.

    Raises
    ------
    InvalidType
        Shapes or `outsize` do not fit, a dtype is not floating-point, or the result would have no elements.
    """
    spec = images(x, function, ndim)
    filters, ksize = _filters(function, spec, W, groups)
    if spec.shape[1] != filters.shape[0] or filters.shape[0] % groups:
        expect = f"W of shape (C, out / groups, ...), where x has {spec.shape[1]} channels and groups is {groups}"
        raise invalid(function, expect, f"W is {filters!r}")
    _check_bias(function, b, filters.shape[1] * groups)
    geometry = geometry_under(function, spec, ksize, stride, pad, outsize, dilate)
    x, W, b = unified(function, x, W, b, single=True)
    return in_dtype_of(spec, transposed_convolution(x, W, b, geometry=geometry, groups=groups))


deconvolution_nd, deconvolution_1d, _deconvolution_2d, deconvolution_3d = in_dimensions("deconvolution", _deconvolved)


def deconvolution_2d(
    x: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1, pad: Size = 0, outsize: Size | None = None,
    *, dilate: Size = 1, groups: int = 1,
) -> Variable:  # fmt: skip
    """Return the transposed convolution of images; it is `deconvolution_nd` for two axes."""
    return _deconvolved("deconvolution_2d", 2, x, W, b, stride, pad, outsize, dilate, groups)


def _filters(function: str, spec: Spec, W: Any, groups: int) -> tuple[Spec, Shape]:
    """Return the spec of a weight for images of `spec`, and the size of its windows."""
    if groups < 1:
        raise ValueError(f"{function}: expected groups to be at least 1, got {groups}")
    filters = images(W, function, spec.ndim - 2, "W")
    return filters, per_axis(filters.shape[2:], spec.ndim - 2, "the last lengths of W", function)


def _check_bias(function: str, b: Any, channels: int) -> None:
    if b is None:
        return
    spec = known_spec(b, function)
    if not spec.differentiable or spec.shape != (channels,):
        raise invalid(function, f"b of shape {(channels,)} and a floating-point dtype", f"b is {spec!r}")


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
