"""Statistical functions: sums, products, extrema and moments along axes."""

import math
from collections.abc import Sequence

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.manipulation import broadcast_to, permute_dims, reshape
from xpgrad.array_api.shared.axes import Axis, defined, reduced_axes, reduced_count, with_kept_axes
from xpgrad.array_api.shared.precision import divided, narrowed, reduced, widened
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.spec import Spec
from xpgrad.errors import ShapeError
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Dtype, Namespace, Shape


def _sum_rule(xp: Namespace, gy: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    return xp.broadcast_to(with_kept_axes(xp, gy, x_spec, axis, keepdims), shape=x_spec.shape)


@primitive(linear=("x",), x=_sum_rule)
def sum(
    xp: Namespace, x: AnyArray, /, axis: Axis = None, *, dtype: Dtype | None = None, keepdims: bool = False
) -> Array:
    """Sum over `axis`.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int, tuple of int or None
        None sums over all axes.
    dtype : dtype or None
        Dtype of the result. By default the dtype of `x` if it is floating-point, else at least the default integer.
    keepdims : bool
        Keep reduced axes with length 1. An empty sum is 0.
    """
    return reduced(xp, xp.sum, x, axis=axis, dtype=dtype, keepdims=keepdims)


# The usual gradient of a product divides it by each element. These rules multiply the other elements instead, by a tree
# or a scan of products, and so are correct at zeros, to every order.
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
    """Return for each element the product of all other elements of its line, by a tree of pairwise products."""
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


def product_change(xp: Namespace, t: Array, x: Array, axes: Sequence[int]) -> Array:
    """Return the change of the product over `axes` by the tangent `t`, by a tree of products; `axes` have length 1."""
    for axis in axes:
        single: tuple[Array, Array] | None = None  # the product and change of elements without a partner
        while (count := x.shape[axis]) > 1:
            half = count // 2
            low, high = at_axis(axis, slice(0, half)), at_axis(axis, slice(half, 2 * half))
            if count % 2:
                last = at_axis(axis, slice(count - 1, count))
                single = (x[last], t[last]) if single is None else _paired(single, (x[last], t[last]))
            x, t = _paired((x[low], t[low]), (x[high], t[high]))
        if single is not None:
            x, t = _paired((x, t), single)
    return t


def _paired(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the products of two arrays with changes, and the changes of the products."""
    return first[0] * second[0], first[1] * second[0] + first[0] * second[1]


@primitive(reduction=True, x=_prod_rule)
def prod(
    xp: Namespace, x: AnyArray, /, axis: Axis = None, *, dtype: Dtype | None = None, keepdims: bool = False
) -> Array:
    """Product over `axis`; its gradient is correct at zeros too.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int, tuple of int or None
    dtype : dtype or None
        Dtype of the result. By default the dtype of `x` if it is floating-point, else at least the default integer.
    keepdims : bool
        Keep reduced axes with length 1. An empty product is 1.
    """
    return reduced(xp, xp.prod, x, axis=axis, dtype=dtype, keepdims=keepdims)


def _mean_rule(xp: Namespace, gy: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    share = divided(xp, gy, reduced_count(x_spec, axis) or 1, x_spec)
    return xp.broadcast_to(with_kept_axes(xp, share, x_spec, axis, keepdims), shape=x_spec.shape)


@primitive(linear=("x",), x=_mean_rule)
def mean(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Arithmetic mean over `axis`; NaN for no elements.

    Parameters
    ----------
    x : Variable or array, floating-point
    axis : int, tuple of int or None
    keepdims : bool
    """
    return reduced(xp, xp.mean, x, axis=axis, keepdims=keepdims)


def _extremum_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    extreme = x == with_kept_axes(xp, y, x_spec, axis, keepdims)
    count = xp.sum(xp.astype(extreme, x_spec.wide), axis=axis, keepdims=True)
    share = divided(xp, with_kept_axes(xp, gy, x_spec, axis, keepdims), count, x_spec)
    return xp.where(extreme, share, xp.zeros_like(share))


@primitive(reduction=True, x=_extremum_rule)
def max(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Maximum over `axis`; elements that tie share the gradient equally.

    Parameters
    ----------
    x : Variable or array, real
        With at least one element along `axis`.
    axis : int, tuple of int or None
    keepdims : bool
    """
    return xp.max(x, axis=axis, keepdims=keepdims)


@primitive(reduction=True, x=_extremum_rule)
def min(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Minimum over `axis`, with parameters as for `max`; elements that tie share the gradient equally."""
    return xp.min(x, axis=axis, keepdims=keepdims)


def _centred(xp: Namespace, x: Array, x_spec: Spec, axis: Axis) -> Array:
    """Return the conjugate of the distance of `x` from its mean, in the wide dtype."""
    x = widened(xp, x, x_spec)
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    return xp.conj(centred) if x_spec.complex else centred


def _variance_rule(
    xp: Namespace, gy: Array, x: Array, x_spec: Spec, axis: Axis, correction: float, keepdims: bool
) -> Array:
    share = widened(xp, gy, x_spec) * 2.0 / (reduced_count(x_spec, axis) - float(correction))
    share = defined(share, x_spec.shape, axis, correction)
    return narrowed(xp, with_kept_axes(xp, share, x_spec, axis, keepdims) * _centred(xp, x, x_spec, axis), x_spec)


@primitive(reduction=True, x=_variance_rule)
def var(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variance over `axis`: the mean of the squares of the distances from the mean, real for complex numbers too.

    Parameters
    ----------
    x : Variable or array, floating-point
    axis : int, tuple of int or None
    correction : int or float
        The sum of squares is divided by the number of elements minus `correction`; 1 gives the unbiased estimate.
        If that is not positive, the variance and its gradient are NaN.
    keepdims : bool
    """
    options = {"axis": axis, "correction": float(correction), "keepdims": keepdims}
    if xp.backend.is_kind(x.dtype, "complex floating"):  # the standard defines no complex variance
        return defined(xp.var(xp.real(x), **options) + xp.var(xp.imag(x), **options), x.shape, axis, correction)
    return defined(reduced(xp, xp.var, x, **options), x.shape, axis, correction)


def _deviation_rule(
    xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, correction: float, keepdims: bool
) -> Array:
    number = reduced_count(x_spec, axis)
    gy = widened(xp, gy, x_spec)
    if x_spec.half:  # the deviation has been rounded
        y = xp.std(widened(xp, x, x_spec), axis=axis, correction=correction, keepdims=keepdims)
    same = y == 0
    inverse = 1.0 / (xp.where(same, 1.0, y) * (number - float(correction)))
    share = gy * (xp.cornered(inverse, same, y) if number > 1 else inverse)  # of one number it is 0 everywhere
    share = defined(share, x_spec.shape, axis, correction)
    return narrowed(xp, with_kept_axes(xp, share, x_spec, axis, keepdims) * _centred(xp, x, x_spec, axis), x_spec)


@primitive(reduction=True, x=_deviation_rule)
def std(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviation over `axis`, with parameters as for `var`; at 0 the derivative is 0, without a second one."""
    options = {"axis": axis, "correction": float(correction), "keepdims": keepdims}
    if xp.backend.is_kind(x.dtype, "complex floating"):
        return xp.sqrt(xp.var(xp.real(x), **options) + xp.var(xp.imag(x), **options))
    return defined(reduced(xp, xp.std, x, **options), x.shape, axis, correction)


def _last(xp: Namespace, gy: Array) -> Array:
    """Return the cotangent of a 0-d array, which libraries scan as a vector of one element or reject."""
    return xp.reshape(xp.reshape(gy, shape=(math.prod(gy.shape),))[-1:], shape=())


def _cumulative_sum_rule(xp: Namespace, gy: Array, x_spec: Spec, axis: int | None, include_initial: bool) -> Array:
    if not x_spec.ndim:
        return _last(xp, gy)
    along = 0 if axis is None else axis % x_spec.ndim
    if include_initial:
        gy = gy[at_axis(along, slice(1, None))]
    total = xp.cumulative_sum(widened(xp, xp.flip(gy, axis=along), x_spec), axis=along)
    return narrowed(xp, xp.flip(total, axis=along), x_spec)


@primitive(linear=("x",), x=_cumulative_sum_rule)
def cumulative_sum(
    xp: Namespace, x: AnyArray, /, *, axis: int | None = None, dtype: Dtype | None = None, include_initial: bool = False
) -> Array:
    """Cumulative sum along `axis`.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int or None
        None is allowed if `x` has one axis.
    dtype : dtype or None
    include_initial : bool
        Start with a 0, so that the result has one more element.
    """
    return reduced(xp, xp.cumulative_sum, x, axis=axis, dtype=dtype, include_initial=include_initial)


BLOCK = 8
"""Number of elements that a recurrence computes one after the other, in all blocks at once."""


def _cumulative_prod_rule(
    xp: Namespace, gy: Array, x: Array, x_spec: Spec, axis: int | None, include_initial: bool
) -> Array:
    """Return ``gx_i = before_i * after_i``, with products before i, and ``after_i = gy_i + x_{i+1} * after_{i+1}``."""
    if not x_spec.size:
        return xp.zeros_like(x)
    if not x_spec.ndim:
        return _last(xp, gy)
    x, gy, along = widened(xp, x, x_spec), widened(xp, gy, x_spec), 0 if axis is None else axis % x_spec.ndim
    first, rest, but_last = (at_axis(along, s) for s in (slice(0, 1), slice(1, None), slice(0, -1)))
    one, terms = xp.ones_like(x[first]), gy[rest] if include_initial else gy
    before = xp.cumulative_prod(xp.concat([one, x[but_last]], axis=along), axis=along)
    factors = xp.flip(xp.concat([x[rest], one], axis=along), axis=along)
    after = xp.flip(_recurrence(xp, xp.flip(terms, axis=along), factors, along), axis=along)
    return narrowed(xp, before * after, x_spec)


def cumulative_prod_change(
    xp: Namespace, t: Array, x: Array, y: Array, x_spec: Spec, axis: int | None, include_initial: bool
) -> Array:
    """Return the change ``c_i = t_i * before_i + x_i * c_{i-1}`` of the products `y` for a change `t`."""
    x, t, y, along = (*(widened(xp, each, x_spec) for each in (x, t, y)), 0 if axis is None else axis % x_spec.ndim)
    first, before = at_axis(along, slice(0, 1)), y[at_axis(along, slice(0, -1))]
    if not include_initial:
        before = xp.concat([xp.ones_like(x[first]), before], axis=along)
    change = _recurrence(xp, t * before, x, along)
    if include_initial:
        change = xp.concat([xp.zeros_like(x[first]), change], axis=along)
    return narrowed(xp, change, x_spec)


def _recurrence(xp: Namespace, u: Array, r: Array, along: int) -> Array:
    """Return ``c_i = u_i + r_i * c_{i-1}`` along an axis: in all blocks at once, then over the blocks."""
    count, lead, rest = u.shape[along], u.shape[:along], u.shape[along + 1 :]
    if count <= BLOCK:
        return _stepwise(xp, u, r, along)[0]
    blocks, missing = -(-count // BLOCK), -count % BLOCK
    if missing:
        end = at_axis(along, slice(0, missing))
        u, r = (xp.concat([each, xp.zeros_like(each[end])], axis=along) for each in (u, r))
    u, r = (xp.reshape(each, shape=(*lead, blocks, BLOCK, *rest)) for each in (u, r))
    found, products = _stepwise(xp, u, r, along + 1)
    last, but_last = at_axis(along + 1, -1), at_axis(along, slice(0, -1))
    ends = _recurrence(xp, found[last][but_last], products[last][but_last], along)
    carried = xp.concat([xp.zeros_like(found[last][at_axis(along, slice(0, 1))]), ends], axis=along)
    found = found + products * xp.reshape(carried, shape=(*lead, blocks, 1, *rest))
    return xp.reshape(found, shape=(*lead, blocks * BLOCK, *rest))[at_axis(along, slice(0, count))]


def _stepwise(xp: Namespace, u: Array, r: Array, along: int) -> list[Array]:
    """Return a recurrence of few elements, and the products of its factors."""
    steps = [(u[at_axis(along, slice(0, 1))], r[at_axis(along, slice(0, 1))])]
    for place in (at_axis(along, slice(k, k + 1)) for k in range(1, u.shape[along])):
        steps.append((u[place] + r[place] * steps[-1][0], r[place] * steps[-1][1]))
    return [xp.concat(parts, axis=along) for parts in zip(*steps, strict=True)]


@primitive(x=_cumulative_prod_rule)
def cumulative_prod(
    xp: Namespace, x: AnyArray, /, *, axis: int | None = None, dtype: Dtype | None = None, include_initial: bool = False
) -> Array:
    """Cumulative product along `axis`; its gradient is correct at zeros too.

    Parameters are the same as for `cumulative_sum`, but `include_initial` starts with a 1.
    """
    return reduced(xp, xp.cumulative_prod, x, axis=axis, dtype=dtype, include_initial=include_initial)


def average(x: AnyArray, /, axis: Axis = None, weights: AnyArray | None = None, keepdims: bool = False) -> Variable:
    """Mean over `axis`, weighted if there are `weights`.

    Parameters
    ----------
    x : Variable or array, floating-point
    axis : int, tuple of int or None
    weights : Variable or array, optional
        Array with the shape of `x`, or the shape of its axes in `axis`. Their sum need not be 1.
    keepdims : bool
    """
    if weights is None:
        return mean(x, axis=axis, keepdims=keepdims)
    x, weights = as_variable(x), as_variable(weights)
    if weights.shape != x.shape:
        weights = reshape(_in_order(weights, axis, x), shape=_weight_shape(x, weights, axis))
        weights = broadcast_to(weights, shape=x.shape)
    product = x * weights
    spec = product.node.spec
    if spec.half:
        weights = astype(weights, spec.wide)
        product = astype(x, spec.wide) * weights
    total = sum(product, axis=axis, keepdims=keepdims)
    return astype(total / sum(weights, axis=axis, keepdims=keepdims), spec.dtype, copy=False)


def sum_by_count(x: AnyArray, count: float | Variable, /, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Sum over `axis` divided by `count`, in the dtype of `x`, which may overflow for each of the two.

    Parameters
    ----------
    x : Variable or array, floating-point
    count : int or float, or Variable of the wide dtype of `x`
    axis : int, tuple of int or None
    keepdims : bool
    """
    x = as_variable(x)
    spec = x.node.spec
    if not spec.half:
        return sum(x, axis=axis, keepdims=keepdims) / count
    return astype(sum(x, axis=axis, dtype=spec.wide, keepdims=keepdims) / count, spec.dtype)


def count_of(present: AnyArray, dtype_of: AnyArray, /, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Number of elements over `axis` that are True, in the wide dtype of the floating-point array `dtype_of`."""
    return sum(astype(present, as_variable(dtype_of).node.spec.wide), axis=axis, keepdims=keepdims)


def _in_order(weights: Variable, axis: Axis, x: Variable) -> Variable:
    """Return the weights with their axes in the same order as in `x`."""
    if not isinstance(axis, Sequence) or len(axis) != weights.ndim:
        return weights
    given = [a % x.ndim for a in axis]
    return permute_dims(weights, axes=sorted(range(len(given)), key=given.__getitem__))


def _weight_shape(x: Variable, weights: Variable, axis: Axis) -> Shape:
    spec = x.node.spec
    given = axis if isinstance(axis, Sequence) else reduced_axes(axis, spec.ndim)
    expected = tuple(spec.shape[a % spec.ndim] for a in given)
    if weights.shape != expected:
        raise ShapeError(f"average: expected weights of shape {x.shape} or {expected}, got {weights.shape}")
    axes = reduced_axes(axis, spec.ndim)
    return tuple(n if i in axes else 1 for i, n in enumerate(spec.shape))
