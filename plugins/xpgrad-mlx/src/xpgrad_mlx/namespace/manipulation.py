"""The standard's functions that rearrange elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array

Axis = int | tuple[int, ...]


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Return arrays joined along `axis`."""
    if axis is None:
        return mx.concatenate([x.reshape(-1) for x in arrays], 0)
    return mx.concatenate(list(arrays), axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Return arrays joined along a new axis."""
    return mx.stack(list(arrays), axis)


def reshape(x: Array, /, shape: Axis, *, copy: bool | None = None) -> Array:
    """Return `x` in another shape."""
    return mx.reshape(x, shape)


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """Return `x` repeated along new axes and axes of length 1."""
    return mx.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Return arrays broadcast to one shape."""
    return list(mx.broadcast_arrays(*arrays)) if arrays else []


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the broadcast shape of several shapes."""
    return tuple(mx.broadcast_shapes(*shapes)) if shapes else ()


def expand_dims(x: Array, /, axis: Axis = 0) -> Array:
    """Return `x` with new axes of length 1."""
    return mx.expand_dims(x, axis)


def squeeze(x: Array, /, axis: Axis) -> Array:
    """Return `x` without these axes, which have length 1."""
    return mx.squeeze(x, axis)


def flip(x: Array, /, *, axis: Axis | None = None) -> Array:
    """Return `x` in reversed order."""
    return mx.flip(x, axis)


def roll(x: Array, /, shift: Axis, *, axis: Axis | None = None) -> Array:
    """Return `x` with its elements shifted; elements past the end move to the beginning."""
    return mx.roll(x, shift, axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Return `x`, repeated as a whole."""
    return mx.tile(x, repetitions)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Return `x` with each element repeated, an array of numbers of times each."""
    if not isinstance(repeats, mx.array):
        return mx.repeat(x, repeats, axis)
    if axis is None:
        x, axis = x.reshape(-1), 0
    ends = mx.cumsum(mx.broadcast_to(repeats, (x.shape[axis],)).astype(mx.int32), 0)
    total = int(ends[-1].item()) if ends.size else 0
    return mx.take(x, mx.searchsorted(ends, mx.arange(total), side="right").astype(mx.int32), axis)


def moveaxis(x: Array, source: Axis, destination: Axis, /) -> Array:
    """Return `x` with axes moved to other places."""
    sources = [s % x.ndim for s in ((source,) if isinstance(source, int) else source)]
    targets = [d % x.ndim for d in ((destination,) if isinstance(destination, int) else destination)]
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for target, moved in sorted(zip(targets, sources, strict=True)):
        order.insert(target, moved)
    return mx.transpose(x, order)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of `x` along `axis`."""
    return tuple(mx.unstack(x, axis=axis))
