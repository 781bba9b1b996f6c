"""Convolutions, and the windows of convolutions and pooling: image by image, by NumPy's kernels.

A batch keeps its chunks, as do the channels for `windows` and `fold`; other axes are in one chunk. The default
bodies would split windows into elements, each with tasks for every chunk.
"""

import functools
from typing import Any

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Kernel, Shape
from xpgrad_dask.blocks import computed, empty, whole
from xpgrad_dask.libraries import da


def windows(x: Array, /, geometry: Geometry, fill: float) -> Array:
    """Return the elements of windows, with `fill` outside of the image."""
    shape = (*x.shape[:2], *geometry.ksize, *geometry.out)
    return _by_image("windows", shape, 2, x, geometry=geometry, fill=fill)


def fold(x: Array, /, geometry: Geometry) -> Array:
    """Return images with the elements of windows added at their positions."""
    return _by_image("fold", (*x.shape[:2], *geometry.size), 2, x, geometry=geometry)


def convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return products of the windows on `x` with filters, plus a bias."""
    shape = (x.shape[0], W.shape[0], *geometry.out)
    return _by_image("convolution", shape, 1, x, W, b, geometry=geometry, groups=groups)


def transposed_convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return images on which filters times the elements of `x` are added, plus a bias."""
    shape = (x.shape[0], W.shape[1] * groups, *geometry.size)
    return _by_image("transposed_convolution", shape, 1, x, W, b, geometry=geometry, groups=groups)


def convolution_filter_backward(x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Return the gradient of filters: the sum of the contributions of the chunks of the batch."""
    shape = (g.shape[1], x.shape[1] // groups, *geometry.ksize)
    x, g = whole(x, range(1, x.ndim)), whole(g, range(1, g.ndim))
    dtype = np.result_type(x.dtype, g.dtype)
    parts = da.blockwise(
        functools.partial(_part, {"geometry": geometry, "groups": groups}),
        range(1 + len(shape)),
        x,
        (0, *_apart(x.ndim - 1, 100)),
        g,
        (0, *_apart(g.ndim - 1, 200)),
        new_axes={1 + i: n for i, n in enumerate(shape)},
        adjust_chunks={0: 1},
        concatenate=True,
        dtype=dtype,
        meta=empty(1 + len(shape), dtype),
    )
    return da.sum(parts, axis=0, dtype=dtype)


def _part(options: dict[str, Any], x: Any, g: Any) -> Any:
    return computed(MODULE, "convolution_filter_backward", options, x, g)[None]


def _by_image(name: str, shape: Shape, kept: int, x: Array, *others: Array | None, **options: Any) -> Array:
    """Return the result of a NumPy kernel on `x`, split along its first `kept` axes only, and on `others` unsplit."""
    pairs: list[Any] = [whole(x, range(kept, x.ndim)), (*range(kept), *_apart(x.ndim - kept, 100))]
    for i, other in enumerate(others):
        if other is None:
            pairs += [None, None]
        else:
            pairs += [whole(other, range(other.ndim)), _apart(other.ndim, 200 + 100 * i)]
    dtype = np.result_type(x.dtype, *(other.dtype for other in others if other is not None))
    return da.blockwise(
        functools.partial(computed, MODULE, name, options),
        range(len(shape)),
        *pairs,
        new_axes={i: n for i, n in enumerate(shape) if i >= kept},
        concatenate=True,
        dtype=dtype,
        meta=empty(len(shape), dtype),
    )


def _apart(count: int, first: int) -> tuple[int, ...]:
    """Return letters that occur in no other operand."""
    return tuple(range(first, first + count))


MODULE = "xpgrad.functions.convolution"
KERNELS: dict[str, Kernel] = {
    "windows": windows,
    "fold": fold,
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "convolution_filter_backward": convolution_filter_backward,
}
