"""Normalization of each channel over a batch of images, by the kernels of rows: a row is a channel of an image.

NumPy's sums over images and positions add the sums of rows, image by image, if `x` has several channels. Groups of
channels, normalized in each image, are images of shape (N, groups, channels of a group, positions).
"""

import math
from typing import Any

import numpy as np

from xpgrad.types import Array, Shape
from xpgrad_numpy.kernels.rows import LARGE, run

_add: Any = np.add.reduce
Axes = tuple[int, ...]
SHORTEST = 16  # elements of a channel from which those of groups are worth it


def suits(x: Array, axis: Axes) -> bool:
    """Return whether `axis` contains all axes except axis 1, which has several channels."""
    return x.ndim > 2 and axis == (0, *range(2, x.ndim)) and x.shape[1] > 1


def grouped(x: Array, axis: Axes, gamma: Shape) -> bool:
    """Return whether `x` has groups of channels, not too small, and factors of the shape `gamma` for each channel."""
    shape = x.shape
    if x.ndim != 4 or axis != (2, 3) or x.size < LARGE or shape[3] < SHORTEST:
        return False
    return gamma == (1, *shape[1:3], 1)


def _ungrouped(x: Array, *others: Array) -> list[Array]:
    """Return groups of channels as channels, and numbers for each group or channel as numbers for each of all."""
    n, groups, size, positions = x.shape
    spread = [np.broadcast_to(a, (n, groups, size, 1)) for a in others]
    return [x.reshape(n, -1, positions), *(np.ascontiguousarray(a).reshape(n, -1, 1) for a in spread)]


def total(x: Array, axis: Axes, apart: bool = False) -> Array:
    """Return sums over `axis`, which stays with length 1; `apart`, over its last one first."""
    if apart:
        x, axis = _add(x, axis[-1], None, None, True), axis[:-1]
    return _add(x, axis, None, None, True)


def run_rows(name: str, *arrays: Array) -> Any:
    """Return the results of a kernel whose rows are along all axes after the channels, or `NotImplemented`."""
    return run(name, arrays, tuple(range(2, arrays[0].ndim)))


def _mean(sums: Array, x: Array) -> Array:
    """Return sums of rows, added over the images, divided by the number of elements of a channel."""
    return _add(sums, 0, None, None, True) / (x.size // x.shape[1])


def moments(x: Array, axis: Axes) -> Any:
    """Return mean and variance of each channel, or `NotImplemented`."""
    if not suits(x, axis) or (sums := run_rows("row_sums", x)) is NotImplemented:
        return NotImplemented
    mean = _mean(sums, x)
    return mean, _mean(run_rows("square_sums", x, mean), x)


def normalized(x: Array, gamma: Array, beta: Array, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return ``(x - mean) * inverse * gamma + beta``, or `NotImplemented`."""
    if grouped(x, axis, gamma.shape) and beta.shape == gamma.shape:
        y = run_rows("normalized_channels", *_ungrouped(x, gamma, beta, mean, inverse))
        return NotImplemented if y is NotImplemented else y.reshape(x.shape)
    return run_rows("normalized_channels", x, gamma, beta, mean, inverse) if suits(x, axis) else NotImplemented


def normalized_x(gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradient of `normalized` for `x`, or `NotImplemented`."""
    arrays = gy, x, gamma, mean, inverse
    if grouped(x, axis, gamma.shape):
        arrays = gy.reshape(x.shape[0], -1, x.shape[3]), *_ungrouped(x, gamma, mean, inverse)
        if (sums := run_rows("projection_sums", *arrays)) is NotImplemented:
            return NotImplemented
        means = [total(each.reshape(*x.shape[:3], 1), (2,)) / math.prod(x.shape[2:]) for each in sums]
        return run_rows("projected", *arrays, *_ungrouped(x, *means)[1:]).reshape(x.shape)
    if not suits(x, axis) or (sums := run_rows("projection_sums", *arrays)) is NotImplemented:
        return NotImplemented
    return run_rows("projected", *arrays, *(_mean(each, x) for each in sums))


def normalized_gamma(gy: Array, x: Array, shape: Shape, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradient of `normalized` for factors with shape `shape`, or `NotImplemented`."""
    if grouped(x, axis, shape):
        x, mean, inverse = _ungrouped(x, mean, inverse)
        gy = gy.reshape(x.shape)
    elif not suits(x, axis) or math.prod(shape) != x.shape[1]:
        return NotImplemented
    sums = run_rows("gamma_sums", gy, x, mean, inverse)
    return NotImplemented if sums is NotImplemented else _add(sums, 0).reshape(shape)


def scale_and_shift(x: Array, gamma: Array, beta: Array) -> Any:
    """Return ``x * gamma + beta`` for factors and summands of channels, or `NotImplemented`."""
    return run_rows("scale_and_shift", x, gamma, beta) if x.ndim > 2 else NotImplemented


def scaled(gy: Array, gamma: Array) -> Any:
    """Return ``gy * gamma`` for factors of channels, or `NotImplemented`."""
    return run_rows("scaled", gy, gamma) if gy.ndim > 2 else NotImplemented
