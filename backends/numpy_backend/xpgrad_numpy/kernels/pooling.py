"""Pooling: one pass over a strided view of the image for each element of a window; windows are never copied."""

import functools
from typing import Any

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype, Kernel
from xpgrad_numpy.kernels import sources
from xpgrad_numpy.kernels.precision import SINGLE, divided, is_half
from xpgrad_numpy.kernels.windows import elements, exact

LEAST = 2**13  # elements of images from which a call of C is worth it


@functools.cache
def loop(dtype: Dtype) -> Any:
    """Return the gradient in C for numbers of a dtype, or None; a process decides once."""
    library = sources.loaded("pooling", BYTES=dtype.itemsize)
    if library is None:
        return None
    kinds = sources.INT, *[sources.POINTER] * 4, *[sources.LONG] * 3
    return sources.function(library, "max_pool_backward", *kinds)


def _by_pairs(g: Array, x: Array, top: Array, geometry: Geometry) -> Any:
    """Return the gradient of windows of 2 x 2 in C, or `NotImplemented`."""
    dtype = x.dtype
    if x.size < LEAST or geometry.ksize != (2, 2) or not exact(geometry) or dtype.char not in "fd":
        return NotImplemented
    found = loop(dtype) if g.dtype == top.dtype == dtype else None
    if found is None:
        return NotImplemented
    g, x, top = (np.require(a, None, ["C", "A"]) for a in (g, x, top))
    y, columns = np.empty(x.shape, dtype), geometry.out[1]
    sources.in_threads(found, top.size // columns, *(a.ctypes.data for a in (g, x, top, y)), columns)
    return y


def build() -> bool:
    """Compile the libraries; return whether that was possible."""
    return sources.build("pooling", {"BYTES": 4}, {"BYTES": 8})


def max_pool(x: Array, /, geometry: Geometry) -> Array:
    """Return the largest elements of windows."""
    shape = (*x.shape[:2], *geometry.out)
    if not exact(geometry):
        y = np.full(shape, -np.inf, x.dtype)
        for _, image, window in elements(geometry):
            part = y[window]
            np.maximum(part, x[image], out=part)
        return y
    (_, first, _), *others = elements(geometry)
    y = x[first].copy()
    for _, image, _ in others:
        np.maximum(y, x[image], out=y)
    return y


def _where(mask: Array, values: Array, out: Array | None = None) -> Array:
    """Return `values` where `mask` is True, else 0, by bit operations in half the time of `np.where`."""
    bits = np.dtype(f"i{values.itemsize}")
    found = np.bitwise_and(
        np.negative(mask.view(np.int8)), values.view(bits), out=None if out is None else out.view(bits)
    )
    return found.view(values.dtype)


def _shares(g: Array, x: Array, top: Array, geometry: Geometry) -> tuple[Array, list[Array]]:
    """Return `g` divided by the number of largest elements of its window, and where each element is among them."""
    found = [x[image] == top[window] for _, image, window in elements(geometry)]
    count = np.zeros(top.shape, np.int8 if len(found) < 2**7 else np.int64)
    for mask, (_, _, window) in zip(found, elements(geometry), strict=True):
        part = count[window]
        np.add(part, mask.view(np.int8), out=part)
    np.maximum(count, 1, out=count)  # 0 if all elements are NaN
    return divided(g, count), found


def max_pool_backward(g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Return images on which each element is shared by the largest elements of its window."""
    by_pairs: Array = _by_pairs(g, x, top, geometry)
    if by_pairs is not NotImplemented:
        return by_pairs
    if is_half(g.dtype):
        return max_pool_backward(g.astype(SINGLE), x, top, geometry).astype(g.dtype)
    share, found = _shares(g, x, top, geometry)
    if exact(geometry):
        y = np.empty(x.shape, share.dtype)
        for mask, (_, image, _) in zip(found, elements(geometry), strict=True):
            _where(mask, share, y[image])
        return y
    y = np.zeros(x.shape, share.dtype)
    for mask, (_, image, window) in zip(found, elements(geometry), strict=True):
        y[image] += _where(mask, share[window])
    return y


def max_pool_gather(g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Return means over the largest elements of windows."""
    if is_half(g.dtype):
        return max_pool_gather(g.astype(SINGLE), x, top, geometry).astype(g.dtype)
    y, count = np.zeros(top.shape, g.dtype), np.zeros(top.shape, g.dtype)
    for _, image, window in elements(geometry):
        largest = x[image] == top[window]
        y[window] += np.where(largest, g[image], g.dtype.type(0))
        count[window] += largest
    y /= np.maximum(count, 1, out=count)
    return y


POOLING: dict[str, Kernel] = {
    "max_pool": max_pool,
    "max_pool_backward": max_pool_backward,
    "max_pool_gather": max_pool_gather,
}
