"""Convolutions by direct loops in C, in place of products of matrices, where these loops are faster and compiled."""

import ctypes
import functools
import math
from typing import Any

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype
from xpgrad_numpy.kernels import sources
from xpgrad_numpy.kernels.sources import INT, LONG, POINTER, function, in_threads

SIZES = (3, 5, 7)  # of filters
ONES = (1, 1)
WORTH = 2**19  # multiplications below which loading the library takes longer than it saves
MAX_CHUNKS = 16  # of images, whose sums are added in their order whatever the number of threads
VECTOR = 32  # bytes
MAX_SUMS = 2**21  # bytes of a thread's sums for the gradient of the filters
MIN_WIDTH, MIN_SUMMED = 6, 16  # windows in a row, below which too much of a vector is wasted
MAX_WASTE = 1.2  # ratio of computed to needed windows for the gradient of the filters
FIELDS = (
    *("channels", "height", "width", "pad_y", "pad_x", "outs", "out_height", "out_width"),
    *("image", "channel", "row", "column", "g_image", "g_channel", "g_row", "g_column", "count", "chunks"),
)


class Shape(ctypes.Structure):
    """What the loops must know of the images and the outputs; strides are those of elements."""

    _fields_ = tuple((name, LONG) for name in FIELDS)


class Loops:
    """The functions of a library.

    Parameters
    ----------
    library : Library
    """

    def __init__(self, library: Any) -> None:
        self.pack = function(library, "pack", None, POINTER, LONG, LONG, POINTER)
        self.convolve = function(library, "convolve", INT, *[POINTER] * 5, LONG, LONG)
        self.filter_backward = function(library, "filter_backward", INT, *[POINTER] * 4, LONG, LONG)


@functools.cache
def loops(dtype: Dtype, size: int) -> Loops | None:
    """Return the functions for numbers of a dtype and a size of filters, or None; a process decides once."""
    library = sources.loaded("direct", BYTES=dtype.itemsize, K=size)
    return None if library is None else Loops(library)


def suits(x: Array, outs: int, dtype: Dtype, geometry: Geometry, groups: int, *others: Array | None) -> bool:
    """Return whether the loops take a convolution, by its shapes alone, in arrays of one dtype."""
    g = geometry
    return (
        g.ndim == 2
        and g.ksize[0] == g.ksize[1]
        and g.ksize[0] in SIZES
        and g.stride == g.dilate == ONES
        and groups == 1
        and dtype.char in "fd"
        and g.out[1] >= MIN_WIDTH
        and x.size * outs * math.prod(g.ksize) >= WORTH
        and all(a is None or (a.dtype == dtype and a.flags.aligned) for a in (x, *others))
        and g.out == tuple(n + 2 * p - k + 1 for n, p, k in zip(g.size, g.pad, g.ksize, strict=True))
    )


def _shape(x: Array, geometry: Geometry, outs: int, g: Array | None = None, chunks: int = 0) -> Shape:
    strides = [n // x.itemsize for n in (*x.strides, *((0,) * 4 if g is None else g.strides))]
    count, channels, *size = x.shape
    return Shape(channels, *size, *geometry.pad, outs, *geometry.out, *strides, count, chunks)


def convolution(x: Array, W: Array, b: Array | None, geometry: Geometry, groups: int) -> Any:
    """Return the products of windows and filters, or `NotImplemented`."""
    if (
        not suits(x, W.shape[0], x.dtype, geometry, groups, W, b)
        or (found := loops(x.dtype, geometry.ksize[0])) is None
    ):
        return NotImplemented
    W, b = np.ascontiguousarray(W), None if b is None else np.ascontiguousarray(b)
    packed, y = np.empty(W.size, W.dtype), np.empty((x.shape[0], W.shape[0], *geometry.out), x.dtype)
    found.pack(W.ctypes.data, *W.shape[:2], packed.ctypes.data)
    shape = _shape(x, geometry, W.shape[0])
    addresses = x.ctypes.data, packed.ctypes.data, None if b is None else b.ctypes.data, y.ctypes.data
    in_threads(found.convolve, len(x), ctypes.addressof(shape), *addresses)
    return y


def convolution_filter_backward(x: Array, g: Array, geometry: Geometry, groups: int) -> Any:
    """Return the sums over batch and windows of windows times `g`, or `NotImplemented`."""
    size, width, lanes = (g.shape[1], x.shape[1], *geometry.ksize), geometry.out[-1], VECTOR // x.itemsize
    if VECTOR * math.prod(size) > MAX_SUMS or width < MIN_SUMMED or -(-width // lanes) * lanes > MAX_WASTE * width:
        return NotImplemented
    if not suits(x, g.shape[1], x.dtype, geometry, groups, g) or (found := loops(x.dtype, geometry.ksize[0])) is None:
        return NotImplemented
    parts = np.empty((min(len(x), MAX_CHUNKS), *size), x.dtype)
    shape = _shape(x, geometry, g.shape[1], g, len(parts))
    addresses = ctypes.addressof(shape), x.ctypes.data, g.ctypes.data, parts.ctypes.data
    in_threads(found.filter_backward, len(parts), *addresses)
    return np.add.reduce(parts, 0)


def build() -> bool:
    """Compile the libraries; return whether that was possible."""
    return sources.build("direct", *({"BYTES": itemsize, "K": size} for itemsize in (4, 8) for size in SIZES))
