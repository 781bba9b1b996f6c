"""NumPy's reductions, searches and statistics, with its argument names, for Variables."""
# ruff: noqa: D103 - each does what NumPy's function of its name does

from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api import statistical
from xpgrad.graph.variable import as_variable
from xpgrad.interop import numpy_masks as masks
from xpgrad.interop.numpy_arguments import REFUSED, alike, dtype_like, given, numpy_function


def _with_dtype(name: str, function: Any) -> None:
    @numpy_function(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, keepdims: Any = False, initial: Any = None,
        where: Any = True,
    ) -> Any:  # fmt: skip
        options = {"axis": axis, "dtype": dtype_like(a, dtype), "keepdims": bool(given(keepdims))}
        return function(a, where, initial, **options)


def _extremum(name: str, function: Any, *aliases: str) -> None:
    @numpy_function(name, *aliases)
    def reduced(
        a: Any, axis: Any = None, out: Any = REFUSED, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        return function(a, where, initial, axis=axis, keepdims=bool(given(keepdims)))


def _test(name: str, function: Any) -> None:
    @numpy_function(name)
    def reduced(a: Any, axis: Any = None, out: Any = REFUSED, keepdims: Any = False, *, where: Any = True) -> Any:
        return function(a, where, axis=axis, keepdims=bool(given(keepdims)))


def _moment(name: str, function: Any) -> None:
    @numpy_function(name)
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        free = ddof if given(correction) is None else correction
        return function(_cast(a, dtype), axis, free, bool(given(keepdims)), where, mean)


def _cast(a: Any, dtype: Any) -> Any:
    return a if dtype is None else xp.astype(a, dtype_like(a, dtype), copy=False)


def _place(name: str, function: Any) -> None:
    @numpy_function(name)
    def found(a: Any, axis: Any = None, out: Any = REFUSED, *, keepdims: Any = False) -> Any:
        return function(a, axis=axis, keepdims=bool(given(keepdims)))


def _scan(name: str, function: Any) -> None:
    @numpy_function(name)
    def scanned(a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED) -> Any:
        flat = xp.reshape(a, shape=(-1,)) if axis is None or not a.ndim else a
        return function(flat, axis=axis or 0, dtype=dtype_like(a, dtype))


for _name, _function in (("sum", masks.SUM), ("prod", masks.PROD)):
    _with_dtype(_name, _function)
for _name, _function in (("all", masks.ALL), ("any", masks.ANY)):
    _test(_name, _function)
for _name, _function in (("var", masks.variance), ("std", masks.deviation)):
    _moment(_name, _function)
for _name, _function in (("argmax", xp.argmax), ("argmin", xp.argmin)):
    _place(_name, _function)
for _name, _function in (("cumsum", xp.cumulative_sum), ("cumprod", xp.cumulative_prod)):
    _scan(_name, _function)
_extremum("max", masks.MAX, "amax")
_extremum("min", masks.MIN, "amin")


@numpy_function("mean")
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, keepdims: Any = False, *, where: Any = True
) -> Any:
    return masks.mean(_cast(a, dtype), axis, bool(given(keepdims)), where)


@numpy_function("ptp")
def ptp(a: Any, axis: Any = None, out: Any = REFUSED, keepdims: Any = False) -> Any:
    return xp.max(a, axis=axis, keepdims=bool(given(keepdims))) - xp.min(a, axis=axis, keepdims=bool(given(keepdims)))


@numpy_function("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = REFUSED, *, keepdims: Any = False) -> Any:
    a, weights = (a, None) if weights is None else alike(a, weights)
    return statistical.average(a, axis, weights, bool(given(keepdims)))


def _median(name: str, function: Any) -> None:
    @numpy_function(name)
    def found(
        a: Any, axis: Any = None, out: Any = REFUSED, overwrite_input: Any = REFUSED, keepdims: Any = False
    ) -> Any:  # fmt: skip
        return function(a, axis=axis, keepdims=bool(given(keepdims)))


_median("median", ops.median)
_median("nanmedian", ops.nanmedian)


def _quantile(name: str, function: Any) -> None:
    @numpy_function(name)
    def found(
        a: Any, q: Any, axis: Any = None, out: Any = REFUSED, overwrite_input: Any = REFUSED, method: str = "linear",
        keepdims: Any = False, *, weights: Any = REFUSED, interpolation: Any = REFUSED,
    ) -> Any:  # fmt: skip
        return function(a, q, axis=axis, method=method, keepdims=bool(given(keepdims)))


_quantile("quantile", ops.quantile)
_quantile("percentile", ops.percentile)
_quantile("nanquantile", ops.nanquantile)
_quantile("nanpercentile", ops.nanpercentile)


@numpy_function("count_nonzero")
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return xp.count_nonzero(a, axis=axis, keepdims=bool(given(keepdims)))


@numpy_function("searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    a, v = alike(a, v)
    return xp.searchsorted(a, v, side=side, sorter=sorter)


@numpy_function("digitize")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    x, bins = alike(x, bins)
    if bins.size > 1 and bool(bins[0] > bins[-1]):
        return bins.size - xp.searchsorted(xp.flip(bins), x, side="left" if not right else "right")
    return xp.searchsorted(bins, x, side="left" if right else "right")


@numpy_function("sort")
def sort(a: Any, axis: Any = -1, kind: Any = REFUSED, order: Any = REFUSED, *, stable: Any = None) -> Any:
    return xp.sort(xp.reshape(a, shape=(-1,)), axis=0) if axis is None else xp.sort(a, axis=axis)


@numpy_function("argsort")
def argsort(a: Any, axis: Any = -1, kind: Any = REFUSED, order: Any = REFUSED, *, stable: Any = None) -> Any:
    return as_variable(a).argsort(axis)


@numpy_function("partition")
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = REFUSED, order: Any = REFUSED) -> Any:
    return ops.partition(a, kth, axis=axis)


@numpy_function("argpartition")
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = REFUSED, order: Any = REFUSED) -> Any:
    return ops.argpartition(a, kth, axis=axis)


@numpy_function("cov")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    x = _observations(_cast(m, dtype), y, rowvar)
    correction = ddof if ddof is not None else 0 if bias else 1
    return ops.cov(x, correction=correction, fweights=fweights, aweights=aweights)


@numpy_function("corrcoef")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    return ops.corrcoef(_observations(_cast(x, dtype), y, rowvar))


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Return one array with a row for each variable, of those of `m` and of `y`."""
    given = [as_variable(m)] if y is None else alike(m, y)
    rows = [xp.matrix_transpose(x) if x.ndim == 2 and not rowvar and x.shape[0] != 1 else x for x in given]
    if len(rows) == 1:
        return rows[0]
    return xp.concat([ops.atleast_nd(x, ndim=2) for x in rows], axis=0)


@numpy_function("bincount")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    x = x if hasattr(x, "shape") else alike(x, weights)[0].astype(dtype_like(weights, "int64"))
    return ops.bincount(x, weights, minlength)


def _cumulative(name: str, function: Any) -> None:
    @numpy_function(name)
    def cumulated(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = REFUSED, include_initial: bool = False
    ) -> Any:
        return function(x, axis=axis, dtype=dtype_like(x, dtype), include_initial=include_initial)


_cumulative("cumulative_sum", xp.cumulative_sum)
_cumulative("cumulative_prod", xp.cumulative_prod)


@numpy_function("nonzero")
def nonzero(a: Any) -> Any:
    return xp.nonzero(a)


@numpy_function("flatnonzero")
def flatnonzero(a: Any) -> Any:
    return xp.nonzero(xp.reshape(a, shape=(-1,)))[0]


@numpy_function("argwhere")
def argwhere(a: Any) -> Any:
    return xp.stack(xp.nonzero(a), axis=1)
