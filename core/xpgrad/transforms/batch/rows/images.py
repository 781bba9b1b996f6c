"""Convolution and pooling: the batch is folded into the axis of images, or into their channels.

Filters that differ between batch elements use a convolution with groups: a group for the channels of each element.
Where only one operand differs between batch elements, they are outputs or inputs of one convolution.
"""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.backend.geometry import Geometry
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching, Later
from xpgrad.transforms.batch.rows.table import Row, row
from xpgrad.types import Array


def _flat(b: Batching, x: Array) -> Array:
    """Return batched images as one batch of images: from shape (B, N, ...) to (B * N, ...)."""
    shape = x.shape
    return b.shaped(x, (shape[0] * shape[1], *shape[2:]))


def _unflat(b: Batching, y: Array) -> Array:
    """Return the images of one batch as images of elements: from shape (B * N, ...) to (B, N, ...)."""
    return b.made(b.shaped(y, (b.size, y.shape[0] // b.size, *y.shape[1:])))


def _of_any_size(rule: Row) -> Row:
    """Return the row for batches of any size: an empty one has the shape of the result for zeros."""

    @functools.wraps(rule)
    def computed(b: Batching, function: Callable[..., Any], /, *operands: Any, **options: Any) -> Any:
        if b.size:
            return rule(b, function, *operands, **options)
        arrays = [
            None if x is None else b.xp.sum(x.values, axis=0, dtype=x.dtype) if x.batched else x.values
            for x in operands
        ]
        return b.made(b.front(b.same(b.base.restore(function(*arrays, **options)))))

    return computed


@row("windows", "fold", "sum_pool", "unpool", "max_pool", "max_pool_argmax", "max_pool_backward", "max_pool_gather",
     "max_unpool", "max_unpool_backward")  # fmt: skip
@_of_any_size
def of_images(b: Batching, function: Callable[..., Any], /, *images: Any, **options: Any) -> Any:
    """Return the result of a function of images, applied to the images of all batch elements."""
    return _unflat(b, function(*[_flat(b, b.front(x)) for x in images], **options))


def _regrouped(
    b: Batching, x: Array, ndim: int, split: tuple[int, ...], order: tuple[int, ...], merged: tuple[int, ...]
) -> Array:
    """Return images or filters with their first axes `split`, permuted and `merged`, except the last `ndim` axes."""
    rest = tuple(x.shape[len(x.shape) - ndim :])
    count = len(split)
    x = b.permuted(b.shaped(x, (*split, *rest)), (*order, *range(count, count + ndim)))
    return b.shaped(x, (*merged, *rest))


def _in_channels(b: Batching, x: Array, ndim: int) -> Array:
    """Return batched images with the channels of the batch in one image: from (B, N, C, ...) to (N, B * C, ...)."""
    size, n, c = x.shape[:3]
    return _regrouped(b, x, ndim, (size, n, c), (1, 0, 2), (n, size * c))


def _from_channels(b: Batching, y: Array, ndim: int, groups: int) -> Array:
    """Return the images of batch elements, whose channels are consecutive in each of the `groups` of `y`."""
    n, size, c = y.shape[0], b.size, y.shape[1] // (groups * b.size)
    return b.made(_regrouped(b, y, ndim, (n, groups, size, c), (2, 0, 1, 3), (size, n, groups * c)))


def _biased(b: Batching, y: BatchArray, bias: Any) -> Array:
    """Return images with a number added to each channel."""
    if bias is None:
        return y
    lead = (b.size, 1) if bias.batched else (1,)
    ones = (1,) * (y.ndim - 2)
    return b.made(b.xp.add(y.values, b.shaped(bias.values, (*lead, bias.shape[0], *ones))))


def _with_filters(transposed: bool) -> Row:
    """Return the row of convolutions of images with filters, or of sums of filters in the windows of images."""

    @_of_any_size
    def convolved(
        b: Batching, function: Callable[..., Any], x: Any, W: Any, bias: Any, /, geometry: Geometry, groups: int
    ) -> Any:
        size, ndim, filters = b.size, geometry.ndim, W.values
        if not W.batched:
            return _of_shared_filters(b, function, x, W, bias, geometry, groups)
        count, c = W.shape[:2]
        if x.batched:
            filters = b.shaped(filters, (size * count, c, *geometry.ksize))
            y = function(_in_channels(b, x.values, ndim), filters, None, geometry=geometry, groups=size * groups)
            return _biased(b, _from_channels(b, y, ndim, 1), bias)
        if transposed:
            filters = _regrouped(b, filters, ndim, (size, count, c), (1, 0, 2), (count, size * c))
        else:
            split = size, groups, count // groups, c
            filters = _regrouped(b, filters, ndim, split, (1, 0, 2, 3), (size * count, c))
        y = function(x.values, filters, None, geometry=geometry, groups=groups)
        return _biased(b, _from_channels(b, y, ndim, groups), bias)

    return convolved


row("convolution")(_with_filters(False))
row("transposed_convolution")(_with_filters(True))


def _of_shared_filters(
    b: Batching, function: Callable[..., Any], x: Any, W: Any, bias: Any, geometry: Geometry, groups: int
) -> Array:
    """Return convolutions, or their transposes, with the same filters for all batch elements."""
    shared = None if bias is None or bias.batched else bias.values
    rest = bias if shared is None else None
    if not x.batched:
        return _biased(b, b.same(function(x.values, W.values, None, geometry=geometry, groups=groups)), bias)
    y = function(_flat(b, x.values), W.values, shared, geometry=geometry, groups=groups)
    return _biased(b, _unflat(b, y), rest)


@row("convolution_filter_backward")
@_of_any_size
def convolution_filter_backward(
    b: Batching, function: Callable[..., Any], x: Any, g: Any, /, geometry: Geometry, groups: int
) -> Any:
    """Return gradients of filters; the sum over batch elements is the gradient for all their images."""
    size, ndim, v, gv = b.size, geometry.ndim, x.values, g.values
    n, c, out = x.shape[0], x.shape[1] // groups, g.shape[1]
    each = out // groups
    if not g.batched:
        v = _regrouped(b, v, ndim, (size, n, groups, c), (1, 2, 0, 3), (n, size * groups * c))
        y = function(v, gv, geometry=geometry, groups=groups)
        return b.made(_regrouped(b, y, ndim, (out, size, c), (1, 0, 2), (size, out, c)))
    if not x.batched:
        gv = _regrouped(b, gv, ndim, (size, n, groups, each), (1, 2, 0, 3), (n, size * out))
        y = function(v, gv, geometry=geometry, groups=groups)
        return b.made(_regrouped(b, y, ndim, (groups, size, each, c), (1, 0, 2, 3), (size, out, c)))

    def values() -> Array:
        several = _in_channels(b, v, ndim), _in_channels(b, gv, ndim)
        return b.shaped(function(*several, geometry=geometry, groups=size * groups), shape)

    def total() -> Array:
        return function(_flat(b, v), _flat(b, gv), geometry=geometry, groups=groups)

    shape = (size, out, c, *geometry.ksize)
    return b.later(Later(shape, v, values, total)) if v.dtype == gv.dtype else b.made(values())
