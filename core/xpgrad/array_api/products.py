"""Products along axes, with gradients that are right at zeros too, to every order.

The usual formula divides the product by each element. These rules multiply only: what an element is multiplied with is
the product of the others, and that is put together by a tree, or by a scan, of products.
"""

import math

from xpgrad.array_api.precision import narrowed, reduced, widened
from xpgrad.array_api.statistical import Axis, reduced_axes
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.types import AnyArray, Array, Dtype, Namespace


def _prod_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec, axis: Axis) -> Array:
    if not x_spec.size:
        return xp.zeros_like(x)
    x, gy = widened(xp, x, x_spec), widened(xp, gy, x_spec)
    axes = reduced_axes(axis, x_spec.ndim)
    rest = tuple(i for i in range(x_spec.ndim) if i not in axes)
    order, shape = rest + axes, x_spec.shape
    moved = tuple(shape[i] for i in order)
    lines = xp.reshape(xp.permute_dims(x, axes=order), shape=(-1, math.prod(shape[a] for a in axes)))
    others = _products_of_others(xp, lines) * xp.reshape(gy, shape=(-1, 1))
    back = tuple(order.index(i) for i in range(len(order)))
    return narrowed(xp, xp.permute_dims(xp.reshape(others, shape=moved), axes=back), x_spec)


def _products_of_others(xp: Namespace, lines: Array) -> Array:
    """Return for each element of each line the product of all others of its line, by a tree of pairwise products."""
    if lines.shape[1] == 1:
        return xp.ones_like(lines)
    half = (lines.shape[1] + 1) // 2
    left, right = lines[:, :half], lines[:, half:]
    odd = lines.shape[1] % 2
    if odd:
        right = xp.concat([right, xp.ones_like(left[:, :1])], axis=1)
    outside = _products_of_others(xp, left * right)
    rest = outside * left
    return xp.concat([outside * right, rest[:, :-1] if odd else rest], axis=1)


@primitive(x=_prod_rule)
def prod(
    xp: Namespace, x: AnyArray, /, axis: Axis = None, *, dtype: Dtype | None = None, keepdims: bool = False
) -> Array:
    """Product over `axis`; its gradient is right at zeros too.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int, tuple of int or None
    dtype : dtype or None
        Dtype of the result. By default that of `x` if it is floating-point, else at least the default integer.
    keepdims : bool
        Leave reduced axes with length 1. An empty product is 1.
    """
    return reduced(xp, xp.prod, x, axis=axis, dtype=dtype, keepdims=keepdims)


def _cumulative_prod_rule(
    xp: Namespace, gy: Array, x: Array, x_spec: Spec, axis: int | None, include_initial: bool
) -> Array:
    """Return ``gx_i = before_i * after_i``.

    ``before_i`` is the product of the elements before i, and ``after_i = gy_i + x_{i+1} * after_{i+1}``, which a scan
    solves that reaches 1, 2, 4, ... elements ahead.
    """
    if not x_spec.size:
        return xp.zeros_like(x)
    x, gy = widened(xp, x, x_spec), widened(xp, gy, x_spec)
    along = 0 if axis is None else axis % x_spec.ndim
    first, rest, but_last = (at_axis(along, s) for s in (slice(0, 1), slice(1, None), slice(0, -1)))
    if include_initial:
        gy = gy[rest]
    one = xp.ones_like(x[first])
    before = xp.cumulative_prod(xp.concat([one, x[but_last]], axis=along), axis=along)
    after, reach, step = gy, xp.concat([x[rest], one], axis=along), 1
    while step < x_spec.shape[along]:
        head, tail, end = (at_axis(along, s) for s in (slice(0, -step), slice(step, None), slice(-step, None)))
        after = xp.concat([after[head] + reach[head] * after[tail], after[end]], axis=along)
        reach = xp.concat([reach[head] * reach[tail], reach[end]], axis=along)
        step *= 2
    return narrowed(xp, before * after, x_spec)


@primitive(x=_cumulative_prod_rule)
def cumulative_prod(
    xp: Namespace,
    x: AnyArray,
    /,
    *,
    axis: int | None = None,
    dtype: Dtype | None = None,
    include_initial: bool = False,
) -> Array:
    """Product of all elements up to each one, along `axis`; its gradient is right at zeros too.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int or None
        It may be None if there is one axis only.
    dtype : dtype or None
    include_initial : bool
        Start with a 1, so that the result is longer by one.
    """
    return reduced(xp, xp.cumulative_prod, x, axis=axis, dtype=dtype, include_initial=include_initial)
