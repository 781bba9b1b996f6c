"""Windows on images: one copy or sum between strided views for each element of a window, without padding."""

import functools
import itertools

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.precision import SINGLE, is_half

Slices = tuple[slice, ...]
Element = tuple[tuple[int, ...], Slices, Slices]


@functools.lru_cache(256)
def elements(geometry: Geometry) -> tuple[Element, ...]:
    """Return for each element of a window its number, its positions on the image, and the windows it is used in."""
    axes = []
    for n, k, s, p, d, o in zip(
        geometry.size, geometry.ksize, geometry.stride, geometry.pad, geometry.dilate, geometry.out, strict=True
    ):
        found = []
        for i in range(k):
            at = d * i - p  # in window 0
            first, last = max(0, -(at // s)), min(o - 1, (n - 1 - at) // s)
            if first <= last:
                found.append((i, slice(at + s * first, at + s * last + 1, s), slice(first, last + 1)))
        axes.append(found)
    lead = (slice(None), slice(None))
    made = []
    for row in itertools.product(*axes):
        number = tuple(i for i, _, _ in row)
        made.append((number, lead + tuple(on for _, on, _ in row), lead + tuple(of for _, _, of in row)))
    return tuple(made)


@functools.lru_cache(256)
def exact(geometry: Geometry) -> bool:
    """Return whether windows tile images exactly, without gaps, overlaps or padding."""
    axes = zip(geometry.size, geometry.ksize, geometry.stride, geometry.pad, geometry.dilate, geometry.out, strict=True)
    return all(s == k and not p and (d == 1 or k == 1) and o * k == n for n, k, s, p, d, o in axes)


def windows(x: Array, /, geometry: Geometry, fill: float) -> Array:
    """Return the elements of windows, with `fill` outside of the image."""
    shape = (*x.shape[:2], *geometry.ksize, *geometry.out)
    whole = not (any(geometry.pad) or any(geometry.behind))
    y: Array = np.empty(shape, x.dtype) if whole else np.full(shape, fill, x.dtype)
    for number, image, window in elements(geometry):
        y[(*window[:2], *number, *window[2:])] = x[image]
    return y


def fold(x: Array, /, geometry: Geometry) -> Array:
    """Return images with the elements of windows added at their positions."""
    if is_half(x.dtype):
        return fold(x.astype(SINGLE), geometry).astype(x.dtype)
    y = np.zeros((*x.shape[:2], *geometry.size), x.dtype)
    for number, image, window in elements(geometry):
        y[image] += x[(*window[:2], *number, *window[2:])]
    return y


def sum_pool(x: Array, /, geometry: Geometry) -> Array:
    """Return the sums of windows, without making the windows."""
    if is_half(x.dtype):
        return sum_pool(x.astype(SINGLE), geometry).astype(x.dtype)
    y = np.zeros((*x.shape[:2], *geometry.out), x.dtype)
    for _, image, window in elements(geometry):
        y[window] += x[image]
    return y


def unpool(x: Array, /, geometry: Geometry) -> Array:
    """Return images with each element added to all positions of its window."""
    shape = (*x.shape[:2], *geometry.size)
    if exact(geometry):
        y = np.empty(shape, x.dtype)
        for _, image, _ in elements(geometry):
            y[image] = x
        return y
    if is_half(x.dtype):
        return unpool(x.astype(SINGLE), geometry).astype(x.dtype)
    y = np.zeros(shape, x.dtype)
    for _, image, window in elements(geometry):
        y[image] += x[window]
    return y


WINDOWS: dict[str, Kernel] = {
    "windows": windows,
    "fold": fold,
    "sum_pool": sum_pool,
    "unpool": unpool,
}
