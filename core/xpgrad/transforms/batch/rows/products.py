"""Products of matrices and vectors, with as few products of the library as possible."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.array_api.linear_algebra import free_axes, summed_axes
from xpgrad.array_api.shared.axes import axis_of_vectors
from xpgrad.errors import ShapeError
from xpgrad.transforms.batch.batching import Batching, Later
from xpgrad.transforms.batch.rows.elementwise import elementwise
from xpgrad.transforms.batch.rows.table import row
from xpgrad.transforms.batch.rows.totals import product
from xpgrad.types import Array


@row("matmul", "linalg.matmul")
def matmul(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return products of matrices; a matrix shared by all batch elements is used in one product."""
    x1, x2 = (x if type(x) is b.kind else b.same(x) for x in (x1, x2))  # an operator also accepts arrays of the base
    if not (x1.ndim and x2.ndim):
        raise ShapeError(f"matmul: expected arrays with at least one axis, got shapes {x1.shape} and {x2.shape}")
    if not x2.batched:
        return b.made(b.base.restore(_by_shared(b, function, x1.values, x2.values)))
    if not x1.batched:
        return b.made(b.base.restore(_shared_by(b, function, x1.values, x2.values)))
    ndim = max(x1.ndim, x2.ndim)
    if ndim == x1.ndim == x2.ndim > 1:
        v1, v2 = x1.values, x2.values
        return product(b, v1, v2, (x1.shape[0], x2.shape[1])) if ndim == 2 else b.made(function(v1, v2))
    a, c = _as_matrices(b, x1, ndim, first=True), _as_matrices(b, x2, ndim, first=False)
    return b.made(_without(b, function(a, c), x1.ndim == 1, x2.ndim == 1))


def _by_shared(b: Batching, function: Callable[..., Any], v1: Array, x2: Array) -> Array:
    """Return products of batched `v1` with an array for all batch elements."""
    shape, ndim = v1.shape, len(x2.shape)
    if ndim <= 2:
        if len(shape) == 2 or ndim == 1:
            return function(v1, x2)
        y = function(b.shaped(v1, (math.prod(shape[:-1]), shape[-1])), x2)  # one product for all batch elements
        return b.shaped(y, (*shape[:-1], x2.shape[-1]))
    vectors = len(shape) == 2
    ones = (1,) * (ndim + 1 - len(shape) - vectors)
    y = function(b.shaped(v1, (shape[0], *ones, *((1,) if vectors else ()), *shape[1:])), x2)
    return _without(b, y, vectors, False)


def _shared_by(b: Batching, function: Callable[..., Any], x1: Array, v2: Array) -> Array:
    """Return products of an array for all batch elements with batched `v2`."""
    ndim, shape = len(x1.shape), v2.shape
    if len(shape) == 2:  # vectors, as rows
        lead = x1.shape[:-1]
        matrix = b.shaped(x1, (math.prod(lead), x1.shape[-1]))
        return b.shaped(function(v2, b.xp.matrix_transpose(matrix)), (shape[0], *lead))
    if ndim == 2 and len(shape) == 3 and shape[2] == 1:  # columns, as rows
        y = function(b.shaped(v2, shape[:2]), b.xp.matrix_transpose(x1))
        return b.shaped(y, (shape[0], x1.shape[0], 1))
    if ndim > len(shape) - 1:
        v2 = b.shaped(v2, (shape[0], *(1,) * (ndim + 1 - len(shape)), *shape[1:]))
    return function(x1, v2)


def _as_matrices(b: Batching, x: Any, ndim: int, *, first: bool) -> Array:
    """Return batched `x` with `ndim` axes behind the hidden one, at least two; a vector is a row if it is `first`."""
    shape = x.values.shape
    if x.ndim == 1:
        matrix = (1, shape[1]) if first else (shape[1], 1)
        return b.shaped(x.values, (shape[0], *(1,) * (ndim - 2), *matrix))
    return b.shaped(x.values, (shape[0], *(1,) * (ndim - x.ndim), *shape[1:]))


def _without(b: Batching, y: Array, row: bool, column: bool) -> Array:
    """Return products without the axes of operands that were vectors."""
    if not (row or column):
        return b.base.restore(y)
    shape = tuple(y.shape)
    if column:
        shape = shape[:-1]
    if row:
        at = len(shape) - (1 if column else 2)
        shape = (*shape[:at], *shape[at + 1 :])
    return b.shaped(y, shape)


@row("transposed_matmul")
def transposed_matmul(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return ``x1.T @ x2``; the sum over batch elements, the gradient of a weight that they share, is one product."""
    transpose: Callable[..., Any] = b.xp.matrix_transpose
    if not (x1.batched and x2.batched):
        return matmul(b, b.xp.matmul, type(x1)(b, transpose(x1.values), x1.batched), x2)
    v1, v2 = x1.values, x2.values
    if v1.dtype != v2.dtype or v1.shape[1] != v2.shape[1]:
        return b.made(b.xp.matmul(transpose(v1), v2))
    size, rows, n1 = v1.shape
    n2 = v2.shape[2]

    def values() -> Array:
        return b.xp.matmul(transpose(v1), v2)

    def total() -> Array:
        return function(b.shaped(v1, (size * rows, n1)), b.shaped(v2, (size * rows, n2)))

    return b.later(Later((size, n1, n2), v1, values, total))


@row("multiply")
def multiply(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return products; a product of a column and a row uses matrix multiplication."""
    kind = b.kind
    if type(x1) is kind and type(x2) is kind and x1.batched and x2.batched:
        shape1 = x1.shape
        if len(shape1) == 2 and shape1[1] == 1 < shape1[0] and x2.ndim in (1, 2) and (1, *x2.shape)[-2] == 1:
            columns = x2.shape[-1]
            v1, v2 = x1.values, b.shaped(x2.values, (b.size, 1, columns))
            return product(b, v1, v2, (shape1[0], columns), lambda: function(v1, v2))
    return elementwise(b, function, x1, x2)


@row("affine")
def affine(b: Batching, function: Callable[..., Any], x: Any, W: Any, bias: Any, /) -> Any:
    """Return ``x @ W.T + bias``, one product for all batch elements if they share the weight."""
    if W.batched:
        y = matmul(b, b.xp.matmul, x, b.made(b.xp.matrix_transpose(W.values)))
    elif x.batched:
        size, rows, columns = x.values.shape
        shared = None if bias is None or bias.batched else bias.values
        y = function(b.shaped(x.values, (size * rows, columns)), W.values, shared)
        y = b.made(b.shaped(y, (size, rows, W.values.shape[0])))
        bias = None if shared is not None else bias
    else:
        y = b.same(function(x.values, W.values, None))
    return y if bias is None else b.made(b.xp.add(y.values, b.aligned(bias, 2)))


@row("tensordot", "linalg.tensordot")
def tensordot(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Return products summed over pairs of axes."""
    summed1, summed2 = summed_axes(axes, x1.ndim, x2.ndim)
    if not x2.batched:
        y = function(x1.values, x2.values, axes=(tuple(a + 1 for a in summed1), summed2))
        return b.made(b.base.restore(y))
    if not x1.batched:
        y = b.base.restore(function(x1.values, x2.values, axes=(summed1, tuple(a + 1 for a in summed2))))
        place = x1.ndim - len(summed1)
        return b.made(b.permuted(y, (place, *range(place), *range(place + 1, len(y.shape)))) if place else y)
    free1, free2 = free_axes(summed1, x1.ndim), free_axes(summed2, x2.ndim)
    v1 = b.permuted(x1.values, (0, *[a + 1 for a in (*free1, *summed1)]))
    v2 = b.permuted(x2.values, (0, *[a + 1 for a in (*summed2, *free2)]))
    shape = (*[x1.shape[a] for a in free1], *[x2.shape[a] for a in free2])
    inner1, inner2 = (tuple(x.shape[a] for a in s) for x, s in ((x1, summed1), (x2, summed2)))
    if inner1 != inner2:
        raise ShapeError(
            f"tensordot: expected equal lengths along the axes that are summed, got shapes {x1.shape} and {x2.shape} "
            f"with axes {summed1} and {summed2}"
        )
    inner = math.prod(inner1)
    v1 = b.shaped(v1, (b.size, math.prod(x1.shape[a] for a in free1), inner))
    v2 = b.shaped(v2, (b.size, inner, math.prod(x2.shape[a] for a in free2)))
    return product(b, v1, v2, shape)


@row("vecdot", "linalg.vecdot", "linalg.cross")
def vecdot(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return products of vectors along an axis counted from the last."""
    axis = axis_of_vectors(axis, x1.ndim, x2.ndim, "vecdot")
    ndim = max(x1.ndim, x2.ndim)
    return b.made(b.base.restore(function(b.aligned(x1, ndim), b.aligned(x2, ndim), axis=axis)))


@row("linalg.outer")
def outer(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /) -> Any:
    """Return the products of each element of a vector with each of another."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer: expected two vectors, got shapes {x1.shape} and {x2.shape}")
    v1, v2 = b.front(x1)[..., :, None], b.front(x2)[..., None, :]
    return product(b, v1, v2, (*x1.shape, *x2.shape), lambda: b.xp.multiply(v1, v2))
