"""Pooling: one pass over a strided view of the image for each element of a window; windows are never copied."""

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.precision import SINGLE, divided, is_half
from xpgrad_numpy.kernels.windows import elements, exact


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
