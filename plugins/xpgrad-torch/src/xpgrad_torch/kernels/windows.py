"""Convolutions and pooling by PyTorch's fused functions, in both directions.

They decline windows that exceed the end of an image by more than the padding (`cover_all`), since PyTorch pads both
ends equally. PyTorch's gradient of maximum pooling is not used, because it gives the gradient of a tie to one element.
The gradient is computed from strided views, one for each element of a window.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Kernel, Shape

FLOATS = frozenset((torch.float32, torch.float64))
_aten: Any = torch.ops.aten


def _fits(g: Geometry, *arrays: torch.Tensor) -> bool:
    """Return whether PyTorch has windows of this geometry, and all arrays have elements of one dtype."""
    dtype = arrays[0].dtype
    if (
        dtype not in FLOATS
        or g.ndim > 3
        or 0 in (*g.size, *g.out)
        or any(x.dtype is not dtype or not x.numel() for x in arrays)
    ):
        return False
    axes = zip(g.out, g.size, g.ksize, g.stride, g.pad, g.dilate, strict=True)
    return all(out == (n + 2 * p - d * (k - 1) - 1) // s + 1 for out, n, k, s, p, d in axes)


def convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return the convolution."""
    if not _fits(geometry, x, W):
        return NotImplemented
    g = geometry
    return _aten.convolution(x, W, b, g.stride, g.pad, g.dilate, False, [0] * g.ndim, groups)


def transposed_convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return the gradient of a convolution with respect to its images."""
    if not _fits(geometry, x, W):
        return NotImplemented
    shape = (x.shape[0], W.shape[1] * groups, *geometry.size)
    y = _backward(x, _of_shape(x, shape), W, geometry, groups, [True, False, False])[0]
    return y if b is None else y.add_(b.reshape(-1, *[1] * geometry.ndim))


def convolution_filter_backward(x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Return the gradient of a convolution with respect to its filters."""
    if not _fits(geometry, x, g):
        return NotImplemented
    shape = (g.shape[1], x.shape[1] // groups, *geometry.ksize)
    return _backward(g, x, _of_shape(x, shape), geometry, groups, [False, True, False])[1]


def _backward(
    gy: Array, x: Array, W: Array, g: Geometry, groups: int, needed: list[bool]
) -> tuple[Array, Array, Array]:
    found: tuple[Array, Array, Array] = _aten.convolution_backward(
        gy, x, W, None, g.stride, g.pad, g.dilate, False, [0] * g.ndim, groups, needed
    )
    return found


def _of_shape(x: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Return an array for calls where PyTorch reads only the shape: one element, expanded."""
    return x.new_empty(1).expand(shape)


def sum_pool(x: Array, /, geometry: Geometry) -> Array:
    """Return the sums over windows: means with 1 as divisor."""
    if not _pools(geometry, x):
        return NotImplemented
    g = geometry
    function = _aten.avg_pool2d if g.ndim == 2 else _aten.avg_pool3d
    return function(x, g.ksize, g.stride, g.pad, False, True, 1)


def unpool(x: Array, /, geometry: Geometry) -> Array:
    """Return the gradient of `sum_pool`."""
    if not _pools(geometry, x):
        return NotImplemented
    g = geometry
    function = _aten.avg_pool2d_backward if g.ndim == 2 else _aten.avg_pool3d_backward
    return function(x.contiguous(), _of_shape(x, (*x.shape[:2], *g.size)), g.ksize, g.stride, g.pad, False, True, 1)


def _pools(g: Geometry, x: torch.Tensor) -> bool:
    """Return whether PyTorch has sums over these windows: without dilation, padded by half of a window at most."""
    half = all(2 * p <= k for p, k in zip(g.pad, g.ksize, strict=True))
    if g.ndim == 3 and any(n < k for n, k in zip(g.size, g.ksize, strict=True)):
        return False  # its gradient is refused, whatever the padding is
    return g.ndim in (2, 3) and half and set(g.dilate) == {1} and _fits(g, x)


def max_pool(x: Array, /, geometry: Geometry) -> Array:
    """Return the maxima over windows."""
    g = geometry
    if g.ndim != 2 or not _fits(g, x) or any(2 * p > k for p, k in zip(g.pad, g.ksize, strict=True)):
        return NotImplemented
    return _aten.max_pool2d_with_indices(x, g.ksize, g.stride, g.pad, g.dilate)[0]


def max_pool_backward(g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Return the gradient of `max_pool`: each element of `g` is shared by the largest elements of its window."""
    if geometry.ndim != 2 or not _fits(geometry, g, x, top):
        return NotImplemented
    count = torch.zeros_like(g)
    for inside, under in _elements(geometry):
        count[under].add_(x[inside] == top[under])
    share = g / count.clamp_(min=1)
    gx = torch.zeros_like(x, memory_format=torch.contiguous_format)
    for inside, under in _elements(geometry):
        largest = (x[inside] == top[under]).to(g.dtype)
        gx[inside].add_(_aten.threshold_backward(share[under], largest, 0))  # `torch.where` takes ten times as long
    return gx


def _elements(g: Geometry) -> Iterator[tuple[Any, Any]]:
    """Yield, for each element of a window, the index of the images where it lies, and of the windows that have it."""
    axes: list[list[tuple[slice, slice]]] = []
    for n, k, s, p, d, out in zip(g.size, g.ksize, g.stride, g.pad, g.dilate, g.out, strict=True):
        axes.append([])
        for offset in range(-p, d * k - p, d):
            first = max(0, -(offset // s))  # the first window whose element is inside
            last = min(out - 1, (n - 1 - offset) // s)
            if first <= last:
                place = slice(s * first + offset, s * last + offset + 1, s)
                axes[-1].append((place, slice(first, last + 1)))
    for pairs in itertools.product(*axes):
        inside, under = zip(*pairs, strict=True)
        yield (..., *inside), (..., *under)


WINDOWS: dict[str, Kernel] = {
    "convolution": convolution,
    "convolution_filter_backward": convolution_filter_backward,
    "max_pool": max_pool,
    "max_pool_backward": max_pool_backward,
    "sum_pool": sum_pool,
    "transposed_convolution": transposed_convolution,
    "unpool": unpool,
}
