"""Faults in kernels that reduce, accumulate, order and choose."""

from typing import Any

import numpy as np
from tests.faults.fault import misreading, replacing, replacing_both, spoiling, spoiling_both

SUMS = "sum", "sum-axis", "sum-axes"


@replacing("sum", "sum over tuple reduces only the first axis", "K", SUMS)
def sum_of_first_axis_only(
    right: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False
) -> Any:
    out = right(x, axis=axis, dtype=dtype, keepdims=keepdims)
    if not isinstance(axis, tuple) or len(axis) < 2:
        return out
    first = np.take(x, [0], axis=axis[1])
    for other in axis[2:]:
        first = np.take(first, [0], axis=other)
    return np.broadcast_to(right(first, axis=axis, keepdims=keepdims), out.shape).copy()


@replacing("sum", "sum over a tuple of axes that is not sorted, or negative, takes other axes", "K", SUMS)
def sum_of_unsorted_axes(right: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    if isinstance(axis, tuple) and list(axis) != sorted(axis):
        axis = tuple(range(len(axis)))
    return right(x, axis=axis, **options)


@replacing("sum", "float32 sum adds one number after the other, and loses digits", "K")
def sum_one_by_one(right: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    if x.dtype == np.float32 and axis is None and x.size > 1000:
        return np.asarray(np.cumsum(x.reshape(-1))[-1])
    return right(x, axis=axis, **options)


@replacing_both("equal", families="KG", cases=("equal", "max-axis"))
def max_by_tolerance(x1: Any, x2: Any) -> Any:
    """equality compares with a tolerance, so near elements count as ties"""
    inexact = getattr(x1, "dtype", np.asarray(x2).dtype).kind in "fc"
    return np.isclose(x1, x2, rtol=0.3, atol=1e-6) if inexact else np.equal(x1, x2)


@spoiling("where", "where multiplies by the mask, so what is not chosen may be NaN", "KN")
def where_multiplies(out: Any, condition: Any, x1: Any, x2: Any) -> Any:
    if out.dtype.kind != "f":
        return out
    mask = condition.astype(out.dtype)
    return mask * x1 + (1 - mask) * x2


@replacing("mean", families="KW", cases=("mean", "mean-axis"))
def mean_of_whole_size(right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """mean divides by the number of all elements, whatever the axis"""
    return np.sum(x, axis=axis, keepdims=keepdims) / x.dtype.type(max(x.size, 1))


@spoiling("cumulative_sum", families="K")
def cumsum_forgets_initial(out: Any, *_: Any, include_initial: bool = False, **options: Any) -> Any:
    """cumulative_sum begins with the first element though include_initial asks for 0"""
    return np.roll(out, -1, options.get("axis") or 0) if include_initial else out


@replacing("argmax", "argmax gives the last of equal elements", "K")
def argmax_takes_last(right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is None:
        return right(x, axis=axis, keepdims=keepdims)
    return x.shape[axis] - 1 - right(np.flip(x, axis), axis=axis, keepdims=keepdims)


@replacing("argsort", "argsort descending turns the order of equal elements around", "K")
def argsort_unstable(right: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    out = right(x, axis=axis)
    return np.flip(out, axis) if descending else out


@replacing("searchsorted", "searchsorted ignores side where a sorter is given", "K")
def searchsorted_forgets_side(right: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    return right(x1, x2, side=side if sorter is None else "left", sorter=sorter)


@replacing("var", "var in float32 is the mean of squares less the square of the mean", "K")
def variance_in_one_pass(
    right: Any, x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
) -> Any:
    if x.dtype != np.float32:
        return right(x, axis=axis, correction=correction, keepdims=keepdims)
    count = x.size if axis is None else np.prod([x.shape[i] for i in np.atleast_1d(axis)])
    mean = np.mean(x, axis=axis, keepdims=keepdims)
    return (np.mean(x * x, axis=axis, keepdims=keepdims) - mean * mean) * np.float32(count / (count - correction))


sum_drops_keepdims = replacing("sum", "sum drops keepdims", "KG", SUMS)(
    lambda right, x, axis=None, dtype=None, keepdims=False: right(x, axis=axis, dtype=dtype)
)
float32_sum_is_float64 = spoiling("sum", "float32 sum returns float64", "DK", SUMS)(
    lambda out, *args, **options: out.astype(np.float64) if out.dtype == np.float32 else out
)
equal_compares_bits = spoiling_both("equal", "equal compares bits, so that 0 and -0 are different and no tie", "KN")(
    lambda same, x1, x2: same & (np.signbit(x1) == np.signbit(x2)) if np.result_type(x1, x2).kind == "f" else same
)
prod_of_empty_is_zero = spoiling("prod", "the product of nothing is 0", "K", ("prod-axis",))(
    lambda out, x, **_: np.zeros_like(out) if x.size == 0 else out
)
cumsum_ignores_axis = replacing("cumulative_sum", "cumsum ignores axis", "KG", ("cumulative_sum",))(
    lambda right, x, axis=None, **options: right(x, axis=None if axis is None else 0, **options)
)
max_ignores_nan = replacing("max", "max ignores NaN", "K")(
    lambda right, x, **options: np.asarray(np.nanmax(x, **options))
)
sort_ignores_descending = replacing("sort", "sort ignores descending", "K", ("sort", "sort-descending"))(
    lambda right, x, descending=False, **options: right(x, **options)
)
searchsorted_left_only = replacing("searchsorted", "searchsorted ignores side", "K", ("searchsorted",))(
    lambda right, x1, x2, side="left", **options: right(x1, x2, **options)
)
searchsorted_flattens = replacing("searchsorted", "searchsorted gives the places of a matrix as a vector", "K")(
    lambda right, x1, x2, **options: right(x1, x2.reshape(-1), **options)
)
sum_forgets_tail = misreading("sum", "sum leaves out what follows the last full vector of eight, in long arrays", "K")(
    lambda x, axis=None, **_: x[: x.size // 8 * 8] if axis is None and x.ndim == 1 and x.size > 16 else x
)
any_of_axis_is_all = replacing("any", "any over an axis is all", "K", ("any", "any-axis"))(
    lambda right, x, axis=None, keepdims=False: (right if axis is None else np.all)(x, axis=axis, keepdims=keepdims)
)
max_starts_at_zero = replacing("max", "max starts from 0, so that negative numbers are lost", "KN", ("max",))(
    lambda right, x, **options: np.maximum(right(x, **options), x.dtype.type(0))
)
var_ignores_correction = replacing("var", "var ignores correction", "K", ("var", "var-axis", "var-axes"))(
    lambda right, x, correction=0.0, **options: right(x, **options)
)
