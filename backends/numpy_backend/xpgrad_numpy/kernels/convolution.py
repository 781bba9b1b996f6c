"""Convolution: image by image, the elements of windows are laid in rows of a matrix that stays in the cache.

Where all strides are 1, a row is a stretch of the padded image's memory as it is: one long copy, at the price of some
columns too many, where a window would begin in the padding. Else, or where those would be many, rows have no gaps.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype, Kernel

CACHED = 2**19  # bytes of a part of the matrix; from a quarter to twice that makes little difference
MAX_TURNED = 6  # ratio of filters to channels up to which copying rows is faster than adding them
MAX_SURPLUS = 1.5  # ratio of computed to needed columns


class Layout:
    """How the elements of windows lie in the memory of one padded image, in elements from its start.

    Attributes
    ----------
    padded : tuple of int
        Lengths of the padded image's axes.
    runs : tuple of int
        Shape of one row of the matrix: one long run, or the numbers of windows.
    window_steps, run_steps : tuple of int
        How far apart the elements of a window, and of a row, are.
    room : int
        Elements of memory for one channel, with what the last run takes beyond the image.
    """

    __slots__ = ("geometry", "inside", "padded", "room", "run_steps", "runs", "window_steps")

    def __init__(self, geometry: Geometry) -> None:
        g = self.geometry = geometry
        behind = g.behind
        self.padded = tuple(n + p + b for n, p, b in zip(g.size, g.pad, behind, strict=True))
        self.inside = tuple(slice(p, p + n) for n, p in zip(g.size, g.pad, strict=True))
        steps = [math.prod(self.padded[i + 1 :]) for i in range(g.ndim)]
        self.window_steps = tuple(d * step for d, step in zip(g.dilate, steps, strict=True))
        self.runs, self.run_steps = g.out, tuple(s * step for s, step in zip(g.stride, steps, strict=True))
        straight = g.out[0] * steps[0]
        if set(g.stride) == {1} and straight <= MAX_SURPLUS * math.prod(g.out):
            self.runs, self.run_steps = (straight,), (1,)
        last = sum(
            step * (n - 1)
            for n, step in zip((*g.ksize, *self.runs), (*self.window_steps, *self.run_steps), strict=True)
        )
        self.room = max(math.prod(self.padded), last + 1)

    @property
    def columns(self) -> int:
        """Columns of the matrix."""
        return math.prod(self.runs)

    def outputs(self, rows: Array) -> Array:
        """Return a view of rows, shape (..., columns), in the shape of the windows, without superfluous columns."""
        g = self.geometry
        if self.runs == g.out:
            return rows.reshape((*rows.shape[:-1], *g.out))
        whole = rows.reshape((*rows.shape[:-1], g.out[0], *self.padded[1:]))
        return whole[(..., *[slice(o) for o in g.out])]

    def parts(self, rows: int, itemsize: int) -> Iterator[tuple[int, int]]:
        """Yield start and stop of each part of the matrix along the first axis of the runs."""
        row = math.prod(self.runs[1:]) * rows * itemsize
        step = max(1, CACHED // max(row, 1))
        count = -(-self.runs[0] // step)
        for i in range(count):  # of nearly the same size
            yield self.runs[0] * i // count, self.runs[0] * (i + 1) // count


layout = functools.lru_cache(256)(Layout)


class Image:
    """A padded copy of one image, and the matrix of its windows, one part at a time."""

    def __init__(self, geometry: Geometry, channels: int, groups: int, dtype: Dtype) -> None:
        found = self.layout = layout(geometry)
        each = channels // groups
        self.memory = np.zeros((channels, found.room), dtype)
        whole = self.memory[:, : math.prod(found.padded)].reshape((channels, *found.padded))
        self.inside = whole[(slice(None), *found.inside)]
        item, channel = self.memory.itemsize, self.memory.strides[0]
        self.windows: Array = np.ndarray(  # shape (groups, *ksize, channels of a group, *runs)
            (groups, *geometry.ksize, each, *found.runs),
            dtype,
            self.memory,
            0,
            (each * channel, *[s * item for s in found.window_steps], channel, *[s * item for s in found.run_steps]),
        )
        self.groups, self.rows = groups, math.prod(geometry.ksize) * each
        self.parts = list(found.parts(groups * self.rows, item))
        self.most = max(b - a for a, b in self.parts) if self.parts else 0
        self.rest = math.prod(found.runs[1:])
        self.matrix = np.empty(groups * self.rows * self.most * self.rest, dtype)

    def part(self, a: int, b: int) -> tuple[Array, Array, slice]:
        """Return a part's windows, the part of the matrix for them in their shape, and its columns."""
        source = self.windows[(..., slice(a, b), *[slice(None)] * (len(self.layout.runs) - 1))]
        return source, self.matrix[: source.size].reshape(source.shape), slice(a * self.rest, b * self.rest)

    def as_matrix(self, part: Array) -> Array:
        """Return a part in its shape as matrices, shape (groups, rows, columns)."""
        return part.reshape((self.groups, self.rows, -1 if part.size else 0))


def _filters(W: Array, groups: int, dtype: Dtype) -> Array:
    """Return filters as matrices, shape (groups, filters, elements), the channels varying fastest."""
    count, channels, *ksize = W.shape
    moved = np.moveaxis(W.reshape((groups, count // groups, channels, *ksize)), 2, -1)
    return np.ascontiguousarray(moved, dtype).reshape((groups, count // groups, channels * math.prod(ksize)))


def _work(dtype: Dtype) -> Dtype:
    """Return the dtype to compute in: there are no fast products in half precision."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def _bias(b: Array | None, ndim: int) -> Array | None:
    return None if b is None else b.reshape((b.shape[0],) + (1,) * ndim)


def convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return the products of windows and filters."""
    found = layout(geometry)
    result = np.result_type(*[a for a in (x, W, b) if a is not None])
    dtype = _work(result)
    y = np.empty((x.shape[0], W.shape[0], *geometry.out), result)
    if not y.size or not W.size:
        y[...] = 0 if b is None else _bias(b, geometry.ndim)
        return y
    image, filters, b = Image(geometry, x.shape[1], groups, dtype), _filters(W, groups, dtype), _bias(b, geometry.ndim)
    made = np.empty((groups, W.shape[0] // groups, found.columns), dtype)
    outputs = found.outputs(made.reshape((W.shape[0], found.columns)))
    parts = [image.part(*part) for part in image.parts]
    for one, out in zip(x, y, strict=True):
        image.inside[...] = one
        for source, part, columns in parts:
            part[...] = source
            np.matmul(filters, image.as_matrix(part), out=made[..., columns])
        if b is None:
            out[...] = outputs
        else:
            np.add(outputs, b, out=out, casting="same_kind")
    return y


@functools.lru_cache(256)
def turned(geometry: Geometry) -> Geometry | None:
    """Return the windows of which a transposed convolution is the convolution, or None if there are strides."""
    g = geometry
    pad = tuple(d * (k - 1) - p for k, d, p in zip(g.ksize, g.dilate, g.pad, strict=True))
    if set(g.stride) != {1} or min(pad) < 0:
        return None
    return Geometry(g.out, g.ksize, g.stride, pad, g.dilate, g.size)


def _turned_filters(W: Array, groups: int) -> Array:
    """Return filters with channels and outputs swapped in each group, and all spatial axes reversed."""
    count, channels, *ksize = W.shape
    swapped = np.swapaxes(W.reshape((groups, count // groups, channels, *ksize)), 1, 2)
    return np.flip(swapped, tuple(range(3, swapped.ndim))).reshape((groups * channels, count // groups, *ksize))


def transposed_convolution(x: Array, W: Array, b: Array | None, /, geometry: Geometry, groups: int) -> Array:
    """Return images on which filters are added in their windows."""
    around = turned(geometry)
    if around is not None and W.shape[0] <= MAX_TURNED * W.shape[1] * groups:
        return convolution(x, _turned_filters(W, groups), b, around, groups)
    found = layout(geometry)
    result = np.result_type(*[a for a in (x, W, b) if a is not None])
    dtype, channels = _work(result), W.shape[1] * groups
    y = np.empty((x.shape[0], channels, *geometry.size), result)
    if not y.size or not x.size:
        y[...] = 0 if b is None else _bias(b, geometry.ndim)
        return y
    image, b = Image(geometry, channels, groups, dtype), _bias(b, geometry.ndim)
    filters = np.ascontiguousarray(_filters(W, groups, dtype).mT)
    given = np.zeros((groups, W.shape[0] // groups, found.columns), dtype)
    inputs = found.outputs(given.reshape((W.shape[0], found.columns)))
    parts = [image.part(*part) for part in image.parts]
    numbers = list(np.ndindex(geometry.ksize))
    for one, out in zip(x, y, strict=True):
        inputs[...] = one
        image.memory[...] = 0
        for target, part, columns in parts:
            np.matmul(filters, given[..., columns], out=image.as_matrix(part))
            for number in numbers:
                into = target[(slice(None), *number)]
                into += part[(slice(None), *number)]
        if b is None:
            out[...] = image.inside
        else:
            np.add(image.inside, b, out=out, casting="same_kind")
    return y


def convolution_filter_backward(x: Array, g: Array, /, geometry: Geometry, groups: int) -> Array:
    """Return the sums over batch and windows of windows times `g`."""
    found = layout(geometry)
    result = np.result_type(x, g)
    dtype, filters, channels = _work(result), g.shape[1], x.shape[1] // groups
    shape = (filters, channels, *geometry.ksize)
    if not x.size or not g.size:
        return np.zeros(shape, result)
    image = Image(geometry, x.shape[1], groups, dtype)
    given = np.zeros((groups, filters // groups, found.columns), dtype)
    inputs = found.outputs(given.reshape((filters, found.columns)))
    total = np.zeros((groups, image.rows, filters // groups), dtype)
    product: Any = np.empty_like(total)
    parts = [image.part(*part) for part in image.parts]
    for one, gradient in zip(x, g, strict=True):
        image.inside[...] = one
        inputs[...] = gradient
        for source, part, columns in parts:
            part[...] = source
            np.matmul(image.as_matrix(part), given[..., columns].mT, out=product)
            total += product
    moved = total.mT.reshape((groups, filters // groups, *geometry.ksize, channels))
    return np.moveaxis(moved, -1, 2).reshape(shape).astype(result, copy=False)


CONVOLUTION: dict[str, Kernel] = {
    "convolution": convolution,
    "transposed_convolution": transposed_convolution,
    "convolution_filter_backward": convolution_filter_backward,
}
