"""Matrices of the windows on a few images at a time, in memory that stays in the cache and is used again.

If all strides are 1, a row of a matrix is one long copy. Either the memory of an image is copied unchanged, with some
surplus columns where a window would begin in the padding; or, with many channels of short rows, the image without
padding along its last axis, shifted to each element of a window.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype, Shape
from xpgrad_numpy.kernels.windows import elements

CACHED = 2**19  # bytes of matrices; half or twice that makes little difference
SMALL_PRODUCT = 10**6  # multiplications up to which OpenBLAS with AVX-512 does not pack operands
MIN_COLUMNS = 64  # of a product, below which BLAS is slow
LONG = 256  # columns with which it is worth reading filters that the cache does not hold
MAX_SHEARED = 64  # elements in a row of windows up to which shifted copies of images pay off
MIN_SHEARED = 8  # rows of a matrix from which they are, for each row of a window
MIN_FILTERS = 16  # which use each of these rows
MIN_LINE = 24  # rows of a matrix from which sums of products are faster than copying the summands
MAX_COPIES = 2**22  # bytes of these copies
MAX_SURPLUS = 1.5  # ratio of computed to needed columns


Use = Literal["multiply", "sum", "add"]
"""What is done with the windows: multiplied by filters, summed after a product, or added on the images."""


@dataclass(frozen=True)
class WindowBlock:
    """The windows `where`, number `start` to `stop` of an image, in `count` matrices of the same size."""

    where: tuple[Any, ...]
    count: int
    start: int
    stop: int


@dataclass(frozen=True)
class PatchLayout:
    """How images of one shape lie in memory, and how their windows are cut in blocks.

    Attributes
    ----------
    copies : int
        Shifted copies of an image.
    image : tuple of int
        Lengths of its axes with the padding.
    room : int
        Elements of memory for one channel of a copy, with the elements that the last row reads beyond the image.
    strides : tuple of int
        Bytes between windows of the shape (groups, *ksize, channels of a group, *out).
    fills : tuple
        Positions among copies and channels, and the part of the last axis that is copied there.
    rows : int
        Elements of a window.
    columns, runs : tuple of int
        Shape of the columns for one image, with superfluous ones where `straight`, and the shape that is cut in blocks.
    together : int
        Images at a time.
    beside : bool
        Whether the windows of these images are in one matrix.
    by_line : bool
        Whether the memory of shifted copies is used as matrices, one for each element of a window along the first axis.
    """

    copies: int
    image: Shape
    room: int
    strides: Shape
    fills: tuple[tuple[tuple[int | slice, ...], slice], ...]
    rows: int
    columns: Shape
    runs: Shape
    straight: bool
    together: int
    beside: bool
    by_line: bool
    blocks: tuple[WindowBlock, ...]


def _axis(geometry: Geometry) -> tuple[tuple[int, slice, slice], ...]:
    """Return the elements of a window along the last axis, their positions on the image, and in rows of windows."""
    g = geometry
    last = Geometry(g.size[-1:], g.ksize[-1:], g.stride[-1:], g.pad[-1:], g.dilate[-1:], g.out[-1:])
    return tuple((number, image[2], window[2]) for (number,), image, window in elements(last))


def _pieces(length: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield start and stop of pieces of nearly the same size."""
    count = -(-length // most)
    for i in range(count):
        yield length * i // count, length * (i + 1) // count


def _blocks(out: Shape, columns: int, most: int) -> Iterator[WindowBlock]:
    """Yield blocks of matrices with up to `columns` columns each, and up to `most` in all."""
    axis = next(i for i in range(len(out)) if i == len(out) - 1 or math.prod(out[i + 1 :]) <= columns)
    length, rest = out[axis], math.prod(out[axis + 1 :])
    step = min(length, max(1, columns // rest))
    step = next((n for n in range(step, step // 2, -1) if not length % n), step)
    behind = (slice(None),) * (len(out) - axis - 1)
    for lead in np.ndindex(out[:axis]):
        first = int(np.ravel_multi_index(lead, out[:axis])) * length if lead else 0
        whole = length // step
        pieces = [(a * step, b * step, b - a) for a, b in _pieces(whole, max(1, most // (step * rest)))]
        if whole * step < length:
            pieces.append((whole * step, length, 1))
        for a, b, count in pieces:
            yield WindowBlock((..., *lead, slice(a, b), *behind), count, (first + a) * rest, (first + b) * rest)


def _is_sheared(g: Geometry, channels: int, each: int, filters: int, itemsize: int) -> bool:
    """Return whether shifted copies of an image are worth it."""
    if g.ndim == 1 or g.ksize[-1] == 1 or g.out[-1] > MAX_SHEARED:
        return False
    if filters < MIN_FILTERS or each * g.ksize[-1] < MIN_SHEARED:
        return False
    return g.ksize[-1] * channels * math.prod(g.size[:-1]) * g.out[-1] * itemsize <= MAX_COPIES


def _cut(
    g: Geometry, runs: Shape, groups: int, rows: int, filters: int, itemsize: int, use: Use, lines: int, room: int
) -> tuple[int, bool, bool, tuple[WindowBlock, ...]]:  # fmt: skip
    """Return `together`, `beside`, `by_line` and the blocks of a layout.

    `lines` are the channels of all copies, and `room` the elements of each if they are shifted, else 0.
    """
    count, many = math.prod(runs), rows * filters * itemsize > CACHED
    held = (rows + filters if use == "sum" else rows) * groups + lines  # elements for each window, about
    most = max(LONG if many else MIN_COLUMNS, CACHED // (held * itemsize))
    beside = use == "sum" or count < (LONG if many else MIN_COLUMNS)
    by_line = room and use == "multiply" and not beside and groups == 1 and g.ndim == 2 and g.stride[0] == 1
    if by_line and lines >= MIN_LINE and filters <= 2 * lines:
        together = max(1, CACHED // (2 * lines * room * itemsize))
        best = max(SMALL_PRODUCT // (lines * filters), 4 * MIN_COLUMNS)
        return together, False, True, tuple(_blocks((count,), best, together * count))
    best = min(SMALL_PRODUCT // (rows * filters), CACHED // 2 // (rows * itemsize))
    if beside or filters < MIN_FILTERS or best < MIN_COLUMNS:
        best = most
    return max(1, most // count), beside, False, tuple(_blocks(runs, best, most))


@functools.lru_cache(256)
def layout(geometry: Geometry, channels: int, groups: int, itemsize: int, filters: int, use: Use) -> PatchLayout:
    """Return the layout for products with this number of filters in each group."""
    g, each = geometry, channels // groups
    padded = tuple(n + p + b for n, p, b in zip(g.size, g.pad, g.behind, strict=True))
    inside = tuple(slice(p, p + n) for n, p in zip(g.size, g.pad, strict=True))
    copies, image, columns = 1, padded, g.out
    fills: tuple[tuple[tuple[int | slice, ...], slice], ...] = (((0, slice(None), *inside), slice(None)),)
    sheared = _is_sheared(g, channels, each, filters, itemsize) and use != "add"
    if sheared:
        copies, image = g.ksize[-1], (*padded[:-1], g.out[-1])
        fills = tuple(((number, slice(None), *inside[:-1], to), of) for number, of, to in _axis(g))
    lines = (g.out[0], *padded[1:])
    few = math.prod(lines) <= MAX_SURPLUS * math.prod(g.out)
    straight = not sheared and set(g.stride) == {1} and few
    steps = [math.prod(image[i + 1 :]) for i in range(g.ndim)]
    window = [d * step for d, step in zip(g.dilate, steps, strict=True)]
    runs, room = [s * step for s, step in zip(g.stride, steps, strict=True)], math.prod(image)
    if straight:
        columns, runs = lines, [1]
        room = max(room, sum(s * (k - 1) for s, k in zip(window, g.ksize, strict=True)) + math.prod(lines))
    if sheared:
        window[-1], runs[-1] = channels * room, 1
    rows, cut = each * math.prod(g.ksize), (math.prod(columns),) if straight else columns
    together, beside, by_line, blocks = _cut(
        g, cut, groups, rows, filters, itemsize, use, copies * channels, room if sheared else 0
    )
    return PatchLayout(
        copies=copies,
        image=image,
        room=room,
        strides=tuple(n * itemsize for n in (each * room, *window, room, *runs)),
        fills=fills,
        rows=rows,
        columns=columns,
        runs=cut,
        straight=straight,
        together=together,
        beside=beside,
        by_line=by_line,
        blocks=blocks,
    )


class Patches:
    """Padded copies of a few images, and matrices of their windows, a block at a time.

    Attributes
    ----------
    together : int
        Images at a time.
    beside : bool
        Whether the windows of these images are in one matrix.
    fills : list
        Parts of an image, and views that they are copied to; with "add", a single view for the whole image.
    parts : list
        Views of the windows of each block, memory of the same shape, and this memory as matrices.

    Parameters
    ----------
    geometry : Geometry
    shape : tuple of int
        Shape (N, C, *geometry.size) of all images.
    groups, filters : int
        Numbers of groups, and of filters in each.
    dtype : dtype
    use : "multiply", "sum" or "add"
    """

    def __init__(self, geometry: Geometry, shape: Shape, groups: int, filters: int, dtype: Dtype, use: Use) -> None:
        found = self.layout = layout(geometry, shape[1], groups, dtype.itemsize, filters, use)
        self.together, self.groups, self.beside = min(found.together, shape[0]), groups, found.beside
        self.memory = np.zeros((self.together, found.copies, shape[1], found.room), dtype)
        image = self.memory[..., : math.prod(found.image)]
        self.image = image.reshape((*self.memory.shape[:3], *found.image))
        self.windows: Array = np.ndarray(
            (self.together, groups, *geometry.ksize, shape[1] // groups, *found.runs),
            dtype,
            self.memory,
            0,
            (self.memory.strides[0], *found.strides),
        )
        self.gapped: Array = np.empty((0, 0))
        self.within: tuple[Any, ...] = (..., *[slice(n) for n in geometry.out])
        self._y: Array = None
        self._columns: list[Array] = []
        self.axes = geometry.ndim + 3  # before the axes of `geometry.out`
        self.dilate = geometry.dilate[0]
        most = 0 if found.by_line else max((block.stop - block.start for block in found.blocks), default=0)
        self.matrices = np.empty(self.together * groups * found.rows * most, dtype)
        self._prepare(self.together)
        lead = (slice(None),) * (1 if self.beside else 3)
        self.numbers = [(*lead, *number) for number in np.ndindex(geometry.ksize)] if use == "add" else []

    def _prepare(self, images: int) -> None:
        """Set the views that are used for this number of images."""
        self.fills = [((..., source), self.image[(slice(images), *to)]) for to, source in self.layout.fills]
        self.parts = [] if self.layout.by_line else self._parts(images)
        self.lines = [self._lines(block, images) for block in self.layout.blocks] if self.layout.by_line else []

    def _lines(self, block: WindowBlock, images: int) -> Array:
        """Return the matrices for each element of a window along the first axis, which overlap in memory."""
        _, copies, channels, room = self.memory.shape
        item, width, columns = self.memory.itemsize, self.layout.image[-1], (block.stop - block.start) // block.count
        return np.ndarray(
            (self.layout.rows // (copies * channels), images, 1, block.count, copies * channels, columns),
            self.memory.dtype,
            self.memory,
            block.start * item,
            (self.dilate * width * item, self.memory.strides[0], 0, columns * item, room * item, item),
        )

    def _parts(self, images: int) -> list[tuple[Array, Array, Array]]:
        """Return for each block its windows, memory of the same shape, and this memory as matrices."""
        parts = []
        for block in self.layout.blocks:
            source = self.windows[:images][block.where]
            if self.beside:
                source = source.transpose((*range(1, self.axes), 0, *range(self.axes, source.ndim)))
                shape: Shape = (self.groups, self.layout.rows, images * (block.stop - block.start))
            else:
                columns = (block.stop - block.start) // block.count
                apart = (block.count, source.shape[self.axes] // block.count)
                source = source.reshape((*source.shape[: self.axes], *apart, *source.shape[self.axes + 1 :]))
                source = source.transpose((0, 1, self.axes, *range(2, self.axes), *range(self.axes + 1, source.ndim)))
                shape = (images, self.groups, block.count, self.layout.rows, columns)
            memory = self.matrices[: source.size]
            parts.append((source, memory.reshape(source.shape), memory.reshape(shape)))
        return parts

    def chunks(self, count: int) -> Iterator[slice]:
        """Yield the positions of images that are done together."""
        for start in range(0, count, self.together):
            stop = min(start + self.together, count)
            if stop - start < self.together:
                self._prepare(stop - start)
            yield slice(start, stop)

    def fill(self, images: Array) -> None:
        """Copy a chunk of images."""
        for source, into in self.fills:
            into[...] = images[source]

    def of(self, images: Array) -> Iterator[Array]:
        """Yield the matrices of each block of windows on a chunk of images, which the next matrices overwrite."""
        self.fill(images)
        for windows, copied, matrices in self.parts:
            copied[...] = windows
            yield matrices

    def by_line(self, images: Array, filters: Array, y: Array, spare: Array) -> None:
        """Write the products of windows and `filters`, one matrix for each line of a window, to `y`."""
        self.fill(images)
        for number, matrix in enumerate(filters):
            for lines, columns in zip(self.lines, self._of_blocks(spare if number else y), strict=True):
                np.matmul(matrix, lines[number], out=columns)
            if number:
                y += spare

    def columns(self, y: Array) -> list[Array]:
        """Return for each block a view of one element for each window in the columns of its matrices.

        `y` is contiguous, with shape (channels, images, *layout.columns) if `beside`, else (images, channels, ...).
        """
        if y is not self._y:
            self._y, self._columns = y, self._of_blocks(y)
        return self._columns

    def _of_blocks(self, y: Array) -> list[Array]:
        if self.beside:  # all windows of several images, or part of the windows of one image
            rows = y.reshape((self.groups, y.shape[0] // self.groups, y.shape[1], -1))
            parts = [rows[..., block.start : block.stop] for block in self.layout.blocks]
            return [part.reshape((*part.shape[:2], -1)) for part in parts]
        rows = y.reshape((y.shape[0], self.groups, y.shape[1] // self.groups, -1))
        pairs = [(rows[..., block.start : block.stop], block.count) for block in self.layout.blocks]
        return [part.reshape((*part.shape[:3], count, -1)).swapaxes(2, 3) for part, count in pairs]

    def given(self, y: Array) -> Array:
        """Return elements for windows in the shape that `columns` takes, with zeros for superfluous columns."""
        y = y.swapaxes(0, 1) if self.beside else y
        if not self.layout.straight:
            return np.ascontiguousarray(y, self.memory.dtype)
        if self.gapped.shape[:2] != y.shape[:2]:
            self.gapped = np.zeros((*y.shape[:2], *self.layout.columns), self.memory.dtype)
        self.gapped[self.within] = y
        return self.gapped
