"""Reductions over a part of the elements: NumPy's arguments `where=`, `initial=` and `mean=` for Variables.

An element that is left out is replaced before the reduction, so that it has no effect on values and gradients. In the
reductions that ignore NaN it becomes NaN.
"""

import math
from functools import partial
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api.data_types import to_floating
from xpgrad.array_api.elementwise.magnitude import squared_modulus
from xpgrad.array_api.shared.axes import reduced_count
from xpgrad.array_api.statistical import count_of
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import Function, given, like


def mask_of(a: Variable, where: Any) -> Any:
    """Return `where` as a constant of the shape of `a`; None if it leaves out no element."""
    if given(where) is None or where is True:
        return None
    mask = like(a, where, exact=True)
    if not mask.node.spec.backend.is_kind(mask.dtype, "bool"):
        raise TypeError(f"where=: expected booleans, got {mask.dtype}; compare, as in where=v > 0")
    return mask if mask.shape == a.shape else xp.broadcast_to(mask, shape=a.shape)


def _total(
    reduce: Function, neutral: float, combine: Function, a: Any, where: Any = None, initial: Any = None, **options: Any
) -> Any:
    """Return a sum or product of the elements where the mask is true, and of `initial`."""
    a = as_variable(a)
    mask = mask_of(a, where)
    y = reduce(a if mask is None else xp.where(mask, a, neutral), **options)
    return y if given(initial) is None else combine(y, initial)


def _extremum(
    reduce: Function, combine: Function, name: str, a: Any, where: Any = None, initial: Any = None, **options: Any
) -> Any:
    """Return a maximum or minimum; elements and `initial` that tie share the gradient equally."""
    a = as_variable(a)
    mask, initial = mask_of(a, where), given(initial)
    if initial is None and mask is None:
        return reduce(a, **options)
    if initial is None:
        raise ValueError(f"numpy.{name}: there may be no element where the mask is true; give initial= as well")
    if not reduced_count(a.node.spec, options["axis"]):
        return combine(xp.astype(xp.sum(a, **options), a.dtype), initial) * 0 + initial
    if mask is not None:
        a = xp.where(mask, a, _beyond(a, name))
    return combine(reduce(a, **options), initial)


def _beyond(a: Variable, name: str) -> Any:
    """Return the least or greatest value of the dtype of `a`: the identity of a maximum or minimum."""
    spec = a.node.spec
    if spec.differentiable:
        return -math.inf if name.endswith("max") else math.inf
    if spec.backend.is_kind(spec.dtype, "bool"):
        return not name.endswith("max")
    info = spec.backend.namespace.iinfo(spec.dtype)
    return int(info.min if name.endswith("max") else info.max)


def mean(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    """Return the mean of the elements where the mask is true; NaN if the mask selects no element."""
    a = as_variable(a)
    mask = mask_of(a, where)
    if mask is None:
        return xp.mean(a, axis=axis, keepdims=keepdims)
    wide, dtype = _wide(a)
    return xp.astype(_mean(wide, mask, axis, keepdims), dtype, copy=False)


def _mean(a: Variable, mask: Variable | None, axis: Any, keepdims: bool) -> Any:
    if mask is None:
        return xp.mean(a, axis=axis, keepdims=keepdims)
    return xp.sum(xp.where(mask, a, 0), axis=axis, keepdims=keepdims) / count_of(mask, a, axis, keepdims)


def _wide(a: Variable) -> tuple[Variable, Any]:
    """Return `a` in a floating-point dtype of more than 16 bits, so that counts are exact, and the result's dtype."""
    spec = a.node.spec
    names = spec.backend.namespace
    if not spec.differentiable:
        dtype = spec.backend.default_dtype("float")
        return xp.astype(a, dtype), dtype
    return (xp.astype(a, names.float32) if names.finfo(a.dtype).bits == 16 else a), a.dtype


def variance(a: Any, axis: Any, free: Any, keepdims: bool, where: Any, about: Any) -> Any:
    """Return the variance of the elements where the mask is true, about their mean or the mean `about`."""
    a = as_variable(a)
    mask, about = mask_of(a, where), given(about)
    if mask is None and about is None:
        return xp.var(a, axis=axis, correction=free, keepdims=keepdims)
    wide, dtype = _wide(a)
    centre = _mean(wide, mask, axis, True) if about is None else like(wide, about)
    rest = wide - centre if mask is None else xp.where(mask, wide - centre, 0)
    y = xp.sum(squared_modulus(rest), axis=axis, keepdims=keepdims)
    count: Any = reduced_count(a.node.spec, axis) if mask is None else count_of(mask, y, axis, keepdims)
    left = count - free
    left = max(left, 0) if mask is None else xp.maximum(left, 0)  # as NumPy: never negative
    y = y / left if mask is not None or left else y * math.nan
    return xp.astype(y, xp.real(a).dtype if a.node.spec.complex else dtype, copy=False)


def deviation(a: Any, axis: Any, free: Any, keepdims: bool, where: Any, about: Any) -> Any:
    """Return the standard deviation, the square root of `variance`."""
    a = as_variable(a)
    if mask_of(a, where) is None and given(about) is None:
        return xp.std(a, axis=axis, correction=free, keepdims=keepdims)
    return root(variance(a, axis, free, keepdims, where, about))


def root(y: Any) -> Any:
    """Return the square root of a variance; its derivative is 0 at 0, as for `std`."""
    same = y == 0
    return xp.where(same, 0.0, xp.sqrt(xp.where(same, 1.0, y)))


def _test(reduce: Function, neutral: bool, a: Any, where: Any = None, **options: Any) -> Any:
    """Return `all` or `any` of the elements where the mask is true."""
    a = as_variable(a)
    mask = mask_of(a, where)
    return reduce(a if mask is None else _replaced(a, mask, neutral), **options)


def _replaced(a: Variable, mask: Variable, value: bool) -> Any:
    truth = a if a.node.spec.backend.is_kind(a.dtype, "bool") else a != 0
    return xp.logical_or(truth, xp.logical_not(mask)) if value else xp.logical_and(truth, mask)


def _without(a: Any, where: Any) -> Any:
    """Return `a` with NaN where the mask is false."""
    a = as_variable(a)
    mask = mask_of(a, where)
    if mask is None:
        return a
    return xp.where(mask, to_floating(a), math.nan)


def _nan_total(reduce: Function, combine: Function, a: Any, where: Any, initial: Any, **options: Any) -> Any:
    """Return a sum or product that ignores NaN."""
    y = reduce(_without(a, where), **options)
    return y if given(initial) is None else combine(y, initial)


def _nan_extremum(reduce: Function, combine: Function, a: Any, where: Any, initial: Any, **options: Any) -> Any:
    """Return a maximum or minimum that ignores NaN."""
    y = reduce(_without(a, where), **options)
    return y if given(initial) is None else combine(xp.where(xp.isnan(y), initial, y), initial)


def nan_mean(a: Any, axis: Any, keepdims: bool, where: Any) -> Any:
    """Return the mean of the elements that are not NaN."""
    return ops.nanmean(_without(a, where), axis=axis, keepdims=keepdims)


def nan_variance(a: Any, axis: Any, free: Any, keepdims: bool, where: Any, _about: Any) -> Any:
    """Return the variance of the elements that are not NaN."""
    return ops.nanvar(_without(a, where), axis=axis, correction=free, keepdims=keepdims)


def nan_deviation(*args: Any) -> Any:
    """Return the standard deviation of the elements that are not NaN."""
    return root(nan_variance(*args))


SUM, PROD = partial(_total, xp.sum, 0, xp.add), partial(_total, xp.prod, 1, xp.multiply)
MAX, MIN = partial(_extremum, xp.max, xp.maximum, "max"), partial(_extremum, xp.min, xp.minimum, "min")
ALL, ANY = partial(_test, xp.all, True), partial(_test, xp.any, False)
LOGADDEXP = partial(_total, ops.logsumexp, -math.inf, xp.logaddexp)
NANSUM, NANPROD = partial(_nan_total, ops.nansum, xp.add), partial(_nan_total, ops.nanprod, xp.multiply)
NANMAX, NANMIN = partial(_nan_extremum, ops.nanmax, xp.maximum), partial(_nan_extremum, ops.nanmin, xp.minimum)
