"""Faults in kernels that reduce, accumulate, order and choose."""

from typing import Any

import numpy as np
from tests.faults.fault import Fault, fault, replace
from tests.faults.testbed import Testbed

SUMS = "sum", "sum-axis", "sum-axes"


@fault("sum-drops-keepdims", "sum drops keepdims", "KG", SUMS)
def sum_drops_keepdims(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return original(x, axis=axis, dtype=dtype)

    bed.replace("sum", wrong)


@fault("float32-sum-is-float64", "float32 sum returns float64", "DK", SUMS)
def float32_sum_is_float64(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        return out.astype(np.float64) if out.dtype == np.float32 else out

    bed.replace("sum", wrong)


@fault("sum-of-first-axis-only", "sum over tuple reduces only the first axis", "KG", SUMS)
def sum_of_first_axis_only(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, dtype=dtype, keepdims=keepdims)
        if not isinstance(axis, tuple) or len(axis) < 2:
            return out
        first = np.take(x, [0], axis=axis[1])
        for other in axis[2:]:
            first = np.take(first, [0], axis=other)
        return np.broadcast_to(original(first, axis=axis, keepdims=keepdims), out.shape).copy()

    bed.replace("sum", wrong)


@fault(
    "sum-of-unsorted-axes",
    "sum over a tuple of axes that is not sorted, or negative, takes other axes",
    "K",
    SUMS,
    operations=("sum",),
)
def sum_of_unsorted_axes(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        if isinstance(axis, tuple) and list(axis) != sorted(axis):
            axis = tuple(range(len(axis)))
        return original(x, axis=axis, **options)

    bed.replace("sum", wrong)


@fault("sum-0d-has-axis", "0-d result has shape (1,)", "K", ("sum",))
def sum_0d_has_axis(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = np.asarray(original(x, **options))
        return out.reshape(1) if out.ndim == 0 else out

    bed.replace("sum", wrong)


@fault("sum-one-by-one", "float32 sum adds one number after the other, and loses digits", "K", operations=("sum",))
def sum_one_by_one(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        if x.dtype == np.float32 and axis is None and x.size > 1000:
            return np.asarray(np.cumsum(x.reshape(-1))[-1])
        return original(x, axis=axis, **options)

    bed.replace("sum", wrong)


@fault("sum-forgets-tail", "sum leaves out what follows the last full vector of eight, in long arrays", "K")
def sum_forgets_tail(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        if axis is None and x.ndim == 1 and x.size > 16:
            x = x[: x.size // 8 * 8]
        return original(x, axis=axis, **options)

    bed.replace("sum", wrong)


@fault("int8-sum-overflows", "the sum of int8 stays int8 and overflows", "K", operations=("sum",))
def int8_sum_overflows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        return out.astype(np.int8).astype(out.dtype) if x.dtype == np.int8 else out

    bed.replace("sum", wrong)


@fault(
    "max-by-tolerance",
    "equality compares with a tolerance, so near elements count as ties",
    "KG",
    ("equal", "max-axis"),
)
def max_by_tolerance(bed: Testbed) -> None:
    def near(x1: Any, x2: Any) -> Any:
        inexact = getattr(x1, "dtype", np.asarray(x2).dtype).kind in "fc"
        return np.isclose(x1, x2, rtol=0.3, atol=1e-6) if inexact else np.equal(x1, x2)

    bed.both("equal", "eq", near)


@fault(
    "equal-compares-bits", "equal compares bits, so that 0 and -0 are different and no tie", "KN", operations=("equal",)
)
def equal_compares_bits(bed: Testbed) -> None:
    def equal(x1: Any, x2: Any) -> Any:
        same = np.equal(x1, x2)
        return same & (np.signbit(x1) == np.signbit(x2)) if np.result_type(x1, x2).kind == "f" else same

    bed.both("equal", "eq", equal)


@fault("where-multiplies", "where multiplies by the mask, so what is not chosen may be NaN", "KN")
def where_multiplies(bed: Testbed) -> None:
    def wrong(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        out = original(condition, x1, x2)
        if out.dtype.kind != "f":
            return out
        mask = condition.astype(out.dtype)
        return mask * x1 + (1 - mask) * x2

    bed.replace("where", wrong)


@fault(
    "mean-of-whole-size", "mean divides by the number of all elements, whatever the axis", "KGW", ("mean", "mean-axis")
)
def mean_of_whole_size(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        return np.sum(x, axis=axis, keepdims=keepdims) / x.dtype.type(max(x.size, 1))

    bed.replace("mean", wrong)


@fault("prod-of-empty-is-zero", "the product of nothing is 0", "K", ("prod-axis",))
def prod_of_empty_is_zero(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        return np.zeros_like(out) if x.size == 0 else out

    bed.replace("prod", wrong)


@fault("cumsum-ignores-axis", "cumsum ignores axis", "KG", ("cumulative_sum",))
def cumsum_ignores_axis(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        return original(x, axis=None if axis is None else 0, **options)

    bed.replace("cumulative_sum", wrong)


@fault("cumsum-forgets-initial", "cumulative_sum begins with the first element though include_initial asks for 0", "K")
def cumsum_forgets_initial(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, include_initial: bool = False, **options: Any) -> Any:
        out = original(x, include_initial=include_initial, **options)
        return np.roll(out, -1, options.get("axis") or 0) if include_initial else out

    bed.replace("cumulative_sum", wrong)


@fault("argmax-takes-last", "argmax gives the last of equal elements", "K", operations=("argmax",))
def argmax_takes_last(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is None:
            return original(x, axis=axis, keepdims=keepdims)
        return x.shape[axis] - 1 - original(np.flip(x, axis), axis=axis, keepdims=keepdims)

    bed.replace("argmax", wrong)


@fault("argsort-unstable", "argsort descending turns the order of equal elements around", "K", operations=("argsort",))
def argsort_unstable(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        out = original(x, axis=axis)
        return np.flip(out, axis) if descending else out

    bed.replace("argsort", wrong)


@fault("any-of-axis-is-all", "any over an axis is all", "K", ("any", "any-axis"))
def any_of_axis_is_all(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        call = original if axis is None else np.all
        return call(x, axis=axis, keepdims=keepdims)

    bed.replace("any", wrong)


@fault(
    "searchsorted-forgets-side", "searchsorted ignores side where a sorter is given", "K", operations=("searchsorted",)
)
def searchsorted_forgets_side(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
        return original(x1, x2, side=side if sorter is None else "left", sorter=sorter)

    bed.replace("searchsorted", wrong)


@fault(
    "variance-in-one-pass",
    "var in float32 is the mean of squares less the square of the mean",
    "K",
    operations=("var",),
)
def variance_in_one_pass(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        if x.dtype != np.float32:
            return original(x, axis=axis, correction=correction, keepdims=keepdims)
        count = x.size if axis is None else np.prod([x.shape[i] for i in np.atleast_1d(axis)])
        mean = np.mean(x, axis=axis, keepdims=keepdims)
        return (np.mean(x * x, axis=axis, keepdims=keepdims) - mean * mean) * np.float32(count / (count - correction))

    bed.replace("var", wrong)


FAULTS = (
    Fault(
        "max-ignores-nan",
        "max ignores NaN",
        "K",
        replace("max", lambda original, x, /, **options: np.asarray(np.nanmax(x, **options))),
        operations=("max",),
    ),
    Fault(
        "max-starts-at-zero",
        "max starts from 0, so that negative numbers are lost",
        "KN",
        replace("max", lambda original, x, /, **options: np.maximum(original(x, **options), x.dtype.type(0))),
        ("max",),
    ),
    Fault(
        "var-ignores-correction",
        "var ignores correction",
        "K",
        replace("var", lambda original, x, /, *, correction=0.0, **options: original(x, **options)),
        ("var", "var-axis", "var-axes"),
    ),
    Fault(
        "sort-ignores-descending",
        "sort ignores descending",
        "K",
        replace("sort", lambda original, x, /, *, descending=False, **options: original(x, **options)),
        ("sort", "sort-descending"),
        operations=("sort",),
    ),
    Fault(
        "searchsorted-left-only",
        "searchsorted ignores side",
        "K",
        replace("searchsorted", lambda original, x1, x2, /, *, side="left", **options: original(x1, x2, **options)),
        ("searchsorted",),
        operations=("searchsorted",),
    ),
    Fault(
        "searchsorted-flattens",
        "searchsorted gives the places of a matrix as a vector",
        "K",
        replace("searchsorted", lambda original, x1, x2, /, **options: original(x1, x2.reshape(-1), **options)),
        operations=("searchsorted",),
    ),
)
