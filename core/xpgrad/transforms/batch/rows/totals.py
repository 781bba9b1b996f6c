"""Reductions, and sums over batch elements without an array for each: sums of products, linear functions.

The gradient of a weight that all batch elements share is such a sum. Arrays of the weight's size for each element would
multiply the memory; `Later` computes them only on demand.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching, Later
from xpgrad.transforms.batch.rows.elementwise import elementwise
from xpgrad.transforms.batch.rows.table import Row, row
from xpgrad.types import Array, Shape


def product(b: Batching, v1: Array, v2: Array, shape: Shape, values: Callable[[], Array] | None = None) -> Array:
    """Return products of two matrices of each batch element, reshaped; deferred, if they are larger than the factors.

    Parameters
    ----------
    b : Batching
    v1, v2 : array
        Of the library, shapes (B, M, K) and (B, K, N).
    shape : tuple of int
        Shape of the product of one batch element.
    values : callable, optional
        Returns the products, if not by `matmul`.
    """
    size, m, k = v1.shape
    n = v2.shape[2]
    xp: Any = b.xp

    def multiplied() -> Array:
        return b.shaped(xp.matmul(v1, v2), (size, *shape))

    if values is None:
        values = multiplied
    if m * n <= (m + n) * k or v2.shape[1] != k or v1.dtype != v2.dtype:
        return b.made(values())

    def total() -> Array:
        columns = b.shaped(b.permuted(v1, (1, 0, 2)), (m, size * k))
        return b.shaped(xp.matmul(columns, b.shaped(v2, (size * k, n))), shape)

    return b.later(Later((size, *shape), v1, values, total))


def linear(shape_of: Callable[..., Shape | None]) -> Callable[[Row], Row]:
    """Let the row of a linear function of one array pass deferred values on as deferred values.

    Parameters
    ----------
    shape_of : callable
        Returns the shape of the result from the shape of the array and the other arguments, or None if they do not fit.
    """

    def wrap(inner: Row) -> Row:
        @functools.wraps(inner)
        def through(b: Batching, function: Callable[..., Any], x: Any, /, *args: Any, **options: Any) -> Any:
            later: Later | None = x.later
            if later is None or (shape := shape_of(x.shape, *args, **options)) is None:
                return inner(b, function, x, *args, **options)
            total = later.total
            return b.later(
                Later(
                    (b.size, *shape),
                    later.like,
                    lambda: inner(b, function, x, *args, **options).values,
                    lambda: function(total(), *args, **options),
                )
            )

        return through

    return wrap


def transposed(shape: Shape) -> Shape | None:
    """Return the shape of transposed matrices."""
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else None


def permuted(shape: Shape, axes: Any) -> Shape | None:
    """Return the shape of an array with its axes permuted."""
    order = [a % len(shape) for a in axes]
    return tuple(shape[a] for a in order) if sorted(order) == list(range(len(shape))) else None


def reshaped(before: Shape, shape: Any, copy: Any = None) -> Shape | None:
    """Return the new shape, if it is without -1."""
    fits = isinstance(shape, tuple) and min(shape, default=0) >= 0 and math.prod(shape) == math.prod(before)
    return shape if fits else None


@row("add")
def add(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return sums: the total of a sum is the sum of the totals."""
    later1, later2 = getattr(x1, "later", None), getattr(x2, "later", None)
    if later1 is None or later2 is None or x1.shape != x2.shape or x1.dtype != x2.dtype:
        return elementwise(b, function, x1, x2)
    return b.later(
        Later(
            later1.shape,
            later1.like,
            lambda: function(x1.values, x2.values),
            lambda: function(later1.total(), later2.total()),
        )
    )


@row("all", "any", "max", "mean", "min", "prod", "std", "sum", "var", "count_nonzero")
def reduction(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = None, **options: Any) -> Any:
    """Return a reduction over axes of batch elements; without `axis` over all axes."""
    if not x.ndim and axis is None:  # no axes: some libraries would reduce the hidden one
        return b.restored(function(b.reshaped(x, (1,)), axis=(1,), **{**options, "keepdims": False}))
    return b.made(b.base.restore(function(b.front(x), axis=b.axes(axis, x.ndim), **options)))


@row("sum_to")
def sum_to(b: Batching, function: Callable[..., Any], x: Any, /, shape: Shape) -> Any:
    """Return members summed to `shape`."""
    if x.shape == shape:
        return x
    lead = (1,) * (x.ndim - len(shape))
    return b.made(b.shaped(b.base.restore(function(x.values, shape=(b.size, *lead, *shape))), (b.size, *shape)))
