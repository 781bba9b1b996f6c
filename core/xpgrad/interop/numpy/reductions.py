"""NumPy's reductions, scans, searches and statistics, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api import statistical
from xpgrad.graph.variable import as_variable
from xpgrad.interop.numpy import masks
from xpgrad.interop.numpy.arguments import (
    FLOATING,
    REFUSED,
    Function,
    alike,
    cast,
    cast_within,
    flat,
    given,
    numpy_function,
    numpy_functions,
)


def _total(function: Function) -> Function:
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, keepdims: Any = False, initial: Any = None,
        where: Any = True,
    ) -> Any:  # fmt: skip
        options = {"axis": axis, "dtype": dtype, "keepdims": bool(given(keepdims))}
        return function(a, where, initial, **options)

    return reduced


def _extremum(function: Function) -> Function:
    return lambda a, axis=None, out=REFUSED, keepdims=False, initial=None, where=True: function(
        a, where, initial, axis=axis, keepdims=bool(given(keepdims))
    )


def _test(function: Function) -> Function:
    return lambda a, axis=None, out=REFUSED, keepdims=False, *, where=True: function(
        a, where, axis=axis, keepdims=bool(given(keepdims))
    )


def _mean(name: str, function: Function) -> Function:
    return lambda a, axis=None, dtype=None, out=REFUSED, keepdims=False, *, where=True: function(
        cast_within(name, a, dtype, FLOATING), axis, bool(given(keepdims)), where
    )


def _moment(name: str, function: Function, about: Any = None) -> Function:
    def reduced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = REFUSED, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = about, correction: Any = None,
    ) -> Any:  # fmt: skip
        free = ddof if given(correction) is None else correction
        y = function(cast_within(name, a, dtype, FLOATING), axis, free, bool(given(keepdims)), where, mean)
        return cast(y, dtype)  # NumPy's result is also complex if `dtype` is complex

    return reduced


def _position(function: Function) -> Function:
    return lambda a, axis=None, out=REFUSED, *, keepdims=False: function(a, axis=axis, keepdims=bool(given(keepdims)))


def _nan_position(function: Function, least: float) -> Function:
    return _position(lambda a, axis, keepdims: function(_present(a, axis, least), axis=axis, keepdims=keepdims))


def _present(a: Any, axis: Any, least: float) -> Any:
    """Return `a` with `least` in place of NaN; ValueError for slices of NaN only, as in NumPy."""
    a = as_variable(a)
    if not a.node.spec.differentiable:
        return a
    missing = xp.isnan(a)
    if bool(xp.any(xp.all(missing, axis=axis))):
        raise ValueError("All-NaN slice encountered")
    return xp.where(missing, least, a)


def _scan(function: Function) -> Function:
    return lambda a, axis=None, dtype=None, out=REFUSED: function(
        flat(a) if axis is None or not a.ndim else a, axis=axis or 0, dtype=dtype
    )


def _cumulative(function: Function) -> Function:
    return lambda x, /, *, axis=None, dtype=None, out=REFUSED, include_initial=False: function(
        x, axis=axis, dtype=dtype, include_initial=include_initial
    )


def _median(function: Function) -> Function:
    return lambda a, axis=None, out=REFUSED, overwrite_input=REFUSED, keepdims=False: function(
        a, axis=axis, keepdims=bool(given(keepdims))
    )


def _quantile(function: Function) -> Function:
    def reduced(
        a: Any, q: Any, axis: Any = None, out: Any = REFUSED, overwrite_input: Any = REFUSED, method: str = "linear",
        keepdims: Any = False, *, weights: Any = REFUSED, interpolation: Any = REFUSED,
    ) -> Any:  # fmt: skip
        return function(a, q, axis=axis, method=method, keepdims=bool(given(keepdims)))

    return reduced


ROWS: dict[str, Function] = {
    "sum": _total(masks.SUM),
    "prod": _total(masks.PROD),
    "nansum": _total(masks.NANSUM),
    "nanprod": _total(masks.NANPROD),
    "max amax": _extremum(masks.MAX),
    "min amin": _extremum(masks.MIN),
    "nanmax": _extremum(masks.NANMAX),
    "nanmin": _extremum(masks.NANMIN),
    "all": _test(masks.ALL),
    "any": _test(masks.ANY),
    "mean": _mean("mean", masks.mean),
    "nanmean": _mean("nanmean", masks.nan_mean),
    "var": _moment("var", masks.variance),
    "std": _moment("std", masks.deviation),
    "nanvar": _moment("nanvar", masks.nan_variance, REFUSED),
    "nanstd": _moment("nanstd", masks.nan_deviation, REFUSED),
    "argmax": _position(xp.argmax),
    "argmin": _position(xp.argmin),
    "nanargmax": _nan_position(xp.argmax, -float("inf")),
    "nanargmin": _nan_position(xp.argmin, float("inf")),
    "cumsum": _scan(xp.cumulative_sum),
    "cumprod": _scan(xp.cumulative_prod),
    "nancumsum": _scan(ops.nancumsum),
    "nancumprod": _scan(ops.nancumprod),
    "cumulative_sum": _cumulative(xp.cumulative_sum),
    "cumulative_prod": _cumulative(xp.cumulative_prod),
    "median": _median(ops.median),
    "nanmedian": _median(ops.nanmedian),
    "quantile": _quantile(ops.quantile),
    "percentile": _quantile(ops.percentile),
    "nanquantile": _quantile(ops.nanquantile),
    "nanpercentile": _quantile(ops.nanpercentile),
    "corrcoef": lambda x, y=None, rowvar=True, *, dtype=None: ops.corrcoef(
        cast_within("corrcoef", _observations(x, y, rowvar), dtype, FLOATING)
    ),
    "ptp": lambda a, axis=None, out=REFUSED, keepdims=False: (
        xp.max(a, axis=axis, keepdims=bool(given(keepdims))) - xp.min(a, axis=axis, keepdims=bool(given(keepdims)))
    ),
    "count_nonzero": lambda a, axis=None, *, keepdims=False: xp.count_nonzero(
        a, axis=axis, keepdims=bool(given(keepdims))
    ),
    "searchsorted": lambda a, v, side="left", sorter=None: xp.searchsorted(*alike(a, v), side=side, sorter=sorter),
    "sort": lambda a, axis=-1, kind=REFUSED, order=REFUSED, *, stable=None, descending=False: xp.sort(
        flat(a) if axis is None else a, axis=0 if axis is None else axis, descending=descending
    ),
    "argsort": lambda a, axis=-1, kind=REFUSED, order=REFUSED, *, stable=None, descending=False: as_variable(a).argsort(
        axis, descending=descending
    ),
    "partition": lambda a, kth, axis=-1, kind=REFUSED, order=REFUSED: ops.partition(a, kth, axis=axis),
    "argpartition": lambda a, kth, axis=-1, kind=REFUSED, order=REFUSED: ops.argpartition(a, kth, axis=axis),
    "nonzero": lambda a: xp.nonzero(a),
    "flatnonzero": lambda a: xp.nonzero(flat(a))[0],
    "argwhere": lambda a: xp.stack(xp.nonzero(a), axis=1),
}
numpy_functions(ROWS)


@numpy_function("average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = REFUSED, *, keepdims: Any = False) -> Any:
    a, weights = (a, None) if weights is None else alike(a, weights)
    return statistical.average(a, axis, weights, bool(given(keepdims)))


@numpy_function("digitize")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    x, bins = alike(x, bins)
    if bins.size > 1 and bool(bins[0] > bins[-1]):
        return bins.size - xp.searchsorted(xp.flip(bins), x, side="left" if not right else "right")
    return xp.searchsorted(bins, x, side="left" if right else "right")


@numpy_function("cov")
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    correction = ddof if ddof is not None else 0 if bias else 1
    x = cast_within("cov", _observations(m, y, rowvar), dtype, FLOATING)
    return ops.cov(x, correction=correction, fweights=fweights, aweights=aweights)


def _observations(m: Any, y: Any, rowvar: bool) -> Any:
    """Return one array with a row for each variable, variables of `m` before variables of `y`."""
    arrays = [as_variable(m)] if y is None else alike(m, y)
    rows = [xp.matrix_transpose(x) if x.ndim == 2 and not rowvar else x for x in arrays]
    return rows[0] if len(rows) == 1 else xp.concat([ops.atleast_nd(x, ndim=2) for x in rows], axis=0)


@numpy_function("bincount")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    x = x if hasattr(x, "shape") else alike(x, weights)[0].astype("int64")
    return ops.bincount(x, weights, minlength)
