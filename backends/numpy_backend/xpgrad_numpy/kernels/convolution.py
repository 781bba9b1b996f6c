"""Convolution as products of filters and of the windows on a few images at a time, which stay in the cache.

Each function copies the windows again, which takes less time than writing the windows of a batch to memory.
"""

import functools
import math
from typing import Any

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype, Kernel
from xpgrad_numpy.kernels import direct
from xpgrad_numpy.kernels.patches import Patches
from xpgrad_numpy.kernels.precision import wide

MAX_TURNED = 4  # ratio of filters to channels up to which copying rows is faster than adding them


def _filters(W: Array, groups: int, dtype: Dtype) -> Array:
    """Return filters as matrices, shape (groups, filters, elements), the channels varying fastest."""
    count, channels, *ksize = W.shape
    moved = W.reshape((groups, count // groups, channels, *ksize)).transpose((0, 1, *range(3, W.ndim + 1), 2))
    return np.ascontiguousarray(moved, dtype).reshape((groups, count // groups, channels * math.prod(ksize)))


def _bias(b: Array | None, ndim: int) -> Array | None:
    return None if b is None else b.reshape((b.shape[0],) + (1,) * ndim)


def convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return the products of windows and filters."""
    by_loops = direct.convolution(x, W, b, geometry, groups)
    if by_loops is not NotImplemented:
        return by_loops
    result = np.result_type(*[a for a in (x, W, b) if a is not None])
    dtype, b = wide(result), _bias(b, geometry.ndim)
    y = np.empty((x.shape[0], W.shape[0], *geometry.out), result)
    if not y.size or not W.size:
        y[...] = 0 if b is None else b
        return y
    filters = _filters(W, groups, dtype)
    patches = Patches(geometry, x.shape, groups, filters.shape[1], dtype, "multiply")
    beside = patches.beside
    filters = filters if beside else filters[:, None]
    spare: Array = None
    if patches.layout.by_line:
        spare = np.empty((patches.together, *y.shape[1:]), dtype)
        filters = np.ascontiguousarray(W.transpose((2, 0, 3, 1)), dtype).reshape((geometry.ksize[0], len(W), -1))
    columns, apart = patches.layout.columns, beside or dtype != result or patches.layout.columns != geometry.out
    memory = np.empty(patches.together * W.shape[0] * math.prod(columns) if apart else 0, dtype)
    products = found = memory[:0]
    for chunk in patches.chunks(len(x)):
        out = y[chunk]
        if not apart:
            products = found = out
        elif len(found) != len(out):
            shape = (out.shape[1], out.shape[0]) if beside else out.shape[:2]
            products = memory[: math.prod(shape) * math.prod(columns)].reshape((*shape, *columns))
            found = (products.swapaxes(0, 1) if beside else products)[patches.within]
        if spare is not None:
            patches.by_line(x[chunk], filters, products, spare[: len(out)])
        else:
            for matrices, into in zip(patches.of(x[chunk]), patches.columns(products), strict=True):
                np.matmul(filters, matrices, out=into)
        if b is not None:
            np.add(found, b, out=out, casting="same_kind")
        elif apart:
            out[...] = found
    return y


@functools.lru_cache(256)
def turned(geometry: Geometry) -> Geometry | None:
    """Return the geometry that makes a transposed convolution a convolution, or None for strides above 1."""
    g = geometry
    pad = tuple(d * (k - 1) - p for k, d, p in zip(g.ksize, g.dilate, g.pad, strict=True))
    if set(g.stride) != {1} or min(pad) < 0:
        return None
    return Geometry(g.out, g.ksize, g.stride, pad, g.dilate, g.size)


def _turned_filters(W: Array, groups: int) -> Array:
    """Return filters with channels and outputs swapped in each group, and all spatial axes reversed."""
    count, channels, *ksize = W.shape
    swapped = np.swapaxes(W.reshape((groups, count // groups, channels, *ksize)), 1, 2)
    return swapped[(..., *[slice(None, None, -1)] * len(ksize))].reshape((groups * channels, count // groups, *ksize))


def transposed_convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return images on which filters are added in their windows."""
    by_loops = direct.transposed_convolution(x, W, b, geometry, groups)
    if by_loops is not NotImplemented:
        return by_loops
    around = turned(geometry)
    if around is not None and W.shape[0] <= MAX_TURNED * W.shape[1] * groups:
        return convolution(x, _turned_filters(W, groups), b, around, groups)
    result = np.result_type(*[a for a in (x, W, b) if a is not None])
    dtype, b = wide(result), _bias(b, geometry.ndim)
    y = np.empty((x.shape[0], W.shape[1] * groups, *geometry.size), result)
    if not y.size or not x.size:
        y[...] = 0 if b is None else b
        return y
    filters = np.ascontiguousarray(_filters(W, groups, dtype).mT)
    patches = Patches(geometry, y.shape, groups, filters.shape[2], dtype, "add")
    filters = filters if patches.beside else filters[:, None]
    for chunk in patches.chunks(len(x)):
        columns = patches.columns(patches.given(x[chunk]))
        patches.memory[...] = 0
        for given, (windows, copied, matrices) in zip(columns, patches.parts, strict=True):
            np.matmul(filters, given, out=matrices)
            for number in patches.numbers:
                into = windows[number]
                into += copied[number]
        ((_, image),) = patches.fills
        if b is None:
            y[chunk] = image
        else:
            np.add(image, b, out=y[chunk], casting="same_kind")
    return y


def convolution_filter_backward(x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Return the sums over batch and windows of windows times `g`."""
    by_loops = direct.convolution_filter_backward(x, g, geometry, groups)
    if by_loops is not NotImplemented:
        return by_loops
    result = np.result_type(x, g)
    dtype, filters, channels = wide(result), g.shape[1] // groups, x.shape[1] // groups
    shape = (g.shape[1], channels, *geometry.ksize)
    if not x.size or not g.size:
        return np.zeros(shape, result)
    patches = Patches(geometry, x.shape, groups, filters, dtype, "sum")
    total = np.zeros((groups, filters, patches.layout.rows), dtype)
    product: Any = np.empty_like(total)
    for chunk in patches.chunks(len(x)):
        columns = patches.columns(patches.given(g[chunk]))
        for matrix, given in zip(patches.of(x[chunk]), columns, strict=True):
            np.matmul(given, matrix.mT, out=product)
            total += product
    moved = total.reshape((groups, filters, *geometry.ksize, channels))
    found = moved.transpose((0, 1, -1, *range(2, moved.ndim - 1))).reshape(shape)
    return np.ascontiguousarray(found, result)  # an optimizer reads it together with the filters


CONVOLUTION: dict[str, Kernel] = {
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "convolution_filter_backward": convolution_filter_backward,
}
