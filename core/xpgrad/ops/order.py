"""Order statistics: partial orders, medians and quantiles."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.elementwise.extrema import maximum, minimum
from xpgrad.array_api.elementwise.logical import isnan, logical_not
from xpgrad.array_api.elementwise.rounding import floor
from xpgrad.array_api.elementwise.rounding import round as round_
from xpgrad.array_api.indexing import take_along_axis
from xpgrad.array_api.manipulation import expand_dims, permute_dims, reshape, squeeze, stack
from xpgrad.array_api.searching import where
from xpgrad.array_api.shared.axes import Axis, reduced_axes
from xpgrad.array_api.sorting import argsort, sort
from xpgrad.array_api.statistical import count_of
from xpgrad.array_api.utility import any as any_
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import WHOLE, AnyArray


def partition(x: AnyArray, kth: Any, /, *, axis: int | None = -1) -> Variable:
    """`x` in an order along `axis` with element `kth` in its sorted position, and smaller elements before it.

    Parameters
    ----------
    x : Variable or array, real
    kth : int or sequence of int
    axis : int or None
        None partitions the flattened array. The standard has no partial sort, so this sorts.
    """
    x, axis = _line(x, axis)
    _check(x, kth, axis, "partition")
    return sort(x, axis=axis)


def argpartition(x: AnyArray, kth: Any, /, *, axis: int | None = -1) -> Variable:
    """Indices that would partition `x` along `axis`, as in `partition`; no gradient."""
    x, axis = _line(x, axis)
    _check(x, kth, axis, "argpartition")
    return argsort(x, axis=axis)


def _line(x: Any, axis: int | None) -> tuple[Variable, int]:
    x = as_variable(x)
    return (reshape(x, shape=(-1,)), 0) if axis is None else (x, axis)


def _check(x: Variable, kth: Any, axis: int, operation: str) -> None:
    length = x.shape[axis]
    for k in [int(kth)] if isinstance(kth, WHOLE) else kth:
        if not -length <= k < length:
            raise IndexError(f"{operation}: expected a position in an axis of {length}, got {k}")


Chosen = Callable[[Variable, str], Callable[[float], Variable]]
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Variable:
    """Quantiles over `axis`: the values that the fraction `q` of the elements does not exceed.

    Parameters
    ----------
    x : Variable or array, real floating-point
        With at least one element over `axis`. The result is NaN if any of them is.
    q : float, or array or sequence of float, from 0 to 1
        A constant; it gets no gradient.
    axis : int, tuple of int or None
    method : str
        The result between two elements: "linear" interpolates, "midpoint" is their mean, "lower", "higher" and
        "nearest" are one of the two.
    keepdims : bool

    Returns
    -------
    Variable, shape of `q` followed by that of the reduction
    """
    return _quantile(x, q, axis, method, keepdims, _of_all)


def nanquantile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis` of the elements that are not NaN, as in `quantile`; NaN if there are none."""
    x = as_variable(x)
    missing = isnan(x)
    last = count_of(logical_not(missing), x, axis=axis) - 1  # at least float32, so that positions are exact
    return _quantile(where(missing, float("inf"), x), q, axis, method, keepdims, functools.partial(_of_numbers, last))


def _quantile(x: Any, q: Any, axis: Axis, method: str, keepdims: bool, chosen: Chosen) -> Variable:
    x = as_variable(x)
    if method not in METHODS:
        raise ValueError(f"quantile: expected the method {', '.join(METHODS)}, got {method!r}")
    shape, fractions = _fractions(q)
    axes = reduced_axes(axis, x.ndim)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else tuple(x.shape[i] for i in rest)
    n = math.prod(x.shape[i] for i in axes)
    if not n:
        raise ShapeError(f"quantile: expected elements over axis {axis}, got shape {x.shape}")
    lines = reshape(permute_dims(x, axes=rest + axes) if x.ndim else x, shape=(*(x.shape[i] for i in rest), n))
    at = chosen(lines, method)
    found = [at(f) for f in fractions]
    if not shape:
        return reshape(found[0], shape=kept)
    return reshape(stack(found), shape=shape + kept)


def _of_all(lines: Variable, method: str) -> Callable[[float], Variable]:
    """Return the function from a fraction to the quantiles along the last axis; NaN if there is a NaN."""
    ordered, missing = sort(lines, axis=-1), any_(isnan(lines), axis=-1)
    last, dtype = lines.shape[-1] - 1, lines.dtype
    return lambda f: astype(where(missing, float("nan"), _at(ordered, f * last, method)), dtype, copy=False)


def _of_numbers(last: Variable, lines: Variable, method: str) -> Callable[[float], Variable]:
    """Return the function from a fraction to the quantiles of the elements up to `last` along the sorted last axis."""
    ordered = sort(lines, axis=-1)
    integer = lines.node.spec.backend.default_dtype("int")

    def element(place: Variable) -> Variable:
        indices = expand_dims(astype(place, integer), axis=-1)
        return squeeze(take_along_axis(ordered, indices, axis=-1), axis=-1)

    def at(f: float) -> Variable:
        place = maximum(last * f, 0.0)
        low = floor(place)
        weight = place - low
        if method == "nearest":
            weight = round_(place) - low
        elif method != "linear":
            weight = where(weight > 0, {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method], weight)
        weight = astype(weight, lines.dtype, copy=False)
        lower, upper = element(low), element(minimum(low + 1, maximum(last, 0.0)))
        between = where(weight > 0, (upper - lower) * weight, 0.0)  # the difference may be infinite
        return where(last < 0, float("nan"), lower + between)

    return at


def _fractions(q: Any) -> tuple[tuple[int, ...], list[float]]:
    """Return the shape of `q` and its values."""
    if isinstance(q, Sequence):
        return (len(q),), [_fraction(each) for each in q]
    array = as_array(q)
    if not hasattr(array, "shape") or not array.shape:
        return (), [_fraction(q)]
    flat = reshape(as_variable(array), shape=(-1,))
    return tuple(array.shape), [_fraction(flat[i]) for i in range(flat.size)]


def _fraction(q: Any) -> float:
    value = float(q)
    if not 0 <= value <= 1:
        raise ValueError(f"quantile: expected fractions from 0 to 1, got {value}")
    return value


def _at(ordered: Variable, place: float, method: str) -> Variable:
    """Return the value at a fractional position along the last axis."""
    low = min(math.floor(place), ordered.shape[-1] - 1)
    high = min(low + 1, ordered.shape[-1] - 1)
    weight = place - low
    if method == "nearest":
        weight = float(round(place) - low)  # halves to even, as NumPy does
    elif method != "linear" and weight:
        weight = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method]
    if not weight:
        return ordered[..., low]
    if weight == 1:
        return ordered[..., high]
    return ordered[..., low] * (1 - weight) + ordered[..., high] * weight


def percentile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis`, as in `quantile`, with `q` from 0 to 100."""
    return quantile(x, _hundredths(q), axis=axis, method=method, keepdims=keepdims)


def nanpercentile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis` of the elements that are not NaN, as in `nanquantile`, with `q` from 0 to 100."""
    return nanquantile(x, _hundredths(q), axis=axis, method=method, keepdims=keepdims)


def _hundredths(q: Any) -> Any:
    return [each / 100 for each in q] if isinstance(q, Sequence) else q / 100


def nanmedian(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Median over `axis` of the elements that are not NaN; NaN if there are none."""
    return nanquantile(x, 0.5, axis=axis, keepdims=keepdims)


def median(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Median over `axis`: the middle element, or the mean of the two in the middle."""
    return quantile(x, 0.5, axis=axis, keepdims=keepdims)
