"""Order statistics, and sets of values as sorted vectors, whose elements keep their gradients."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.creation import full_like
from xpgrad.array_api.data_types import astype, to_floating
from xpgrad.array_api.elementwise.extrema import maximum, minimum
from xpgrad.array_api.elementwise.logical import isfinite, isnan, logical_not
from xpgrad.array_api.elementwise.rounding import floor
from xpgrad.array_api.elementwise.rounding import round as round_
from xpgrad.array_api.indexing import take, take_along_axis
from xpgrad.array_api.manipulation import concat, expand_dims, moveaxis, permute_dims, reshape, squeeze, stack
from xpgrad.array_api.searching import where
from xpgrad.array_api.shared.axes import Axis, checked_axes
from xpgrad.array_api.sorting import argsort, sort
from xpgrad.array_api.statistical import count_of
from xpgrad.array_api.utility import any as any_
from xpgrad.backend.checks import beside
from xpgrad.backend.naming import called
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
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
    length = x.shape[checked_axes(axis, x.ndim, operation)[0]]
    for k in [int(kth)] if isinstance(kth, WHOLE) else kth:
        if not -length <= k < length:
            raise IndexError(f"{operation}: expected a position in an axis of {length}, got {k}")


Fractions = float | Variable
Chosen = Callable[[Variable, str], Callable[[Fractions], Variable]]
"""From lines to the function from a fraction, or a vector of them for a last axis, to quantiles."""
METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Variable:
    """Quantiles over `axis`: the values that the fraction `q` of the elements does not exceed.

    Parameters
    ----------
    x : Variable or array, real floating-point
        With at least one element over `axis`. The result is NaN if any element is NaN.
    q : float, Variable, or array or sequence of float, from 0 to 1
        The result is NaN where a Variable is not in this range. By the method "linear" a Variable has a gradient: at an
        element the slope toward larger fractions, at 1 the slope toward smaller fractions.
    axis : int, tuple of int or None
    method : str
        The result between two elements: "linear" interpolates, "midpoint" is their mean, "lower", "higher" and
        "nearest" are one of the two.
    keepdims : bool

    Returns
    -------
    Variable, shape of `q` followed by the shape of the reduction
    """
    return _quantile("quantile", x, q, axis, method, keepdims)


def nanquantile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis` of the elements that are not NaN, as in `quantile`; NaN for all-NaN slices."""
    return _nan_quantile("nanquantile", x, q, axis, method, keepdims)


def percentile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis`, as in `quantile`, with `q` from 0 to 100."""
    return _quantile("percentile", x, q, axis, method, keepdims)


def nanpercentile(
    x: AnyArray, q: Any, /, *, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Variable:
    """Quantiles over `axis` of the elements that are not NaN, as in `nanquantile`, with `q` from 0 to 100."""
    return _nan_quantile("nanpercentile", x, q, axis, method, keepdims)


def _nan_quantile(name: str, x: AnyArray, q: Any, axis: Axis, method: str, keepdims: bool) -> Variable:
    x = to_floating(x)
    missing = isnan(x)
    last = count_of(logical_not(missing), x, axis=axis) - 1  # at least float32, so that positions are exact
    chosen = functools.partial(_of_numbers, last)
    return _quantile(name, where(missing, float("inf"), x), q, axis, method, keepdims, chosen)


def _quantile(
    name: str, x: Any, q: Any, axis: Axis, method: str, keepdims: bool, chosen: Chosen | None = None
) -> Variable:
    x = as_variable(x)
    if method not in METHODS:
        raise ValueError(f"{name}: expected the method {', '.join(METHODS)}, got {method!r}")
    x = to_floating(x) if method in ("linear", "midpoint") else x
    shape, fractions = _fractions(name, q, x)
    axes = tuple(range(x.ndim) if axis is None else sorted(checked_axes(axis, x.ndim, called(name))))
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if keepdims else tuple(x.shape[i] for i in rest)
    n = math.prod(x.shape[i] for i in axes)
    if not n:
        raise ShapeError(f"{called(name)}: expected elements over axis {axis}, got shape {x.shape}")
    lines = reshape(permute_dims(x, axes=rest + axes) if x.ndim else x, shape=(*(x.shape[i] for i in rest), n))
    at = (chosen or _of_all)(lines, method)
    if isinstance(fractions, Variable):
        return reshape(moveaxis(at(fractions), -1, 0), shape=shape + kept)
    found = [at(f) for f in fractions]
    return reshape(stack(found) if shape else found[0], shape=shape + kept)


def _of_all(lines: Variable, method: str) -> Callable[[Fractions], Variable]:
    """Return the function from a fraction to the quantiles along the last axis; NaN if there is a NaN."""
    ordered, missing = sort(lines, axis=-1), any_(isnan(lines), axis=-1)
    last, dtype = lines.shape[-1] - 1, lines.dtype

    def at(f: Fractions) -> Variable:
        if not isinstance(f, Variable):
            return astype(where(missing, float("nan"), _at(ordered, f * last, method)), dtype, copy=False)
        y = _located(ordered, full_like(missing, last, dtype=lines.node.spec.wide), f, method)
        return astype(where(expand_dims(missing, axis=-1), float("nan"), y), dtype, copy=False)

    return at


def _of_numbers(last: Variable, lines: Variable, method: str) -> Callable[[Fractions], Variable]:
    """Return the function from a fraction to the quantiles of the elements up to `last` along the sorted last axis."""
    ordered = sort(lines, axis=-1)
    return lambda f: _located(ordered, last, f, method)


def _located(ordered: Variable, last: Variable, f: Fractions, method: str) -> Variable:
    """Return the values at fractions of the positions from 0 to `last` along the last axis; NaN for empty slices."""
    spec = ordered.node.spec
    integer = spec.backend.default_dtype("int")
    last = expand_dims(last, axis=-1)
    exists = last >= 0
    if isinstance(f, Variable):
        given = (f >= 0) & (f <= 1)
        exists, f = exists & given, where(given, f, 0.0)
    place = maximum(last * f, 0.0)
    low = maximum(minimum(floor(place), last - 1), 0.0)
    high = minimum(low + 1, maximum(last, 0.0))
    weight = place - low
    if method == "nearest":
        weight = round_(place) - low
    elif method != "linear":
        inside = (weight > 0) & (weight < 1)
        weight = where(inside, {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method], weight)
    weight = astype(weight, spec.dtype, copy=False)
    count = low.shape[-1]
    both = take_along_axis(ordered, astype(concat([low, high], axis=-1), integer), axis=-1)  # one sum of gradients
    lower, upper = both[..., :count], both[..., count:]
    step = upper - lower
    step = where((weight > 0) & (weight < 1) | isfinite(step), step, 0.0)
    y = where(exists, where(weight < 0.5, lower + step * weight, upper - step * (1 - weight)), float("nan"))
    return y if isinstance(f, Variable) else squeeze(y, axis=-1)


def _fractions(name: str, q: Any, x: Variable) -> tuple[tuple[int, ...], Variable | list[float]]:
    """Return the shape of `q` and its fractions: a vector if it is of the library of `x`, else numbers."""
    scale = 100 if name.endswith("percentile") else 1
    if isinstance(q, Sequence) and (lead := next((each for each in q if isinstance(each, Variable)), None)) is not None:
        q = stack([each if isinstance(each, Variable) else full_like(lead, each) for each in q])
    if isinstance(q, Sequence):
        return (len(q),), [_fraction(name, each, scale) for each in q]
    if not hasattr(q, "shape") or plugins.is_scalar(q):
        return (), [_fraction(name, q, scale)]
    if (backend := plugins.by_type.get(type(q))) is not None and backend.base is None:
        numbers = [_fraction(name, each, scale) for each in backend.to_host(q).reshape(-1).tolist()]
        if backend is not x.node.spec.backend.root:
            return tuple(q.shape), numbers
    flat = reshape(q, shape=(-1,))
    spec = flat.node.spec
    dtype = spec.wide if spec.differentiable else spec.backend.default_dtype("float")
    return tuple(q.shape), astype(flat, dtype, copy=False) / scale


def _fraction(name: str, q: Any, scale: int) -> float:
    """Return one of the arguments `q` of the function `name`, from 0 to `scale`, as a fraction."""
    value = float(q)
    if not 0 <= value <= scale:
        unit = "fractions" if scale == 1 else "percentages"
        raise ValueError(f"{name}: expected {unit} from 0 to {scale}, got {value}")
    return value / scale


def _at(ordered: Variable, place: float, method: str) -> Variable:
    """Return the value at a fractional position along the last axis."""
    low = min(math.floor(place), ordered.shape[-1] - 1)
    high = min(low + 1, ordered.shape[-1] - 1)
    weight = place - low
    if method == "nearest":
        weight = float(round(place) - low)  # halves to even, as in NumPy
    elif method != "linear" and weight:
        weight = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method]
    if not weight:
        return ordered[..., low]
    if weight == 1:
        return ordered[..., high]
    return ordered[..., low] * (1 - weight) + ordered[..., high] * weight


def nanmedian(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Median over `axis` of the elements that are not NaN, as in `median`; NaN for all-NaN slices."""
    return nanquantile(x, 0.5, axis=axis, keepdims=keepdims)


def median(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Median over `axis`, or the mean of the two middle elements. With `keepdims`, `axis` stays with length 1."""
    return quantile(x, 0.5, axis=axis, keepdims=keepdims)


def _unique(x: Variable) -> Variable:
    """Return the unique elements of a vector, sorted; of equal elements, the first."""
    xp = x.node.spec.backend.xp
    return take(x, xp.unique_all(x.array).indices, axis=0)


def nunique(x: AnyArray, /) -> Variable:
    """Number of unique elements, a 0-d integer without a gradient."""
    x = as_variable(x)
    backend = x.node.spec.backend
    count = backend.xp.unique_values(x.array).shape[0]
    return as_variable(backend.asarray(count, device=x.node.spec.device))


def union1d(a: AnyArray, b: AnyArray, /) -> Variable:
    """The unique elements of both arrays, sorted; the gradient goes to the first occurrence."""
    return _unique(concat([reshape(a, shape=(-1,)), reshape(b, shape=(-1,))]))


def setdiff1d(a: AnyArray, b: AnyArray, /, *, assume_unique: bool = False) -> Variable:
    """The unique elements of `a` that are not in `b`, sorted; the gradient goes to the first occurrence.

    Parameters
    ----------
    a, b : Variable or array
    assume_unique : bool
        Return the elements in the order of `a`, which must be distinct.
    """
    values = reshape(a, shape=(-1,)) if assume_unique else _unique(reshape(a, shape=(-1,)))
    others = beside(values.node.spec, b, "setdiff1d")
    xp = values.node.spec.backend.xp
    removed = xp.any(xp.equal(xp.reshape(values.array, shape=(-1, 1)), xp.reshape(others, shape=(1, -1))), axis=1)
    return values[xp.logical_not(removed)]
