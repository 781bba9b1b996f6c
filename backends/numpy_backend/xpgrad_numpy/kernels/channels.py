"""Normalization of each channel over a batch of images, by the kernels of rows: a row is a channel of an image.

NumPy's sums over images and positions add the sums of rows, image by image, if `x` has several channels. Groups of
channels, normalized in each image, are images of shape (N, groups, channels of a group, positions).
"""

import math
from typing import Any

import numpy as np

from xpgrad.types import Array, Shape
from xpgrad_numpy.kernels.rows import LARGE, reshaped, run

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
    return [x.reshape(x.shape[0], -1, x.shape[3]), *[_spread(x, a) for a in others]]


def _spread(x: Array, a: Array) -> Array:
    """Return numbers for each group or channel as numbers for each channel of each image, in order."""
    n, groups, size, _ = x.shape
    spread = np.empty((n, groups, size, 1), a.dtype)  # `np.broadcast_to` takes five times as long
    spread[...] = a
    return spread.reshape(n, -1, 1)


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
        return NotImplemented if y is NotImplemented else reshaped(y, x.shape)
    return run_rows("normalized_channels", x, gamma, beta, mean, inverse) if suits(x, axis) else NotImplemented


def normalized_x(gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradient of `normalized` for `x`, or `NotImplemented`."""
    found = _gradients("projection_sums", gy, x, gamma, mean, inverse, axis)
    return found if found is NotImplemented else found[0]


def normalized_together(gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradients of `normalized` for `x`, `gamma` and a `beta` of its shape, or `NotImplemented`."""
    found = _gradients("channel_sums", gy, x, gamma, mean, inverse, axis) if gamma.size > 1 else NotImplemented
    if found is NotImplemented:
        return NotImplemented
    return found[0], *(reshaped(_add(each, 0), gamma.shape) for each in found[1])


def _gradients(name: str, gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradient for `x` and further sums of the rows that the kernel `name` computes, or `NotImplemented`."""
    arrays: tuple[Array, ...] = gy, x, gamma, mean, inverse
    if grouped(x, axis, gamma.shape):
        arrays = gy.reshape(x.shape[0], -1, x.shape[3]), *_ungrouped(x, gamma, mean, inverse)
    elif not suits(x, axis):
        return NotImplemented
    sums = run_rows(name, *arrays)
    if sums is NotImplemented:
        return NotImplemented
    if arrays[1] is x:
        means = [_mean(each, x) for each in sums[:2]]
    else:
        count = math.prod(x.shape[2:])
        means = [_spread(x, total(each.reshape(*x.shape[:3], 1), (2,)) / count) for each in sums[:2]]
    return reshaped(run_rows("projected", *arrays, *means), x.shape), sums[2:]


def normalized_gamma(gy: Array, x: Array, shape: Shape, mean: Array, inverse: Array, axis: Axes) -> Any:
    """Return the gradient of `normalized` for factors with shape `shape`, or `NotImplemented`."""
    if grouped(x, axis, shape):
        x, mean, inverse = _ungrouped(x, mean, inverse)
        gy = gy.reshape(x.shape)
    elif not suits(x, axis) or math.prod(shape) != x.shape[1]:
        return NotImplemented
    sums = run_rows("gamma_sums", gy, x, mean, inverse)
    return NotImplemented if sums is NotImplemented else reshaped(_add(sums, 0), shape)


def scale_and_shift(x: Array, gamma: Array, beta: Array) -> Any:
    """Return ``x * gamma + beta`` for factors and summands of channels, or `NotImplemented`."""
    return run_rows("scale_and_shift", x, gamma, beta) if x.ndim > 2 else NotImplemented


def scaled(gy: Array, gamma: Array) -> Any:
    """Return ``gy * gamma`` for factors of channels, or `NotImplemented`."""
    return run_rows("scaled", gy, gamma) if gy.ndim > 2 else NotImplemented
