"""Convolutions by direct loops in C, in place of products of matrices, where these loops are faster and compiled."""

import ctypes
import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from xpgrad.plugin import Geometry
from xpgrad.types import Array, Dtype
from xpgrad_numpy.kernels import sources
from xpgrad_numpy.kernels.sources import INT, LONG, POINTER, function, in_threads

WORTH = 2**19  # multiplications below which loading the library takes longer than it saves
MAX_CHUNKS = 16  # of images, whose sums are added in their order whatever the number of threads
VECTOR = 32  # bytes; twice as many where rows of windows fill them, and the processor has such vectors
MAX_SUMS = 2**21  # bytes of a thread's sums for the gradient of the filters
MIN_WIDTH, MIN_SUMMED = 6, 12  # windows in a row, below which too much of a vector is wasted
MAX_WASTE = 1.2  # ratio of computed to needed windows for the gradient of the filters
FIELDS = (
    *("groups", "channels", "outs", "height", "width", "pad_y", "pad_x", "step_y", "step_x", "rows", "part"),
    *("y_plane", "y_row", "y_column", "elements", "phases", "image", "channel", "row", "column"),
    *("g_image", "g_channel", "g_row", "g_column", "count", "chunks"),
)


class Shape(ctypes.Structure):
    """What the loops must know of the images and the outputs; strides are those of elements."""

    _fields_ = tuple((name, LONG) for name in FIELDS)


class Loops:
    """The functions of a library.

    Parameters
    ----------
    library : Library
    width : int
        Bytes of its vectors.
    """

    def __init__(self, library: Any, width: int) -> None:
        self.width, self.wide = width, bool(function(library, "wide", INT)())
        self.pack = function(library, "pack", None, POINTER, LONG, LONG, LONG, POINTER)
        self.convolve = function(library, "convolve", INT, *[POINTER] * 7, LONG, LONG)
        self.filter_backward = function(library, "filter_backward", INT, *[POINTER] * 6, LONG, LONG)


@functools.cache
def loops(dtype: Dtype, width: int = VECTOR) -> Loops | None:
    """Return the functions for numbers of a dtype, or None; a process decides once."""
    library = sources.loaded("direct", **_constants(dtype.itemsize, width))
    return None if library is None else Loops(library, width)


def _constants(itemsize: int, width: int) -> dict[str, int]:
    return {"BYTES": itemsize} if width == VECTOR else {"BYTES": itemsize, "WIDTH": width}


def loops_for(dtype: Dtype, windows: int) -> Loops | None:
    """Return the functions for so many windows in a row, with the wider vectors if they save a quarter of all."""
    found, lanes = loops(dtype), VECTOR // dtype.itemsize
    if found is None or not found.wide or 4 * -(-windows // (2 * lanes)) > 3 * -(-windows // lanes):
        return found
    return loops(dtype, 2 * VECTOR) or found


class Layout(NamedTuple):
    """How images of one shape are copied, and where the elements of windows are in the copy.

    Attributes
    ----------
    fields : tuple of int
        Of `Shape`, from "pad_y" to "part", and from "y_plane" to "phases".
    phases, places : array of int
    elements : list of list of int
        Of a window, for each phase.
    """

    fields: tuple[tuple[int, ...], tuple[int, ...]]
    phases: Array
    places: Array
    elements: list[list[int]]


def _phases(g: Geometry, axis: int, transposed: bool) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """Return first output, number of outputs, and elements of a window with their distance from each output.

    In a transpose, outputs with one remainder by the stride have the same elements.
    """
    n, k, s, d = g.size[axis], g.ksize[axis], g.stride[axis], g.dilate[axis]
    if not transposed:
        return [(0, g.out[axis], [(i, d * i) for i in range(k)])]
    found = []
    for start in range(min(s, n)):
        at = start + g.pad[axis]
        found.append((start, -(-(n - start) // s), [(i, (at - d * i) // s) for i in range(k) if not (at - d * i) % s]))
    return found


@functools.lru_cache(256)
def layout(g: Geometry, lanes: int, transposed: bool) -> Layout:
    """Return the layout for windows on images, or for the images to which the outputs are added."""
    axes = [_phases(g, axis, transposed) for axis in (0, 1)]
    steps = (1, 1) if transposed else g.stride
    places = [[at for _, _, found in axis for _, at in found] or [0] for axis in axes]
    pads = [max(0, -min(at)) for at in places] if transposed else g.pad
    counts = [max(count for _, count, _ in axis) for axis in axes]
    rows, columns = (
        step * (count - 1) + max(0, max(at) + (pad if transposed else 0)) + 1
        for step, count, at, pad in zip(steps, counts, places, pads, strict=True)
    )
    part = (-(-columns // steps[1]) + lanes - 1) // lanes * lanes + lanes
    phases, elements = [], []
    at: list[int] = []
    width = g.size[1] if transposed else g.out[1]
    for (top, height, ys), (left, count, xs) in itertools.product(*axes):
        phases.append((len(ys) * len(xs), len(at), height, count, top * width + left))
        elements.append([i * g.ksize[1] + j for i, _ in ys for j, _ in xs])
        for (_, y), (_, x) in itertools.product(ys, xs):
            y, x = (y + pads[0], x + pads[1]) if transposed else (y, x)
            at.append((y * steps[1] + x % steps[1]) * part + x // steps[1])
    size, apart = (g.size, g.stride) if transposed else (g.out, (1, 1))
    fields = (*pads, *steps, rows, part), (math.prod(size), apart[0] * width, apart[1], math.prod(g.ksize), len(phases))
    return Layout(fields, np.array(phases, LONG), np.array(at, LONG), elements)


def suits(x: Array, outs: int, dtype: Dtype, geometry: Geometry, groups: int, *others: Array | None) -> bool:
    """Return whether the loops take a convolution, by its shapes alone, in arrays of one dtype.

    Windows that do not overlap are left to products of matrices, which then need no copies or sums of elements.
    """
    g = geometry
    return (
        g.ndim == 2
        and any(k > s for k, s in zip(g.ksize, g.stride, strict=True))
        and dtype.char in "fd"
        and g.out[1] >= MIN_WIDTH
        and x.size * outs * math.prod(g.ksize) >= WORTH * groups * math.prod(g.stride)
        and all(a is None or (a.dtype == dtype and a.flags.aligned) for a in (x, *others))
    )


def _shape(x: Array, found: Layout, groups: int, outs: int, g: Array | None = None, chunks: int = 0) -> Shape:
    strides = [n // x.itemsize for n in (*x.strides, *((0,) * 4 if g is None else g.strides))]
    count, channels, *size = x.shape
    return Shape(groups, channels // groups, outs, *size, *found.fields[0], *found.fields[1], *strides, count, chunks)


def _convolved(x: Array, W: Array, b: Array | None, geometry: Geometry, groups: int, transposed: bool) -> Any:
    """Return sums of products with filters of shape (groups, outs, channels, elements of a window)."""
    windows = -(-geometry.size[1] // geometry.stride[1]) if transposed else geometry.out[1]
    functions = loops_for(x.dtype, windows)
    if functions is None:
        return NotImplemented
    outs, found = W.shape[1], layout(geometry, functions.width // x.itemsize, transposed)
    packed, b, place = np.empty(W.size, W.dtype), None if b is None else np.ascontiguousarray(b), 0
    for elements in found.elements:
        part = np.ascontiguousarray(W if len(found.elements) == 1 and not transposed else W[..., elements])
        functions.pack(part.ctypes.data, groups, outs, math.prod(part.shape[2:]), packed[place:].ctypes.data)
        place += part.size
    y = np.empty((len(x), groups * outs, *(geometry.size if transposed else geometry.out)), x.dtype)
    shape, arrays = _shape(x, found, groups, outs), (found.phases, found.places, x, packed, b, y)
    addresses = [None if a is None else a.ctypes.data for a in arrays]
    in_threads(functions.convolve, len(x) * groups, ctypes.addressof(shape), *addresses)
    return y


def convolution(x: Array, W: Array, b: Array | None, geometry: Geometry, groups: int) -> Any:
    """Return the products of windows and filters, or `NotImplemented`."""
    if not suits(x, W.shape[0], x.dtype, geometry, groups, W, b):
        return NotImplemented
    return _convolved(x, W.reshape(groups, -1, W.shape[1], math.prod(W.shape[2:])), b, geometry, groups, False)


def transposed_convolution(x: Array, W: Array, b: Array | None, geometry: Geometry, groups: int) -> Any:
    """Return images on which filters are added in their windows, or `NotImplemented`."""
    if not suits(x, W.shape[1] * groups, x.dtype, geometry, groups, W, b):
        return NotImplemented
    filters = W.reshape(groups, -1, W.shape[1], math.prod(W.shape[2:])).swapaxes(1, 2)
    return _convolved(x, filters, b, geometry, groups, True)


def convolution_filter_backward(x: Array, g: Array, geometry: Geometry, groups: int) -> Any:
    """Return the sums over batch and windows of windows times `g`, or `NotImplemented`."""
    size, width = (g.shape[1], x.shape[1] // groups, *geometry.ksize), geometry.out[-1]
    if width < MIN_SUMMED or not suits(x, g.shape[1], x.dtype, geometry, groups, g):
        return NotImplemented
    functions = loops_for(x.dtype, width)
    if functions is None:
        return NotImplemented
    lanes = functions.width // x.itemsize
    if functions.width * math.prod(size) > MAX_SUMS or -(-width // lanes) * lanes > MAX_WASTE * width:
        return NotImplemented
    parts, found = np.empty((min(len(x), MAX_CHUNKS), *size), x.dtype), layout(geometry, lanes, False)
    shape = _shape(x, found, groups, g.shape[1] // groups, g, len(parts))
    addresses = [a.ctypes.data for a in (found.phases, found.places, x, g, parts)]
    in_threads(functions.filter_backward, len(parts), ctypes.addressof(shape), *addresses)
    return np.add.reduce(parts, 0)


def build() -> bool:
    """Compile the libraries; return whether that was possible."""
    return sources.build("direct", *[_constants(size, width) for size in (4, 8) for width in (VECTOR, 2 * VECTOR)])
