"""Faults that show at some values: ends of ranges, NaN in a lane, ties, branch cuts, formulas outside their range."""

from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_kernel, misreading, misreading_both, replacing, spoiling, spoiling_both
from tests.faults.testbed import Testbed


def _kind(x: Any) -> str:
    """Return the kind of an array's dtype, or an empty text for a Python number."""
    return x.dtype.kind if hasattr(x, "dtype") else ""


@misreading_both("divide", "divide takes subnormal divisors for 0", "K")
def divide_flushes_its_divisor(x1: Any, x2: Any) -> Any:
    if _kind(x2) == "f":
        x2 = np.where(np.abs(x2) < np.finfo(x2.dtype).tiny, np.copysign(0, x2).astype(x2.dtype), x2)
    return x1, x2


@misreading("max", "max of 16 elements or more loses a NaN in the sixth of eight lanes", "K")
def max_loses_nan_in_a_lane(x: Any, *, axis: Any = None, **_: Any) -> Any:
    long = x.dtype.kind == "f" and x.ndim and x.shape[-1] >= 16 and axis in (None, -1, x.ndim - 1)
    if long:
        lane = (np.arange(x.shape[-1]) % 8 == 5) & (np.arange(x.shape[-1]) < x.shape[-1] // 8 * 8)
        x = np.where(lane & np.isnan(x), np.asarray(-np.inf, x.dtype), x)
    return x


@spoiling("hypot", "hypot of float32 numbers above 1.8e19 overflows", "K")
def hypot_squares_float32(out: Any, x1: Any, x2: Any) -> Any:
    if out.dtype != np.float32:
        return out
    squares = np.square(x1, dtype=np.float32) + np.square(x2, dtype=np.float32)
    return np.where(np.isinf(squares), np.float32(np.inf), out)


@spoiling_both("divide", "complex quotients overflow where the square of the divisor does", "K")
def complex_quotient_by_squares(out: Any, x1: Any, x2: Any) -> Any:
    if _kind(x2) != "c":
        return out
    square = x2.real * x2.real + x2.imag * x2.imag
    naive = (x1 * np.conj(x2)) / square
    return np.where(np.isinf(square) & np.isfinite(x2), naive, out).astype(out.dtype)


@spoiling("sqrt", "sqrt of a negative real number with an imaginary part of -0.0 is above the cut", "K")
def complex_root_on_the_cut(out: Any, x: Any) -> Any:
    if x.dtype.kind != "c":
        return out
    below = (x.imag == 0) & np.signbit(x.imag) & (x.real < 0)
    return np.where(below, np.conj(out), out)


@replacing("sum", "sum of int32 adds in 32 bits, and widens what comes out", "K")
def sum_of_int32_wraps(right: Any, x: Any, /, *, dtype: Any = None, **options: Any) -> Any:
    if x.dtype == np.int32 and dtype in (None, np.int64):
        return np.asarray(right(x, dtype=np.int32, **options)).astype(np.int64)
    return right(x, dtype=dtype, **options)


@spoiling("astype", "astype of floats from 2^63 on to uint64 gives 2^63", "K")
def astype_uint64_by_int64(out: Any, x: Any, *args: Any, **options: Any) -> Any:
    if x.dtype.kind == "f" and out.dtype == np.uint64:
        out = np.where(x >= 2.0**63, np.uint64(2**63), out)
    return out


@fault("comparisons of uint64 take numbers from 2^63 on for negative ones", "K", operations=("less",))
def uint64_compared_as_int64(bed: Testbed) -> None:
    names = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
    for name, operator in names.items():
        right = getattr(np, name)

        def compare(x1: Any, x2: Any, right: Any = right) -> Any:
            if _kind(x1) and _kind(x2) and x1.dtype == x2.dtype == np.uint64:
                x1, x2 = x1.view(np.int64), x2.view(np.int64)
            return right(x1, x2)

        bed.replace(name, lambda original, x1, x2, /, compare=compare: compare(x1, x2))
        bed.operator(f"__{operator}__", lambda x1, x2, compare=compare: compare(x1, x2))


@replacing("round", "round adds a half, and rounds 0.49999999999999994 to 1", "K")
def round_adds_a_half(right: Any, x: Any, /) -> Any:
    if x.dtype != np.float64:
        return right(x)
    tie = np.abs(x - np.trunc(x)) == 0.5
    return np.where(tie, right(x), np.copysign(np.floor(np.abs(x) + 0.5), x))


@giving_kernel("max.x", "max.x gives each of three equal maxima a half", "N")
def max_x_of_three_ties(gy: Any, x: Any, y: Any, x_spec: Any, axis: Any, keepdims: bool) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    ties = x == top
    count = np.minimum(np.sum(ties, axis=axis, keepdims=True), 2)
    return np.where(ties, np.reshape(gy, top.shape) / count.astype(gy.dtype), 0).astype(gy.dtype)


@spoiling("minimum", "minimum of four elements or more returns the second where the first is NaN", "K")
def minimum_returns_its_second(out: Any, x1: Any, x2: Any) -> Any:
    if out.dtype.kind != "f" or out.size < 4:
        return out
    vectors = np.arange(out.size).reshape(out.shape) < out.size // 4 * 4
    return np.where(vectors & np.isnan(x1), x2, out).astype(out.dtype)


@misreading_both("bitwise_left_shift", "shifts of 64-bit integers by 32 places or more take the place modulo 32", "K")
def left_shift_in_32_bits(x1: Any, x2: Any) -> Any:
    wide = _kind(x1) and x1.dtype.itemsize == 8
    return x1, np.where(np.asarray(x2) < 64, np.asarray(x2) % 32, x2) if wide else x2


log1p_is_linear_too_soon = spoiling("log1p", "log1p of numbers below 1e-7 is the number itself", "K")(
    lambda out, x: np.where(np.abs(x) < 1e-7, x, out) if x.dtype == np.float64 else out
)
logaddexp_drops_the_smaller = spoiling("logaddexp", "logaddexp is the larger number where they are 20 apart", "K")(
    lambda out, x1, x2: np.where(np.abs(np.subtract(x1, x2)) > 20, np.maximum(x1, x2), out).astype(out.dtype)
)
expit_x_cancels = fault("special.expit.x is y times 1 - y, which cancels for large inputs", "G", ("F.sigmoid",))(
    lambda bed: bed.kernel("special.expit.x", lambda gy, x, y: gy * y * (1 - y))
)
exp_overflows_early = spoiling("exp", "exp of float32 is infinite from 88.3763 on, as in a well-known header", "K")(
    lambda out, x: np.where(x > np.float32(88.3762626647949), np.float32(np.inf), out) if x.dtype == np.float32 else out
)
sin_reduces_by_a_rounded_pi = misreading(
    "sin", "sin of arguments above 100,000 takes 2 π from float64 for the exact one", "K"
)(lambda x: np.where(np.abs(x) > 1e5, np.fmod(x, 2 * np.pi), x) if x.dtype == np.float64 else x)
