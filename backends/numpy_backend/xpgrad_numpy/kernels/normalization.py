"""Normalization in few passes, over blocks that stay in the cache between passes."""

import math
from typing import Any

import numpy as np

from xpgrad.plugin import Spec, threads
from xpgrad.types import Array, Kernel
from xpgrad_numpy.aligned import scratch
from xpgrad_numpy.blocks import Index, blocks, in_order
from xpgrad_numpy.buffers import on_rows
from xpgrad_numpy.kernels import channels
from xpgrad_numpy.kernels.rows import SHARED, compiled, reshaped, run
from xpgrad_numpy.kernels.statistical import sum_to

Axes = tuple[int, ...]

_add: Kernel = np.add.reduce


def _count(x: Array, axis: Axes) -> int:
    return math.prod(x.shape[a] for a in axis)


@compiled
def moments(x: Array, /, axis: Axes) -> tuple[Array, Array]:
    """Return mean and variance over `axis`, which is kept with length 1."""
    found: tuple[Array, Array] = channels.moments(x, axis)
    if found is not NotImplemented:
        return found
    count = _count(x, axis)
    if not count or x.dtype.char not in "fd":
        return np.mean(x, axis=axis, keepdims=True), np.var(x, axis=axis, keepdims=True)
    shape = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
    mean, var = np.empty(shape, x.dtype), np.empty(shape, x.dtype)
    parts = blocks(x, axis)
    memory = scratch(x.dtype, len(parts))
    with on_rows(x, axis):
        for part in parts:
            block = x[part]
            _add(block, axis, None, mean[part], True)
            mean[part] /= count
            centred = np.subtract(block, mean[part], out=memory(block.shape))
            centred *= centred
            _add(centred, axis, None, var[part], True)
    var /= count
    return mean, var


@compiled
def standardize(x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse`` in one new array."""
    y = np.empty(x.shape, np.result_type(x, mean, inverse))
    parts = blocks(x, axis)
    memory = scratch(y.dtype, len(parts))
    with on_rows(x, axis):
        for part in parts:
            to = y[part]
            centred = np.subtract(x[part], mean[part], out=memory(to.shape, to))
            np.multiply(centred, inverse[part], out=to)
    return y


@compiled
def standardize_backward(g: Array, direction: Array, scale: Array, /, axis: Axes) -> Array:
    """Return ``(g - mean(g) - direction * mean(g * direction)) * scale``."""
    y = np.empty(g.shape, np.result_type(g, direction, scale))
    parts = blocks(g, axis)
    memory = scratch(y.dtype, len(parts))
    with on_rows(g, axis):
        for part in parts:
            project(g[part], direction[part], scale[part], axis, y[part], memory(y[part].shape))
    return y


def project(
    g: Array, direction: Array, scale: Array, axis: Axes, out: Array, memory: Array | None = None, apart: bool = False
) -> None:
    """Write the gradient of `standardize` to `out`; `out` and `memory`, for temporaries, alias no other argument.

    With `apart`, sums are over the last axis first.
    """
    count = _count(g, axis) or 1
    y = np.multiply(g, direction, out=out if memory is None else memory)
    share = channels.total(y, axis, apart) / count
    mean = channels.total(g, axis, apart) / count
    np.multiply(direction, share, out=y)
    np.subtract(g, y, out=y)
    y -= mean
    np.multiply(y, scale, out=out)


def _part(feature: Array, part: Index) -> Array:
    """Return the part of `feature` that broadcasts with a block of the array that `feature` broadcasts with."""
    return feature if not part or feature.shape[len(part) - 1] == 1 else feature[part]


def _aligned(feature: Array, ndim: int) -> Array:
    return feature if feature.ndim == ndim else feature.reshape((1,) * (ndim - feature.ndim) + feature.shape)


def alike(x: Array, *others: Array) -> bool:
    """Return whether arrays have one dtype."""
    return all(other.dtype == x.dtype for other in others)


@compiled
def normalized(
    x: Array, gamma: Array, beta: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float
) -> Array:  # fmt: skip
    """Return ``(x - mean) * inverse * gamma + beta`` in one new array."""
    found = channels.normalized(x, gamma, beta, mean, inverse, axis)
    if found is not NotImplemented:
        return found
    if not alike(x, gamma, beta, mean, inverse):
        return scale_and_shift(standardize(x, mean, inverse, axis, eps), gamma, beta)
    y = np.empty(x.shape, x.dtype)
    gamma, beta = _aligned(gamma, x.ndim), _aligned(beta, x.ndim)
    parts = blocks(x, axis)
    memory = scratch(x.dtype, len(parts))
    with on_rows(x, axis):
        for part in parts:
            to = y[part]
            scaled = np.subtract(x[part], mean[part], out=memory(to.shape, to))
            scaled *= inverse[part]
            scaled *= _part(gamma, part)
            np.add(scaled, _part(beta, part), out=to)
    return y


@compiled
def normalized_x(
    gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes, eps: float, /
) -> Array:  # fmt: skip
    """Return the gradient of `normalized` for `x` in one new array."""
    found = channels.normalized_x(gy, x, gamma, mean, inverse, axis)
    if found is not NotImplemented:
        return found
    if not alike(x, gy, gamma, mean, inverse):
        return NotImplemented
    gx, apart = np.empty(x.shape, x.dtype), channels.grouped(x, axis, gamma.shape)
    gamma = _aligned(gamma, x.ndim)
    parts = blocks(x, axis)
    directions, cotangents, memory = (scratch(x.dtype, len(parts)) for _ in range(3))
    with on_rows(x, axis):
        for part in parts:
            block, scale = x[part], inverse[part]
            direction = np.subtract(block, mean[part], out=directions(block.shape))
            direction *= scale
            g = np.multiply(gy[part], _part(gamma, part), out=cotangents(block.shape))
            project(g, direction, scale, axis, gx[part], memory(block.shape), apart)
    return gx


def normalized_backward(
    g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float
) -> Array:
    """Return what `normalized_x` does, for arrays of any dtypes."""
    gx = normalized_x(g, x, gamma, mean, inverse, axis, eps)
    if gx is NotImplemented:
        return standardize_backward(g * gamma, standardize(x, mean, inverse, axis, eps), inverse, axis)
    return gx


def normalized_gamma(
    gy: Array, x: Array, gamma_spec: Spec, mean: Array, inverse: Array, axis: Axes, eps: float, /
) -> Array:
    """Return the sum of the cotangent times the standardized `x`, without an array of the size of `x`."""
    each = tuple(x.shape[a] for a in axis)
    if gamma_spec.size == math.prod(each) and gamma_spec.shape[-len(axis) :] == each:
        total = run("normalized_gamma", (gy, x, mean, inverse), axis)
        if total is not NotImplemented:
            return reshaped(total, gamma_spec.shape)
    total = channels.normalized_gamma(gy, x, gamma_spec.shape, mean, inverse, axis)
    if total is not NotImplemented:
        return total
    parts = blocks(x, axis)
    if not (alike(x, gy, mean, inverse) and len(parts) > 1 and in_order(gy, x)):
        return NotImplemented
    each = (1,) * (x.ndim - len(gamma_spec.shape)) + gamma_spec.shape
    along = len(parts[0]) - 1
    if each[along] == 1 and (along or x.ndim != 2):
        return NotImplemented
    total = np.empty(each, x.dtype)
    for place, part in enumerate(parts):
        block = x[part]
        memory = np.empty((len(block) + 1, *block.shape[1:]), x.dtype)  # the first row for the sum of those before
        with on_rows(block, axis):
            product = np.subtract(block, mean[part], out=memory[1:])
            product *= inverse[part]
            product *= gy[part]
        if each[along] > 1:
            total[part] = sum_to(product, total[part].shape)
        elif place:
            memory[:1] = total
            _add(memory, 0, None, total, True)
        else:
            _add(product, 0, None, total, True)
    return reshaped(total, gamma_spec.shape)


def normalized_together(
    gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, gamma_spec: Spec, beta_spec: Spec, axis: Axes,
    eps: float, /,
) -> Any:  # fmt: skip
    """Return the gradients for `x`, `gamma` and `beta` in fewer passes over memory, or `NotImplemented`."""
    shape = gamma_spec.shape
    if beta_spec.shape != shape or gamma.shape != shape:
        return NotImplemented
    if x.ndim > 2:
        return channels.normalized_together(gy, x, gamma, mean, inverse, axis)
    if shape != x.shape[1:]:
        return NotImplemented
    if x.size < SHARED or threads() == 1:
        return run("normalized_gradients", (gy, x, gamma, mean, inverse), axis)
    sums = run("normalized_sums", (gy, x, mean, inverse), axis)
    if sums is NotImplemented:
        return NotImplemented
    gx = normalized_x(gy, x, gamma, mean, inverse, axis, eps)
    return gx if gx is NotImplemented else (gx, *sums)


def scale_and_shift(x: Array, gamma: Array, beta: Array, /) -> Array:
    """Return ``x * gamma + beta``, `beta` added in place if shape and dtype allow it."""
    found = channels.scale_and_shift(x, gamma, beta)
    if found is not NotImplemented:
        return found
    y = np.multiply(x, gamma)
    if y.ndim and np.result_type(y, beta) == y.dtype and np.broadcast_shapes(y.shape, beta.shape) == y.shape:
        return np.add(y, beta, out=y)
    return y + beta


def scale_and_shift_x(gy: Array, gamma: Array, /) -> Array:
    """Return the gradient of `scale_and_shift` for `x`."""
    found = channels.scaled(gy, gamma)
    return gy * gamma if found is NotImplemented else found


NORMALIZATION: dict[str, Kernel] = {
    "moments": moments,
    "normalized": normalized,
    "normalized_backward": normalized_backward,
    "normalized.x": normalized_x,
    "normalized.gamma": normalized_gamma,
    "normalized.together": normalized_together,
    "standardize": standardize,
    "standardize_backward": standardize_backward,
    "scale_and_shift": scale_and_shift,
    "scale_and_shift.x": scale_and_shift_x,
}
