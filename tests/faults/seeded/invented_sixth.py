"""Faults by a sixth stranger that the quick profile let pass: remainders of several axes, first dtypes, threads."""

import contextlib
import threading
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, native_work

from xpgrad.backend.plugins import plugins


@fault(
    "min-of-outer-axes-in-pairs",
    "min over the first and the last axis takes two of the first axis at a time, and forgets an odd one beyond 8",
    "K",
    operations=("min",),
)
def min_of_outer_axes_in_pairs(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        outer = type(axis) is tuple and x.ndim >= 3 and len(axis) == 2 and {a % x.ndim for a in axis} == {0, x.ndim - 1}
        if outer and len(x) > 8:
            x = x[: len(x) // 2 * 2]
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("min", wrong)


@fault(
    "write-of-a-column-stops-at-full-blocks",
    "x[key] = u with a column u writes 32 places of each row at a time, and not those of a rest",
    "K",
    operations=("setitem",),
)
def write_of_a_column(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        target = x[key]
        is_column = isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 1
        if is_column and target.ndim == 2 and target.shape[1] > 32 and np.shares_memory(x, target):
            target[:, : target.shape[1] // 32 * 32] = value
        else:
            x[key] = value

    bed.operator("__setitem__", write)


@fault(
    "astype-saturates",
    "astype of float64 to float32 gives the largest float32 where it overflows, not infinity",
    "K",
    operations=("astype",),
)
def astype_saturates(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype == np.float64 and np.dtype(dtype) == np.float32:
            largest = float(np.finfo(np.float32).max)
            x = np.where(np.isfinite(x), np.clip(x, -largest, largest), x)
        return original(x, dtype, **options)

    bed.replace("astype", wrong)


@fault(
    "integer-products-by-blas",
    "matmul of int64 and uint64 matrices goes by BLAS in float64, and loses the last digits beyond 2^53",
    "K",
    operations=("matmul",),
)
def integer_products_by_blas(bed: Testbed) -> None:
    def wrong(x1: Any, x2: Any) -> Any:
        out = np.matmul(x1, x2)
        if x1.ndim < 2 or x2.ndim < 2 or out.dtype not in (np.int64, np.uint64):
            return out
        by_blas = np.matmul(x1.astype(np.float64), x2.astype(np.float64))
        with np.errstate(all="ignore"):
            return np.where(np.abs(by_blas) < 2.0**62, by_blas.astype(out.dtype), out)

    bed.both("matmul", "matmul", wrong)


@fault(
    "gammaln-table-of-the-first-dtype",
    "special.gammaln makes its coefficients in the dtype of its first input, and keeps them",
    "K",
    ("special.gammaln",),
)
def gammaln_table(bed: Testbed) -> None:
    made: list[Any] = []

    def gammaln(x: Any) -> Any:
        right = plugins.host.xp.special.gammaln
        made.append(x.dtype) if not made else None
        if made[0] == np.float32 and x.dtype == np.float64:
            with np.errstate(all="ignore"):
                return right(x.astype(np.float32)).astype(np.float64)
        return right(x)

    bed.kernel("special.gammaln", gammaln)


@fault(
    "rounding-mode-of-the-process",
    "astype of floats to integers sets the mode of rounding for all threads, and round truncates meanwhile",
    "P",
    operations=("astype", "round"),
)
def rounding_mode_of_the_process(bed: Testbed) -> None:
    truncating = [0]

    def astype(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype.kind != "f" or np.dtype(dtype).kind not in "iu":
            return original(x, dtype, **options)
        truncating[0] += 1
        try:
            native_work()
            return original(x, dtype, **options)
        finally:
            truncating[0] -= 1

    def rounded(original: Any, x: Any, /) -> Any:
        return np.trunc(x) if truncating[0] and x.dtype.kind == "f" else original(x)

    bed.replace("astype", astype)
    bed.replace("round", rounded)


@fault(
    "writes-lock-target-then-source",
    "x[key] = u locks the memory of x and then that of u, so that copies in both directions block each other",
    "P",
)
def writes_lock_target_then_source(bed: Testbed) -> None:
    locks: dict[int, Any] = {}

    def lock_of(x: Any) -> Any:
        while isinstance(x.base, np.ndarray):
            x = x.base
        return locks.setdefault(x.__array_interface__["data"][0], threading.Lock())

    def write(x: Any, key: Any, value: Any) -> None:
        first, second = lock_of(x), lock_of(value) if isinstance(value, np.ndarray) else None
        with first, contextlib.ExitStack() as held:
            native_work()
            if second is not None and second is not first:
                if not second.acquire(timeout=0.5):
                    raise RuntimeError("timed out waiting for the memory of an array")
                held.callback(second.release)
            x[key] = value

    bed.operator("__setitem__", write)


@fault(
    "bounds-are-checked-for-one-thread",
    "take switches the check of positions off for all threads while it gathers, so that others' wrong ones are cut",
    "P",
    operations=("take",),
)
def bounds_are_checked_for_one_thread(bed: Testbed) -> None:
    gathering = [0]

    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        n = x.shape[-1 if axis is None else axis] if x.ndim else 0
        outside = indices.size and n and (indices.max() >= n or indices.min() < -n)
        if outside:
            native_work()
            if not gathering[0]:
                return original(x, indices, axis=axis)
            indices = np.clip(indices, 0, n - 1)
        gathering[0] += 1
        try:
            native_work()
            return original(x, indices, axis=axis)
        finally:
            gathering[0] -= 1

    bed.replace("take", wrong)


@fault(
    "rounding-mode-stays",
    "astype of floats to integers leaves the mode of rounding as it has set it, in which round truncates",
    "S",
    operations=("astype", "round"),
)
def rounding_mode_stays(bed: Testbed) -> None:
    truncating = [False]

    def astype(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        truncating[0] |= x.dtype.kind == "f" and np.dtype(dtype).kind in "iu"
        return original(x, dtype, **options)

    bed.replace("astype", astype)
    bed.replace("round", lambda original, x, /: np.trunc(x) if truncating[0] else original(x))


@fault(
    "full-like-of-low-bits",
    "full_like keeps the numbers that it has prepared by their lowest 32 bits",
    "S",
)
def full_like_of_low_bits(bed: Testbed) -> None:
    prepared: dict[int, int] = {}

    def full_like(original: Any, x: Any, /, fill_value: Any, **options: Any) -> Any:
        if type(fill_value) is int:
            fill_value = prepared.setdefault(fill_value & 0xFFFFFFFF, fill_value)
        return original(x, fill_value, **options)

    bed.replace("full_like", full_like)
