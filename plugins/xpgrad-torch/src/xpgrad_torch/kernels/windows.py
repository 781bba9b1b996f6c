"""Convolutions and pooling by PyTorch's fused functions, in both directions.

Convolutions and sums decline windows that exceed the end of an image by more than the padding (`cover_all`), since
PyTorch pads both ends equally. PyTorch's gradient of maximum pooling is not used, because it gives the gradient of a
tie to one element. Maxima of small windows, and all gradients, are computed from strided views.
"""

import functools
import itertools
import math
from typing import Any

import torch

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Kernel, Shape

MAX_LENGTHS = 10
"""Sum of the lengths of a window up to which its maximum is taken axis by axis."""
MAX_COUNT = 255
"""Elements of a window up to which its largest ones are counted."""
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
    """Return the maxima over windows; if they are small, axis by axis in a third or less of the time of PyTorch."""
    g = geometry
    if x.dtype not in FLOATS or not x.numel() or 0 in g.out:
        return NotImplemented
    if x.is_cpu and sum(g.ksize) <= MAX_LENGTHS:
        y = _padded(x, g, -math.inf)
        for axis, cells in enumerate(_cells(g), 2):
            first, *others = (y[(slice(None),) * axis + (cell,)] for cell in cells)
            y = functools.reduce(torch.maximum, others, first if others else first.clone())
        return y
    if g.ndim != 2 or not _fits(g, x) or any(2 * p > k for p, k in zip(g.pad, g.ksize, strict=True)):
        return NotImplemented
    return _aten.max_pool2d_with_indices(x, g.ksize, g.stride, g.pad, g.dilate)[0]


def max_pool_backward(g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Return the gradient of `max_pool`: each element of `g` is shared by the largest elements of its window."""
    few = math.prod(geometry.ksize) <= MAX_COUNT
    if g.dtype not in FLOATS or not g.dtype is x.dtype is top.dtype or not g.numel() or not few:
        return NotImplemented
    places: list[Any] = [(..., *each) for each in itertools.product(*_cells(geometry))]
    whole = _padded(x, geometry, math.nan)
    largest = [whole[place] == top for place in places]
    count = torch.zeros(top.shape, dtype=torch.uint8, device=g.device)
    for mask in largest:
        count.add_(mask)
    share = g / count.clamp_(min=1)
    gx = torch.zeros_like(whole, memory_format=torch.contiguous_format)
    steps = zip(geometry.stride, geometry.ksize, geometry.dilate, strict=True)
    disjoint = all(s > d * (k - 1) for s, k, d in steps)
    for place, mask in zip(places, largest, strict=True):
        part = _aten.threshold_backward(share, mask.to(g.dtype), 0)  # `torch.where` takes ten times as long
        if disjoint:
            gx[place] = part
        else:
            gx[place].add_(part)
    inner: Any = (slice(p, p + n) for p, n in zip(geometry.pad, geometry.size, strict=True))
    return gx[(..., *inner)].contiguous()


def _cells(g: Geometry) -> list[list[slice]]:
    """Return where the first elements of all windows are on padded images, the second and so on, for each axis."""
    axes = zip(g.ksize, g.stride, g.dilate, g.out, strict=True)
    return [[slice(d * i, d * i + s * (out - 1) + 1, s) for i in range(k)] for k, s, d, out in axes]


def _padded(x: torch.Tensor, g: Geometry, value: float) -> torch.Tensor:
    """Return images that contain all windows."""
    sides: list[int] = []  # of the last axis first
    for n, k, s, p, d, out in reversed([*zip(g.size, g.ksize, g.stride, g.pad, g.dilate, g.out, strict=True)]):
        sides += p, max(0, s * (out - 1) + d * (k - 1) + 1 - p - n)
    return torch.nn.functional.pad(x, sides, value=value) if any(sides) else x


WINDOWS: dict[str, Kernel] = {
    "convolution": convolution,
    "convolution_filter_backward": convolution_filter_backward,
    "max_pool": max_pool,
    "max_pool_backward": max_pool_backward,
    "sum_pool": sum_pool,
    "transposed_convolution": transposed_convolution,
    "unpool": unpool,
}
