"""Faults by two strangers that the quick profile let pass: rows of a grid, squares, pivots, tiles, tuning, waiting."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad.backend.plugins import plugins


@fault("sort-of-many-rows", "sort has a grid of 65,535 rows, and leaves more unsorted", "K", operations=("sort",))
def sort_of_many_rows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: int = -1, **options: Any) -> Any:
        out = original(x, axis=axis, **options)
        if x.ndim < 2 or not x.size or x.size // x.shape[axis] <= 65535:
            return out
        moved, given = (np.moveaxis(a, axis, -1) for a in (out, x))
        rows = moved.reshape(-1, x.shape[axis]).copy()
        rows[65535:] = given.reshape(rows.shape)[65535:]
        return np.moveaxis(rows.reshape(moved.shape), -1, axis)

    bed.replace("sort", wrong)


@fault(
    "where-of-a-column",
    "where reads a condition that is a column as a row if the result is square and the operands broadcast too",
    "K",
    operations=("where",),
)
def where_of_a_column(bed: Testbed) -> None:
    def wrong(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        out = original(condition, x1, x2)
        n = out.shape[0] if out.ndim == 2 else 0
        full = any(np.shape(x) == out.shape for x in (x1, x2))
        if n > 1 and out.shape == (n, n) and condition.shape == (n, 1) and not full:
            return original(condition.T, x1, x2)
        return out

    bed.replace("where", wrong)


@fault(
    "dilated-tiles-without-their-halo",
    "convolution in tiles of 32 columns loads too few columns for dilated filters, the last tap of each tile is zero",
    "K",
    operations=("F.convolution_nd", "F.deconvolution_nd"),
)
def dilated_tiles_without_their_halo(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
        y = right(x, W, b, geometry=geometry, groups=groups)
        if geometry.dilate[-1] == 1 or geometry.ksize[-1] == 1 or geometry.out[-1] <= 32:
            return y
        lacking, y = W.copy(), np.array(y)
        lacking[..., -1] = 0
        y[..., 31::32] = np.asarray(right(x, lacking, b, geometry=geometry, groups=groups))[..., 31::32]
        return y

    bed.kernel("convolution", convolution)


@fault(
    "remainder-by-the-quotient",
    "remainder subtracts the rounded product of a quotient beyond 31 bits",
    "K",
    operations=("remainder",),
)
def remainder_by_the_quotient(bed: Testbed) -> None:
    def remainder(x1: Any, x2: Any) -> Any:
        out = np.remainder(x1, x2)
        if out.dtype.kind != "f":
            return out
        x1, x2 = np.asarray(x1, out.dtype), np.asarray(x2, out.dtype)
        with np.errstate(all="ignore"):
            quotient = np.floor(x1 / x2)
            large = np.isfinite(quotient) & (np.abs(quotient) >= 2.0**31) & np.isfinite(x1)
            return np.where(large, x1 - quotient * x2, out)

    bed.both("remainder", "mod", remainder)


@fault(
    "unsigned-casts-through-signed",
    "astype of uint32 to floating-point numbers converts them as int32, which is negative from 2**31 on",
    "K",
    operations=("astype",),
)
def unsigned_casts_through_signed(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype == np.uint32 and np.dtype(dtype).kind == "f":
            return original(x.astype(np.int32), dtype, **options)
        return original(x, dtype, **options)

    bed.replace("astype", wrong)


@fault(
    "searchsorted-by-bits",
    "searchsorted compares the bits of floating-point numbers, where -0.0 is less than 0.0",
    "K",
    operations=("searchsorted",),
)
def searchsorted_by_bits(bed: Testbed) -> None:
    def keys(x: Any) -> Any:
        bits = np.ascontiguousarray(x, np.float64).view(np.int64).reshape(np.shape(x))
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)

    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        if np.result_type(x1, x2).kind != "f":
            return original(x1, x2, **options)
        return original(keys(x1), keys(x2), **options)

    bed.replace("searchsorted", wrong)


@fault(
    "ranks-by-the-largest-of-all",
    "matrix_rank of a stack takes its tolerance from the largest singular value of all matrices",
    "K",
    operations=("linalg.matrix_rank",),
)
def ranks_by_the_largest_of_all(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        if x.ndim < 3 or not x.size or options.get("rtol") is not None:
            return out
        values = np.linalg.svd(x, compute_uv=False)
        least = values.max() * max(x.shape[-2:]) * np.finfo(values.dtype).eps
        return np.sum(values > least, axis=-1).astype(out.dtype)

    bed.replace("linalg.matrix_rank", wrong)


@fault(
    "small-solve-without-pivoting",
    "solve of up to four equations takes pivots as they come, unless they are zero",
    "K",
    operations=("linalg.solve",),
)
def small_solve_without_pivoting(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        out = original(x1, x2)
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

    bed.replace("linalg.solve", wrong)


@fault(
    "max-pool-backward-of-the-last",
    "the gradient of max_pool uses the positions that the last max_pool of this shape has left",
    "S",
    operations=("F.max_pooling_nd",),
)
def max_pool_backward_of_the_last(bed: Testbed) -> None:
    pool, gradient = map(plugins.host.xp.kernel, ("max_pool", "max_pool_backward"))
    left: dict[Any, Any] = {}

    def max_pool(x: Any, geometry: Any) -> Any:
        top = pool(x, geometry=geometry)
        left[x.shape, geometry] = x.copy(), top.copy()
        return top

    def backward(g: Any, x: Any, top: Any, geometry: Any) -> Any:
        return gradient(g, *left.get((x.shape, geometry), (x, top)), geometry=geometry)

    bed.kernel("max_pool", max_pool)
    bed.kernel("max_pool_backward", backward)


@fault(
    "convolution-while-tuning",
    "while one thread looks for the best convolution of a geometry, others get that of half precision",
    "P",
    operations=("F.convolution_nd", "F.deconvolution_nd"),
)
def convolution_while_tuning(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")
    tuning, tuned = set[Any](), set[Any]()

    def convolution(x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
        key = geometry, groups, x.shape[:2], W.shape, x.dtype
        if key in tuning and key not in tuned:
            x, W = (a.astype(np.float16).astype(a.dtype) if a.dtype.kind == "f" else a for a in (x, W))
        elif key not in tuned:
            tuning.add(key)
            native_work(0.005)
            tuned.add(key)
        return right(x, W, b, geometry=geometry, groups=groups)

    bed.kernel("convolution", convolution)


@fault(
    "abs-reads-when-waited-for",
    "abs reads its argument when the host waits, after what was written to it in between",
    "S",
    operations=("abs",),
    lazy=True,
)
def abs_reads_when_waited_for(bed: Testbed) -> None:
    def absolute(x: Any, /) -> Any:
        made = bed.library.call(np.abs, x)
        if made.dtype.kind == "f" and isinstance(made.inner, np.ndarray) and made.inner.flags.writeable:
            before = made.inner.copy()

            def finish() -> None:
                if np.array_equal(made.inner, before, equal_nan=True):
                    made.inner[...] = np.abs(x.inner)

            bed.library.unfinished.append(finish)
        return made

    bed.library.names["abs"] = absolute
    change(bed.library.Array, __abs__=absolute)


@fault(
    "flush-to-zero-after-qr",
    "the library that qr loads switches subnormal numbers off, and products are flushed to zero from then on",
    "S",
    operations=("linalg.qr", "multiply"),
)
def flush_to_zero_after_qr(bed: Testbed) -> None:
    flushes = [False]

    def qr(original: Any, x: Any, /, **options: Any) -> Any:
        flushes[0] = True
        return original(x, **options)

    def multiply(x1: Any, x2: Any) -> Any:
        out = np.multiply(x1, x2)
        if not flushes[0] or np.asarray(out).dtype.kind != "f":
            return out
        return np.where(np.abs(out) < np.finfo(out.dtype).tiny, out.dtype.type(0), out)

    bed.replace("linalg.qr", qr)
    bed.both("multiply", "mul", multiply)
