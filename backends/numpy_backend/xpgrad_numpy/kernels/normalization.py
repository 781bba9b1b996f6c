"""Normalization in few passes, over blocks of rows that stay in the cache between passes."""

import math
from collections.abc import Iterator

import numpy as np

from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.precision import is_half

Axes = tuple[int, ...]

CACHED = 2**17  # elements of a block of rows
_add: Kernel = np.add.reduce


def _blocks(shape: tuple[int, ...], axis: Axes) -> Iterator[slice]:
    """Yield blocks of rows if each row is normalized separately, else all rows at once."""
    if len(shape) != 2 or axis != (1,):
        yield slice(None)
        return
    step = max(1, CACHED // max(shape[1], 1))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


def _count(x: Array, axis: Axes) -> int:
    return math.prod(x.shape[a] for a in axis)


def moments(x: Array, /, axis: Axes) -> tuple[Array, Array]:
    """Return mean and variance over `axis`, which is kept with length 1."""
    if is_half(x.dtype):  # whose sum of squares overflows
        mean, var = moments(x.astype(np.float32), axis)
        return mean.astype(x.dtype), var.astype(x.dtype)
    count = _count(x, axis)
    if not count or x.dtype.char not in "fd":
        return np.mean(x, axis=axis, keepdims=True), np.var(x, axis=axis, keepdims=True)
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
    mean, var = np.empty(shape, x.dtype), np.empty(shape, x.dtype)
    for rows in _blocks(x.shape, axis):
        _add(x[rows], axis, None, mean[rows], True)
        mean[rows] /= count
        centred = x[rows] - mean[rows]
        centred *= centred
        _add(centred, axis, None, var[rows], True)
    var /= count
    return mean, var


def standardize(x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse`` in one new array."""
    y = np.empty(x.shape, np.result_type(x, mean, inverse))
    for rows in _blocks(x.shape, axis):
        part = np.subtract(x[rows], mean[rows], out=y[rows])
        part *= inverse[rows]
    return y


def standardize_backward(g: Array, direction: Array, scale: Array, /, axis: Axes) -> Array:
    """Return ``(g - mean(g) - direction * mean(g * direction)) * scale``."""
    count, wide = _count(g, axis) or 1, np.float32 if is_half(g.dtype) else None
    y = np.empty(g.shape, np.result_type(g, direction, scale))
    for rows in _blocks(g.shape, axis):
        given, along, factor = g[rows], direction[rows], scale[rows]
        part = np.multiply(given, along, out=y[rows])
        share = _add(part, axis, wide, None, True) / count
        mean = _add(given, axis, wide, None, True) / count
        np.multiply(along, share, out=part)
        np.subtract(given, part, out=part)
        part -= mean
        part *= factor
    return y


def scale_and_shift(x: Array, gamma: Array, beta: Array, /) -> Array:
    """Return ``x * gamma + beta``, `beta` added in place if shape and dtype allow it."""
    y = np.multiply(x, gamma)
    if y.ndim and np.result_type(y, beta) == y.dtype and np.broadcast_shapes(y.shape, beta.shape) == y.shape:
        return np.add(y, beta, out=y)
    return y + beta


NORMALIZATION: dict[str, Kernel] = {
    "moments": moments,
    "standardize": standardize,
    "standardize_backward": standardize_backward,
    "scale_and_shift": scale_and_shift,
}
