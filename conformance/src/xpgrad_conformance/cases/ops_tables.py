"""Cases of `xpgrad.ops`: sums at positions, interpolation, statistics, order, sets and encodings."""

from typing import Any

import numpy as np

from xpgrad.testing.arrays import like
from xpgrad_conformance.table.case import Case, Input, Inputs

LINE = ((5,),)
CUBE = ((2, 3, 4),)
IDS = Input(kind="int", values=[2, 0, 2, 3])
GAPS = (Input(values=[[1.5, np.nan, -0.25], [0.5, 2.5, np.nan]]),)
KNOTS = Input(kind="real", values=[-1.5, -0.5, 0.25, 1.0, 1.75])


def _ops(name: str, call: Any, reference: Any, inputs: Inputs = ((3, 4),), **options: Any) -> Case:
    return Case(name, call, reference, inputs, area="ops", **options)


def _added(x: Any, index: Any, values: Any) -> Any:
    y = np.array(x)
    np.add.at(y, index, values)
    return y


def _segments(reduce: Any, empty: float) -> Any:
    return lambda x, i: np.array(
        [reduce(x[i == k], 0) if (i == k).any() else np.full(x.shape[1:], empty) for k in range(4)]
    )


SCATTERS = (
    _ops("scatter_add", {}, lambda x, i, u: _added(x, i, u), ((4, 3), IDS, (4, 3)), complex=True),
    _ops("scatter_add-slice", lambda ops, x, u: ops.scatter_add(x, (slice(1, None), 0), u),
         lambda x, u: _added(x, np.s_[1:, 0], u), ((4, 3), ()), complex=True),
    _ops("scatter_add-number", (0.5,), lambda x, i: _added(x, i, 0.5), ((4, 3), IDS), needs=("index_arrays",),
         complex=True),
    _ops("index_add", {"axis": 1}, lambda x, i, u: _added(x, (slice(None), i), u), ((2, 4), IDS, (2, 4)),
         needs=("index_arrays_with_slices",), complex=True),
    _ops("index_add-first", {}, lambda x, i, u: _added(x, i, u), ((4, 2), IDS, (2,)), complex=True),
    _ops("segment_sum", (4,), _segments(np.sum, 0), ((4, 3), IDS), complex=True),
    _ops("segment_mean", (4,), _segments(np.mean, 0), ((4, 3), IDS), complex=True),
    _ops("segment_max", (4,), _segments(np.max, -np.inf), ((4, 3), Input(kind="int", values=[2, 0, 1, 3]))),
    _ops("segment_max-many", (3,), lambda x, i: np.array([x[i == k].max() for k in range(3)]),
         ((7,), Input(kind="int", values=[2, 0, 1, 2, 1, 1, 0]))),
    _ops("segment_min", (3,), lambda x, i: np.array([x[i == k].min(0) for k in range(3)]),
         ((6, 2), Input(kind="int", values=[2, 0, 1, 2, 1, 1]))),
    _ops("bincount", {}, np.bincount, (IDS,), order=0, dtype="int"),
    _ops("bincount-weights", {"minlength": 6}, lambda i, w: np.eye(6)[i].T @ w, (IDS, (4,)), complex=True),
)  # fmt: skip

TABLES = (
    _ops("interp", lambda ops, x, ys: ops.interp(x, _like(KNOTS, x), ys), lambda x, ys: np.interp(x, KNOTS.values, ys),
         ((2, 3), (5,))),
    _ops("interp-table", {"left": 0.5}, lambda x, xs, ys: np.interp(x, xs, ys, left=0.5),
         (Input((7,), -1.9, 1.9, kind="real"), KNOTS, (5,)), complex=True),
    _ops("interp-period", {"period": 1.7}, lambda x, xs, ys: np.interp(x, xs, ys, period=1.7),
         ((4,), Input(values=[0.2, -0.4, 1.0]), (3,))),
    _ops("interp-one", {}, np.interp, ((), (1,), (1,))),
    _ops("trapezoid", {"dx": 0.3, "axis": 1}, lambda y: np.trapezoid(y, dx=0.3, axis=1), CUBE, complex=True),
    _ops("trapezoid-x", {"axis": 0}, lambda y, x: np.trapezoid(y, x, axis=0), ((4, 2), (4,)), complex=True),
    _ops("trapezoid-grid", {}, np.trapezoid, (Input(), Input()), complex=True),
)  # fmt: skip

STATISTICS = (
    _ops("cov", {}, np.cov, complex=True),
    _ops("cov-row", {}, np.cov, ((1, 4),), complex=True),
    _ops("cov-one", {"correction": 0}, lambda x: np.cov(x, ddof=0), LINE, complex=True),
    _ops("cov-weights", lambda ops, x, w, n: ops.cov(x, axis=0, fweights=n, aweights=w),
         lambda x, w, n: np.cov(x, rowvar=False, fweights=n, aweights=w),
         ((4, 3), Input((4,), low=0.3, kind="real"), Input(kind="int", values=[1, 2, 1, 3])), complex=True),
    _ops("corrcoef", {}, np.corrcoef, ((3, 5),), complex=True),
    _ops("nan_to_num", {"nan": 0.5}, lambda x: np.where(np.isnan(x), 0.5, x), GAPS),
    _ops("nan_to_num-plain", {}, lambda x: x + 0, complex=True),
    _ops("nansum", {"axis": 0}, lambda x: np.nansum(x, 0), GAPS, complex=True),
    _ops("nanprod", {"axis": 0}, lambda x: np.nanprod(x, 0), GAPS, complex=True),
    _ops("nancumsum", {"axis": 1}, lambda x: np.nancumsum(x, 1), GAPS, complex=True),
    _ops("nancumprod", {"axis": 0}, lambda x: np.nancumprod(x, 0), GAPS, complex=True),
    _ops("nanmean", {"axis": 1}, lambda x: np.nanmean(x, 1), GAPS, complex=True),
    _ops("nanvar", {"axis": 1, "correction": 1, "keepdims": True}, lambda x: np.nanvar(x, 1, ddof=1, keepdims=True),
         GAPS, complex=True, dtype="real"),
    _ops("nanmax", {"axis": 1, "keepdims": True}, lambda x: np.nanmax(x, 1, keepdims=True), GAPS),
    _ops("nanmin", {}, np.nanmin, GAPS),
)  # fmt: skip


def _percentile(method: Any) -> Case:
    return _ops(
        f"percentile-{method}",
        lambda ops, x: ops.percentile(x, 35, axis=0, method=method),
        lambda x: np.percentile(x, 35, axis=0, method=method),
    )


def _nanquantile(method: Any) -> Case:
    return _ops(
        f"nanquantile-{method}",
        lambda ops, x: ops.nanquantile(x, 0.35, axis=1, method=method),
        lambda x: np.nanquantile(x, 0.35, axis=1, method=method),
        GAPS,
    )


ORDERS = (
    _ops("quantile-fractions", {"axis": 0}, lambda x, q: np.quantile(x, q, axis=0),
         ((5, 2), Input((2, 2), 0.05, 0.95))),
    _ops("nanquantile-fractions", {"axis": 1}, lambda x, q: np.nanquantile(x, q, axis=1),
         (GAPS[0], Input((), 0.05, 0.95))),
    _ops("nanmedian", {"axis": 0}, lambda x: np.nanmedian(x, 0), GAPS),
    _ops("nanpercentile", lambda ops, x: ops.nanpercentile(x, [10, 70], keepdims=True),
         lambda x: np.nanpercentile(x, [10, 70], keepdims=True), GAPS),
    _ops("partition", lambda ops, x: ops.partition(x, 2, axis=1), lambda x: np.sort(x, 1)),
    _ops("partition-flat", lambda ops, x: ops.partition(x, (2, 3), axis=None), lambda x: np.sort(x, None)),
    _ops("argpartition", (2,), lambda x: np.argsort(x), order=0, dtype="int"),
    _ops("median", {}, np.median),
    _ops("median-axis", {"axis": 1, "keepdims": True}, lambda x: np.sort(x, 1)[:, x.shape[1] // 2, None], CUBE),
    _ops("quantile", (0.3,), lambda x: np.quantile(x, 0.3)),
    _ops("quantile-many", lambda ops, x: ops.quantile(x, [0.0, 0.4, 1.0], axis=(0, 2)),
         lambda x: np.quantile(x, [0.0, 0.4, 1.0], axis=(0, 2)), CUBE),
    *map(_percentile, ("lower", "higher", "midpoint", "nearest")),
    *map(_nanquantile, ("linear", "lower", "higher", "midpoint", "nearest")),
)  # fmt: skip

SETS = (
    _ops("union1d", {}, lambda a, b: np.sort(np.r_[a, b]), ((3,), (4,)), needs=("data_dependent_shapes",)),
    _ops(
        "setdiff1d",
        {},
        lambda a, b: np.array([a[2], a[0]]),
        (Input(values=[1.5, 0.5, 0.25, 0.5]), Input(values=[0.5, 3.0])),
        order=1,  # differences would separate equal elements
        needs=("data_dependent_shapes",),
    ),
    _ops("nunique", {}, lambda i: np.array(len(set(i.ravel().tolist()))), (IDS,), order=0, dtype="int",
         needs=("data_dependent_shapes",)),
    _ops("one_hot", lambda ops, i: ops.one_hot(i, 4, axis=0), lambda i: np.eye(4)[i].T, (IDS,), order=0,
         dtype="default"),
    _ops("unravel_index", ((2, 3),), lambda i: np.unravel_index(i, (2, 3)), (IDS,), order=0, dtype="int"),
)  # fmt: skip


def _like(knots: Input, x: Any) -> Any:
    """Return the table's points as an array of the library, dtype and device of `x`."""
    return like(np.asarray(knots.values), x.array if hasattr(x, "array") else x)


CASES = SCATTERS + TABLES + STATISTICS + ORDERS + SETS
