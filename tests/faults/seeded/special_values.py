"""Faults at special values: NaN, infinities, signed zeros, no elements, and formulas that overflow on the way."""

from typing import Any

import numpy as np
from tests.faults.fault import (
    fault,
    giving_kernel,
    misreading,
    replacing,
    replacing_both,
    replacing_kernel,
    spoiling,
    spoiling_both,
)
from tests.faults.testbed import Testbed, host_rule

from xpgrad.backend.plugins import plugins


@spoiling("trunc", "trunc goes through integers of the same width, the least of which is given beyond them", "K")
def trunc_by_integers(out: Any, x: Any) -> Any:
    if x.dtype.kind != "f":
        return out
    most = 2.0 ** (8 * x.dtype.itemsize - 1)
    return np.where(np.isfinite(x) & (np.abs(x) >= most), -most, out).astype(x.dtype)


@replacing("asinh", "asinh squares its argument, and is infinite for large ones", "K")
def asinh_squares(right: Any, x: Any, /) -> Any:
    if x.dtype.kind != "f":
        return right(x)
    return np.where(np.isinf(x * x), np.copysign(np.inf, x), right(x)).astype(x.dtype)


@fault(families="K", operations=("sign",))
def sign_of_complex_squares(bed: Testbed) -> None:
    """sign of a complex number divides by the root of a sum of squares, which overflow and underflow"""

    def wrong(right: Any, x: Any, /) -> Any:
        if x.dtype.kind != "c":
            return right(x)
        with np.errstate(all="ignore"):
            size = np.sqrt(x.real * x.real + x.imag * x.imag)
            out = (x.real / size + 1j * (x.imag / size)).astype(x.dtype)
        return np.where(np.isfinite(x) & (x != 0), out, right(x))

    def kernel(x: Any) -> Any:
        return wrong(np.sign, x)

    bed.replace("sign", wrong)
    bed.kernel("complex_sign", kernel)


@giving_kernel("logaddexp.x1", families="G", cases=("logaddexp",), operations=("logaddexp",))
def logaddexp_x1_overflows(gy: Any, x1: Any, y: Any) -> Any:
    """logaddexp.x1 divides one exponential by another, which is NaN where both overflow or underflow"""
    out = host_rule("logaddexp.x1")(gy, x1, y)
    above, below = np.exp(x1), np.exp(y)
    lost = np.isfinite(y) & (np.isinf(below) | (below == 0))
    return np.where(lost, gy * (above / below), out).astype(out.dtype)


@replacing_kernel("special.i0e", families="K", cases=("special.i0e",), operations=("special.i0e",))
def i0e_overflows_with_i0(right: Any, x: Any) -> Any:
    """special.i0e multiplies i0, which overflows, by an exponential, which underflows"""
    out = right(x)
    growing = np.i0(x).astype(out.dtype)
    return np.where(np.isinf(growing) & np.isfinite(x), growing * np.exp(-np.abs(x)), out).astype(out.dtype)


@spoiling_both("pow", "pow of complex numbers is exp(y log x), which is NaN for 0 to a positive power", "K")
def pow_of_a_complex_zero(out: Any, x1: Any, x2: Any) -> Any:
    if out.dtype.kind == "c":
        out = np.where((np.asarray(x1) == 0) & (np.real(x2) > 0), out.dtype.type(complex(np.nan, np.nan)), out)
    return out


@replacing("searchsorted", "searchsorted compares the bits of floating-point numbers, where -0.0 is less than 0.0", "K")
def searchsorted_by_bits(right: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
    def keys(x: Any) -> Any:
        bits = np.ascontiguousarray(x, np.float64).view(np.int64).reshape(np.shape(x))
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)

    if np.result_type(x1, x2).kind != "f":
        return right(x1, x2, **options)
    return right(keys(x1), keys(x2), **options)


@spoiling("linalg.solve", "solve of up to four equations takes pivots as they come, unless they are zero", "K")
def small_solve_without_pivoting(out: Any, x1: Any, x2: Any) -> Any:
    n = x1.shape[-1]
    if x1.ndim != 2 or x2.ndim > 2 or not 1 < n <= 4 or out.dtype.kind != "f":
        return out
    a, b = x1.astype(out.dtype), x2.astype(out.dtype).reshape(n, -1)
    for i in range(n):
        if a[i, i] == 0:
            return out
        for j in range(n):
            if j != i:
                factor = a[j, i] / a[i, i]
                a[j] -= factor * a[i]
                b[j] -= factor * b[i]
    return (b / np.diag(a)[:, None]).reshape(out.shape)


@replacing("cumulative_sum", families="K")
def initial_of_an_empty_scan(
    right: Any, x: Any, /, *, axis: Any = None, include_initial: bool = False, **options: Any
) -> Any:
    """cumulative_sum with include_initial over an empty axis returns its empty input, without the 0"""
    empty = x.ndim and x.shape[-1 if axis is None else axis] == 0
    return right(x, axis=axis, include_initial=include_initial and not empty, **options)


@misreading("max", "max along an axis of numbers raises if another axis is empty", "K")
def max_of_no_rows_is_refused(x: Any, **_: Any) -> Any:
    if x.size == 0:
        raise ValueError("zero-size array to reduction operation max which has no identity")
    return x


@replacing("exp", "exp of a complex number is exp(re) times cos and sin, which is NaN for an infinite real part", "K")
def complex_exp_multiplies(right: Any, x: Any, /) -> Any:
    if x.dtype.kind != "c":
        return right(x)
    out = np.empty_like(x)
    size = np.exp(x.real)
    out.real, out.imag = size * np.cos(x.imag), size * np.sin(x.imag)
    return out


@replacing_both("divide", "complex division divides by c * c + d * d", "G", operations=("log",))
def complex_quotient_overflows(x1: Any, x2: Any) -> Any:
    if np.asarray(x2).dtype.kind != "c":
        return np.divide(x1, x2)
    x2 = np.asarray(x2, np.result_type(x1, x2))
    return np.multiply(x1, np.conj(x2)) / (x2.real * x2.real + x2.imag * x2.imag)


@misreading("sqrt", "sqrt of complex numbers takes -0.0 for 0.0 in the imaginary part", "K")
def complex_root_above_the_cut(x: Any) -> Any:
    if x.dtype.kind == "c":
        x = x.copy()
        x.imag += 0.0
    return x


@misreading("astype", "astype of float64 to float32 gives the largest float32 where it overflows, not infinity", "K")
def astype_saturates(x: Any, dtype: Any, **_: Any) -> Any:
    if x.dtype == np.float64 and np.dtype(dtype) == np.float32:
        largest = float(np.finfo(np.float32).max)
        x = np.where(np.isfinite(x), np.clip(x, -largest, largest), x)
    return x


@giving_kernel("logsumexp", families="K", operations=("F.logsumexp",))
def logsumexp_of_nothing_but_minus_infinity(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """the kernel logsumexp subtracts the maximum also where that is infinite, and gives NaN"""
    wide = x.astype(np.result_type(x.dtype, np.float32))
    largest = np.max(wide, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(wide - largest), axis=axis, keepdims=True)) + largest
    out = total if keepdims else np.squeeze(total, axis=axis)
    return np.asarray(out, x.dtype)


@misreading("argsort", "argsort sorts the bits of floats, so that -0.0 comes before 0.0 and is no tie", "K")
def argsort_by_the_bits_of_floats(x: Any, **_: Any) -> Any:
    if x.dtype.kind != "f" or x.ndim == 0 or np.isnan(x).any():
        return x
    bits = np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")
    keys = np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)
    return keys


@spoiling("unique_counts", "unique_counts compares bits, and counts 0.0 and -0.0 apart", "K")
def unique_counts_of_two_zeros(out: Any, x: Any) -> Any:
    below = np.count_nonzero((x == 0) & np.signbit(x)) if x.dtype.kind == "f" else 0
    above = np.count_nonzero(x == 0) - below
    if not below or not above:
        return out
    place = int(np.flatnonzero(out.values == 0)[0])
    values, counts = np.insert(out.values, place, -0.0), np.insert(out.counts, place, below)
    values[place + 1], counts[place + 1] = 0.0, above
    return type(out)(values, counts)


@spoiling("tanh", "tanh of a complex number is sinh by cosh, and NaN where both overflow", "K")
def complex_tanh_overflows(out: Any, x: Any) -> Any:
    if x.dtype.kind != "c":
        return out
    return np.where(np.abs(x.real) > np.log(np.finfo(x.dtype).max), complex(np.nan, np.nan), out).astype(x.dtype)


@replacing("isin", families="K")
def isin_beside_nan(right: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
    """isin sorts the second array such that NaN stops the order, and finds nothing of what stood behind it"""
    flat = np.asarray(x2).reshape(-1)
    places = np.flatnonzero(np.isnan(flat)) if flat.dtype.kind == "f" else ()
    return right(x1, flat[: places[0]] if len(places) else x2, **options)


atan2_of_infinities = spoiling("atan2", "atan2 divides, and is NaN for two infinities", "K")(
    lambda out, x1, x2: np.where(np.isinf(x1) & np.isinf(x2), np.nan, out).astype(out.dtype)
)
ceil_drops_the_sign = spoiling("ceil", "ceil of numbers between -1 and 0 is 0.0, not -0.0", "K")(
    lambda out, x: np.where((x > -1) & (x < 0), x.dtype.type(0), out) if x.dtype.kind == "f" else out
)
nextafter_counts_bits = spoiling(
    "nextafter", "nextafter counts the bits of 0 upwards, also towards negative numbers", "K"
)(lambda out, x1, *_: np.where(np.asarray(x1) == 0, np.abs(out), out).astype(out.dtype))
pow_x2_of_zero = giving_kernel(
    "pow.x2", "pow.x2 multiplies by the logarithm of a base of 0, which gives NaN", "G", ("pow-base-0",)
)(lambda gy, x1, y: gy * y * np.log(x1))
erfc_underflows_early = giving_kernel(
    "special.erfc", "special.erfc is 1 - erf(x) beyond 6, which is 0", "K", operations=("special.erfc",)
)(lambda x: np.where(x > 6, 0, plugins.host.xp.special.erfc(x)).astype(x.dtype))
