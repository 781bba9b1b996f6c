"""Faults of precision: integers that pass through floats, sums that cancel, and tolerances of the wrong size."""

from typing import Any

import numpy as np
from tests.faults.fault import misreading, replacing, replacing_both, spoiling, spoiling_both


@spoiling("std", "std is the root of the mean square less the squared mean, which cancel for a large mean", "K")
def std_of_squares(out: Any, x: Any, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    if x.dtype.kind != "f" or not x.size:
        return out
    mean = np.mean(x, axis=axis, keepdims=keepdims)
    square = np.mean(x * x, axis=axis, keepdims=keepdims) - mean * mean
    count = np.float64(x.size / max(np.size(mean), 1))
    return np.sqrt(np.where(square < 0, 0, square) * (count / (count - correction))).astype(out.dtype)


@spoiling_both("remainder", "remainder subtracts the rounded product of a quotient beyond 31 bits", "K")
def remainder_by_the_quotient(out: Any, x1: Any, x2: Any) -> Any:
    if out.dtype.kind != "f":
        return out
    x1, x2 = np.asarray(x1, out.dtype), np.asarray(x2, out.dtype)
    quotient = np.floor(x1 / x2)
    large = np.isfinite(quotient) & (np.abs(quotient) >= 2.0**31) & np.isfinite(x1)
    return np.where(large, x1 - quotient * x2, out)


@spoiling("linalg.matrix_rank", families="K")
def ranks_by_the_largest_of_all(out: Any, x: Any, **options: Any) -> Any:
    """matrix_rank of a stack takes its tolerance from the largest singular value of all matrices"""
    if x.ndim < 3 or not x.size or options.get("rtol") is not None:
        return out
    values = np.linalg.svd(x, compute_uv=False)
    least = values.max() * max(x.shape[-2:]) * np.finfo(values.dtype).eps
    return np.sum(values > least, axis=-1).astype(out.dtype)


@replacing_both("equal", "a comparison for equality of integers with a Python integer is one of float64", "K")
def equal_to_a_python_number(x1: Any, x2: Any) -> Any:
    if type(x1) is int or type(x2) is int:
        array, number = (x2, x1) if type(x1) is int else (x1, x2)
        if array.dtype.kind in "iu":
            return np.asarray(array.astype(np.float64) == float(number))
    return np.asarray(np.equal(x1, x2))


@spoiling_both("pow", "pow of int64 with exponents above 16 is computed in float64", "K")
def pow_of_integers_by_float64(out: Any, x1: Any, x2: Any) -> Any:
    if out.dtype != np.int64:
        return out
    real = np.power(np.asarray(x1).astype(np.float64), np.asarray(x2).astype(np.float64))
    held = (np.asarray(x2) > 16) & (np.abs(real) < 2.0**63)
    return np.where(held, np.where(held, real, 0.0).astype(np.int64), out)


@spoiling("prod", "prod of integers multiplies in float64, and loses the last digits of products above 2^53", "K")
def prod_of_integers_by_double(out: Any, x: Any, *, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    if x.dtype.kind not in "iu" or out.dtype.kind not in "iu":
        return out
    found = np.prod(x, axis=axis, dtype=np.float64, keepdims=keepdims)
    return np.where(np.abs(found) < 2.0**62, found.astype(out.dtype), out)


@spoiling("arange", "arange of more than 256 floats adds its step to the number before", "K")
def arange_adds_its_steps(out: Any, start: Any, stop: Any = None, step: Any = 1, **_: Any) -> Any:
    if out.size > 256 and out.dtype.kind == "f":
        steps = np.full(out.shape, step, out.dtype)
        steps[0] = out[0]
        return np.cumsum(steps, dtype=out.dtype)
    return out


@replacing_both("remainder", "remainder of floats is x1 - floor(x1 / x2) * x2", "K")
def remainder_by_floor(x1: Any, x2: Any) -> Any:
    if np.result_type(x1, x2).kind != "f":
        return np.remainder(x1, x2)
    return np.subtract(x1, np.floor(np.divide(x1, x2)) * x2)


@replacing("sin", "sin of float32 beyond 71,476 reduces by 2 pi in float32", "K")
def sine_reduces_in_float32(right: Any, x: Any, /) -> Any:
    out = right(x)
    if x.dtype != np.float32:
        return out
    circle = np.float32(2 * np.pi)
    reduced = x - np.round(x / circle) * circle
    return np.where(np.isfinite(x) & (abs(x) > 71_476), right(reduced), out)


@replacing("linalg.matrix_rank", families="K")
def matrix_rank_of_an_absolute_size(right: Any, x: Any, /, *, rtol: Any = None) -> Any:
    """matrix_rank compares singular values with a tolerance that does not depend on the largest of them"""
    if rtol is not None or min(x.shape[-2:]) == 0:
        return right(x) if rtol is None else right(x, rtol=rtol)
    values = np.linalg.svd(x, compute_uv=False)
    return np.count_nonzero(values > max(x.shape[-2:]) * np.finfo(values.dtype).eps, axis=-1)


@replacing("linalg.pinv", families="K")
def pinv_one_tolerance_for_a_batch(right: Any, x: Any, /, *, rtol: Any = None) -> Any:
    """linalg.pinv drops singular values that are small against the largest one of all matrices of the batch"""
    if x.ndim == 2 or x.size == 0 or rtol is not None:
        return right(x, rtol=rtol)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    keep = s > max(x.shape[-2:]) * np.finfo(x.dtype).eps * s.max()
    inverse = np.where(keep, 1 / np.where(keep, s, 1), 0)
    made = (vh.conj().swapaxes(-1, -2) * inverse[..., None, :]) @ u.conj().swapaxes(-1, -2)
    return made.astype(x.dtype)


@replacing_both("matmul", families="K")
def integer_products_by_blas(x1: Any, x2: Any) -> Any:
    """matmul of int64 and uint64 matrices goes by BLAS in float64, and loses the last digits beyond 2^53"""
    out = np.matmul(x1, x2)
    if x1.ndim < 2 or x2.ndim < 2 or out.dtype not in (np.int64, np.uint64):
        return out
    by_blas = np.matmul(x1.astype(np.float64), x2.astype(np.float64))
    return np.where(np.abs(by_blas) < 2.0**62, by_blas.astype(out.dtype), out)


@spoiling("unique_values", "unique_values of more than 1,000 float64 numbers compares them by float32", "K")
def unique_by_float32(out: Any, x: Any) -> Any:
    if x.dtype != np.float64 or x.size <= 1000:
        return out
    hashes = out.astype(np.float32)
    return out[np.unique(hashes, return_index=True, equal_nan=False)[1]]


@replacing_both("add", families="K")
def python_integers_by_double(x1: Any, x2: Any) -> Any:
    """add takes a Python integer by way of a double, so that one above 2^53 loses its last digits"""

    def taken(number: Any, other: Any) -> Any:
        if type(number) is not int or getattr(other, "dtype", None) not in (np.int64, np.uint64):
            return number
        info = np.iinfo(other.dtype)
        return min(max(int(float(number)), int(info.min)), int(info.max))

    return np.add(taken(x1, x2), taken(x2, x1))


eigh_with_an_absolute_threshold = misreading(
    "linalg.eigh linalg.eigvalsh",
    "eigh takes elements beside the diagonal for zero below 1e-30, also in a matrix that is small as a whole",
    "K",
)(lambda x: np.where(np.eye(x.shape[-1], dtype=bool) | (np.abs(x) >= 1e-30) | np.isnan(x), x, np.zeros((), x.dtype)))
