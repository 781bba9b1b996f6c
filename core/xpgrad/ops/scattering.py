"""Sums at indices, as in the gradient of a gather, and statistics of segments."""

import operator
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.indexing import prepared
from xpgrad.array_api.manipulation import broadcast_to, reshape
from xpgrad.array_api.searching import where
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.array_api.shared.scattering import scatter
from xpgrad.backend.checks import beside
from xpgrad.backend.indexing import at_axis, counted
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.errors import ShapeError
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.types import AnyArray, Array, Index, Namespace, Operand


@in_single_precision
def scatter_add(x: AnyArray, index: Index, values: Operand, /) -> Variable:
    """A copy of `x` with `values` added at `index`; indices that occur more than once get the sum.

    Parameters
    ----------
    x : Variable or array
    index : as in ``x[index]``
    values : Variable, array or scalar
        Array with the dtype of `x`, and of a shape that broadcasts to the shape of ``x[index]``.
    """
    x = as_variable(x)
    spec = x.node.spec
    place = prepared(x, index, "scatter_add")
    try:
        shape = tuple(spec.backend.xp.getitem(x.array, index=place).shape)
    except IndexError as error:
        raise IndexError(f"{called('scatter_add')}: {error}; got an index into {spec!r}") from error
    return x + scatter(spec, [(place, _stretched(values, spec, shape))])


@in_single_precision
def index_add(x: AnyArray, indices: AnyArray, values: Operand, /, *, axis: int = 0) -> Variable:
    """A copy of `x` with slices of `values` added at `indices` along one axis; indices may repeat.

    Parameters
    ----------
    x : Variable or array
    indices : Variable or array of int, shape (K,)
    values : Variable, array or scalar
        Broadcasts to the shape of `x` with K along `axis`.
    axis : int
    """
    x = as_variable(x)
    (along,) = checked_axes(axis, x.ndim, "index_add")
    return scatter_add(x, at_axis(along, as_array(indices)), values)


def _stretched(values: Any, spec: Spec, shape: tuple[int, ...]) -> Variable:
    """Return `values` as a Variable of this shape, in the dtype and on the device of `spec`."""
    if not isinstance(values, Variable) and (plugins.is_scalar(values) or not hasattr(values, "shape")):
        values = constant_variable(spec.backend.asarray(values, dtype=spec.dtype, device=spec.device))
    beside(spec, values, "scatter_add")
    values = astype(values, spec.dtype, copy=False)
    return values if values.shape == shape else broadcast_to(values, shape=shape)


def segment_sum(x: AnyArray, segments: AnyArray, /, num_segments: int) -> Variable:
    """Sums of the rows of `x` in each segment.

    Parameters
    ----------
    x : Variable or array, shape (N, *S), numeric
    segments : Variable or array of int, shape (N,)
        The segment of each row, from 0 to ``num_segments - 1``, in any order.
    num_segments : int

    Returns
    -------
    Variable, shape (num_segments, *S)
        0 where a segment is empty.
    """
    x, ids, num_segments = _rows(x, segments, "segment_sum", num_segments)
    spec = x.node.spec
    total = spec.backend.spec_for((num_segments, *x.shape[1:]), spec.dtype, spec.device)
    return scatter(total, [(ids, x)])


def segment_mean(x: AnyArray, segments: AnyArray, /, num_segments: int) -> Variable:
    """Means of the rows of `x` in each segment, as in `segment_sum`; 0 where a segment is empty."""
    x, ids, num_segments = _rows(x, segments, "segment_mean", num_segments)
    spec = x.node.spec
    total = segment_sum(astype(x, spec.wide, copy=False), ids, num_segments)
    return astype(total / _count(x, ids, num_segments), spec.dtype, copy=False)


def _count(x: Variable, ids: Array, num_segments: int) -> Variable:
    """Return the number of rows of each segment, at least 1, in a shape that broadcasts against sums of `x`."""
    xp = x.node.spec.backend.namespace
    ones = xp.ones(ids.shape, dtype=x.node.spec.wide, device=x.node.spec.device)
    count = segment_sum(ones, ids, num_segments)
    count = where(count == 0, 1.0, count)
    return reshape(count, shape=(num_segments,) + (1,) * (x.ndim - 1))


def segment_max(x: AnyArray, segments: AnyArray, /, num_segments: int) -> Variable:
    """Maxima of the rows of `x` in each segment, as in `segment_sum`; -inf where it is empty.

    Elements that tie share the gradient equally.
    """
    return _segment_extremum(*_rows(x, segments, "segment_max", num_segments), False)


def segment_min(x: AnyArray, segments: AnyArray, /, num_segments: int) -> Variable:
    """Minima of the rows of `x` in each segment, as in `segment_sum`; inf where it is empty.

    Elements that tie share the gradient equally.
    """
    return _segment_extremum(*_rows(x, segments, "segment_min", num_segments), True)


@elementwise(x=lambda xp, gy: gy)
def _valued(xp: Namespace, x: Operand, value: Operand, /) -> Array:
    """The second array, with the gradient of the first: the exact value of a sum that is rounded."""
    return xp.asarray(xp.broadcast_arrays(x, value)[1], copy=True)


def _segment_extremum(x: Variable, ids: Array, num_segments: int, smallest: bool) -> Variable:
    spec = x.node.spec
    xp = spec.backend.xp
    extreme, chosen = spec.backend.follow(_extremes)(x.array, ids, spec, num_segments, smallest)
    chosen = xp.astype(chosen, spec.wide)
    count = segment_sum(chosen, ids, num_segments).array
    share = xp.divide(chosen, xp.take(count, ids, axis=0))
    weighted = astype(where(xp.not_equal(chosen, 0), x, 0.0), spec.wide, copy=False) * share
    y = _valued(segment_sum(weighted, ids, num_segments), xp.astype(extreme, spec.wide))
    return astype(y, spec.dtype, copy=False)


def _extremes(x: Array, ids: Array, spec: Spec, num_segments: int, smallest: bool) -> tuple[Array, Array]:
    """Return the extremum of each segment, and 1 for each element that equals it, 0 for other elements."""
    xp, shape = spec.backend.namespace, (num_segments, *spec.shape[1:])
    extreme = xp.full(shape, float("inf") if smallest else -float("inf"), dtype=spec.dtype, device=spec.device)
    if spec.size:
        lines = xp.reshape(x, (spec.shape[0], -1))
        order = xp.argsort(lines, axis=0, descending=smallest, stable=True)
        own = xp.reshape(xp.take(ids, xp.reshape(order, (-1,)), axis=0), order.shape)
        order = xp.take_along_axis(order, xp.argsort(own, axis=0, stable=True), axis=0)
        numbers, in_order = xp.astype(xp.arange(num_segments, device=spec.device), ids.dtype), xp.sort(ids)
        begins, ends = (xp.searchsorted(in_order, numbers, side=side) for side in ("left", "right"))
        last = xp.take(order, xp.where(ends > 0, ends - 1, 0), axis=0)
        found = xp.reshape(xp.take_along_axis(lines, last, axis=0), shape)
        extreme = xp.where(xp.reshape(ends > begins, (-1,) + (1,) * (spec.ndim - 1)), found, extreme)
    return extreme, xp.astype(x == xp.take(extreme, ids, axis=0), spec.dtype)


def _rows(x: Any, segments: Any, operation: str, count: Any) -> tuple[Variable, Array, int]:
    """Return `x`, the segments of its rows, and their number."""
    x, count = as_variable(x), operator.index(count)
    ids = beside(x.node.spec, segments, operation)
    if len(ids.shape) != 1 or not x.ndim or x.shape[0] != ids.shape[0]:
        raise ShapeError(f"{operation}: expected a segment for each row of {x.shape}, got segments {tuple(ids.shape)}")
    backend = x.node.spec.backend
    try:
        return x, backend.follow(counted)(backend.xp, ids, x.node.spec, count), count
    except IndexError as error:
        raise IndexError(f"{called(operation)}: expected segments from 0 to {count - 1}, got another number") from error


def bincount(x: AnyArray, /, weights: AnyArray | None = None, minlength: int = 0) -> Variable:
    """Number of occurrences of each integer from 0 on in `x`, or the sum of their `weights`.

    Parameters
    ----------
    x : Variable or array of int, shape (N,), nonnegative
    weights : Variable or array, shape (N,), optional
    minlength : int
        The result has at least this number of elements, and at least ``max(x) + 1``.
    """
    ids = as_variable(x)
    backend = ids.node.spec.backend
    length = max(operator.index(minlength), int(backend.restore(backend.xp.max(ids.array))) + 1 if ids.size else 0)
    counts: Array = weights
    if weights is None:
        counts = backend.namespace.ones(ids.shape, dtype=backend.default_dtype("int"), device=ids.node.spec.device)
    return segment_sum(counts, ids, length)
