"""Faults of sizes and values that somebody invented later, from bugs that libraries have had."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed

# Sizes and layouts


@fault(
    "scan-carries-one-block",
    "cumulative_sum over an inner axis carries only the block before (256)",
    "K",
    operations=("cumulative_sum",),
)
def scan_carries_one_block(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, include_initial: bool = False, **options: Any) -> Any:
        out = original(x, axis=axis, include_initial=include_initial, **options)
        if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1:
            return out
        sums = np.moveaxis(out, axis, 0)[int(include_initial) :]
        ends = sums[255::256].copy()
        for block in range(2, -(-len(sums) // 256)):
            sums[256 * block : 256 * (block + 1)] -= ends[block - 2]
        return out

    bed.replace("cumulative_sum", wrong)


@fault(
    "transposed-product-lacks-last-row",
    "matmul by a transposed matrix stops one short of odd inner sizes",
    "K",
    operations=("matmul",),
)
def transposed_product_lacks_last_row(bed: Testbed) -> None:
    def wrong(x1: Any, x2: Any) -> Any:
        rows = x2.shape[-2] if np.ndim(x1) and x2.ndim > 1 else 0
        if rows < 16 or rows % 8 == 0 or not 0 < x2.strides[-2] < x2.strides[-1] or x1.shape[-1] != rows:
            return np.matmul(x1, x2)
        return np.matmul(x1[..., :-1], x2[..., :-1, :])

    bed.both("matmul", "matmul", wrong)


@fault("long-argsort-is-not-stable", "argsort of more than 2,048 elements reverses ties", "K", operations=("argsort",))
def long_argsort_is_not_stable(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: int = -1, **options: Any) -> Any:
        if not x.ndim or x.shape[axis] <= 2048:
            return original(x, axis=axis, **options)
        return x.shape[axis] - 1 - original(np.flip(x, axis), axis=axis, **options)

    bed.replace("argsort", wrong)


@fault(
    "concat-of-many-reads-next-batch",
    "concat passes pointers in batches of 128, the first overwritten",
    "K",
    operations=("concat",),
)
def concat_of_many_reads_next_batch(bed: Testbed) -> None:
    def wrong(original: Any, arrays: Any, /, **options: Any) -> Any:
        given = list(arrays)
        for i in range(min(128, max(0, len(given) - 128))):
            if given[i].shape == given[i + 128].shape and given[i].dtype == given[i + 128].dtype:
                given[i] = given[i + 128]
        return original(given, **options)

    bed.replace("concat", wrong)


@fault(
    "vecdot-reads-reversed-forwards", "vecdot reads a vector of negative strides forwards", "K", operations=("vecdot",)
)
def vecdot_reads_reversed_forwards(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
        if x1.ndim == x2.ndim == 1 and x2.strides[0] < 0 < x1.strides[0] and x2.dtype.kind in "fc":
            x2 = x2[::-1]
        return original(x1, x2, axis=axis)

    bed.replace("vecdot", wrong)


@fault("take-stops-at-grid-limit", "take of rows leaves those beyond 65,535 unwritten", "K", operations=("take",))
def take_stops_at_grid_limit(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        out = original(x, indices, axis=axis)
        if x.ndim > 1 and axis is not None and axis % x.ndim == 0:
            out[65_535:] = 0
        return out

    bed.replace("take", wrong)


@fault(
    "count-overflows-its-lanes",
    "count_nonzero of bools counts in 16 lanes of 8 bits",
    "K",
    operations=("count_nonzero",),
)
def count_overflows_its_lanes(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.dtype != np.bool_ or axis is not None or keepdims or not x.flags.c_contiguous:
            return original(x, axis=axis, keepdims=keepdims)
        flat = x.ravel()
        lanes, rest = flat[: flat.size // 16 * 16].reshape(-1, 16), flat[flat.size // 16 * 16 :]
        return np.asarray(lanes.sum(axis=0).astype(np.uint8).sum(dtype=np.int64) + rest.sum(dtype=np.int64))

    bed.replace("count_nonzero", wrong)


def _largest_prime(n: int) -> int:
    largest, p = 1, 2
    while p * p <= n:
        while n % p == 0:
            largest, n = p, n // p
        p += 1
    return max(largest, n)


@fault(
    "chirp-overflows-int32",
    "fft of long lengths with a large prime factor squares its positions in int32",
    "K",
    operations=("fft.fft",),
)
def chirp_overflows_int32(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        size = x.shape[axis] if n is None else n
        if x.ndim != 1 or size != x.shape[0] or size <= 46_340 or _largest_prime(size) <= 127:
            return original(x, n=n, axis=axis, norm=norm)
        k = np.arange(size, dtype=np.int32)
        with np.errstate(over="ignore"):
            chirp = np.exp(-1j * np.pi / size * (k * k))
        length = 1 << (2 * size - 1).bit_length()
        back = np.zeros(length, complex)
        back[:size] = chirp.conj()
        back[length - size + 1 :] = chirp.conj()[1:][::-1]
        out = np.fft.ifft(np.fft.fft(x * chirp, length) * np.fft.fft(back))[:size] * chirp
        scale = {"backward": 1.0, "ortho": size**-0.5, "forward": 1 / size}[norm]
        return (out * scale).astype(original(x[:1]).dtype)

    bed.replace("fft.fft", wrong)


@fault(
    "cholesky-keeps-blocks",
    "cholesky(upper=True) clears the other triangle only within blocks of 64",
    "K",
    operations=("linalg.cholesky",),
)
def cholesky_keeps_blocks(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, upper: bool = False) -> Any:
        out = original(x, upper=upper)
        if upper:
            for start in range(64, x.shape[-1], 64):
                out[..., start : start + 64, :start] = x[..., start : start + 64, :start]
        return out

    bed.replace("linalg.cholesky", wrong)


@fault(
    "add-merges-broadcast-axes",
    "add of (A, 1, C) and (A, B, C) merges the first two axes (beyond 1,024)",
    "K",
    operations=("add",),
)
def add_merges_broadcast_axes(bed: Testbed) -> None:
    def wrong(x1: Any, x2: Any) -> Any:
        one, other = np.shape(x1), np.shape(x2)
        if len(one) == len(other) == 3 and one[1] == 1 < other[1] and one[::2] == other[::2] and np.size(x2) > 1024:
            rows = np.arange(other[0] * other[1]) % other[0]
            x1 = x1[:, 0, :][rows].reshape(other)
        return np.add(x1, x2)

    bed.both("add", "add", wrong)


# Values


@fault("max-loses-nan-in-the-rest", "max ignores NaN in what is left after vectors of 8", "K", operations=("max",))
def max_loses_nan_in_the_rest(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        n = x.size if axis is None else x.shape[-1] if axis in (-1, x.ndim - 1) and x.ndim else 0
        if n < 8 or n % 8 == 0 or x.dtype.kind != "f" or not x.flags.c_contiguous:
            return original(x, axis=axis, keepdims=keepdims)
        kept = x.copy().reshape(-1, n)
        rest = kept[:, -(n % 8) :]
        rest[np.isnan(rest)] = -np.inf
        return original(kept.reshape(x.shape), axis=axis, keepdims=keepdims)

    bed.replace("max", wrong)


@fault("hypot-squares", "hypot is sqrt(x1 * x1 + x2 * x2)", "K", operations=("hypot",))
def hypot_squares(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        with np.errstate(all="ignore"):
            return np.sqrt(np.multiply(x1, x1) + np.multiply(x2, x2))

    bed.replace("hypot", wrong)


@fault("complex-quotient-overflows", "complex division divides by c * c + d * d", "G", operations=("log",))
def complex_quotient_overflows(bed: Testbed) -> None:
    def wrong(x1: Any, x2: Any) -> Any:
        if np.asarray(x2).dtype.kind != "c":
            return np.divide(x1, x2)
        with np.errstate(all="ignore"):
            x2 = np.asarray(x2, np.result_type(x1, x2))
            return np.multiply(x1, np.conj(x2)) / (x2.real * x2.real + x2.imag * x2.imag)

    bed.both("divide", "truediv", wrong)


@fault("remainder-by-floor", "remainder of floats is x1 - floor(x1 / x2) * x2", "K", operations=("remainder",))
def remainder_by_floor(bed: Testbed) -> None:
    def wrong(x1: Any, x2: Any) -> Any:
        if np.result_type(x1, x2).kind != "f":
            return np.remainder(x1, x2)
        with np.errstate(all="ignore"):
            return np.subtract(x1, np.floor(np.divide(x1, x2)) * x2)

    bed.both("remainder", "mod", wrong)


@fault(
    "unique-hashes-32-bits",
    "unique_values and unique_counts merge 64-bit integers with equal low halves",
    "K",
    operations=("unique_counts",),
)
def unique_hashes_32_bits(bed: Testbed) -> None:
    def values(original: Any, x: Any, /) -> Any:
        return counts(bed.original("unique_counts"), x)[0] if x.dtype.itemsize == 8 else original(x)

    def counts(original: Any, x: Any, /) -> Any:
        found = original(x)
        if x.dtype.kind not in "iu" or x.dtype.itemsize < 8:
            return found
        low = x.ravel() & np.asarray(0xFFFF_FFFF, x.dtype)
        _, first, number = np.unique(low, return_index=True, return_counts=True)
        order = np.argsort(x.ravel()[first])
        return type(found)(x.ravel()[first][order], number[order])

    bed.replace("unique_values", values)
    bed.replace("unique_counts", counts)


@fault(
    "search-of-uint64-is-signed", "searchsorted compares uint64 as if it were int64", "K", operations=("searchsorted",)
)
def search_of_uint64_is_signed(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        if x1.dtype == x2.dtype == np.uint64:
            x1, x2 = x1.astype(np.int64), x2.astype(np.int64)
        return original(x1, x2, **options)

    bed.replace("searchsorted", wrong)


@fault(
    "complex-root-above-the-cut",
    "sqrt of complex numbers takes -0.0 for 0.0 in the imaginary part",
    "K",
    operations=("sqrt",),
)
def complex_root_above_the_cut(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype.kind == "c":
            x = x.copy()
            x.imag += 0.0
        return original(x)

    bed.replace("sqrt", wrong)


@fault("sine-reduces-in-float32", "sin of float32 beyond 71,476 reduces by 2 pi in float32", "K", operations=("sin",))
def sine_reduces_in_float32(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype != np.float32:
            return out
        circle = np.float32(2 * np.pi)
        with np.errstate(all="ignore"):
            reduced = x - np.round(x / circle) * circle
        return np.where(np.isfinite(x) & (abs(x) > 71_476), original(reduced), out)

    bed.replace("sin", wrong)


@fault("var-in-one-pass", "var is the mean of squares minus the square of the mean", "K", operations=("var",))
def var_in_one_pass(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, correction=correction, keepdims=keepdims)
        with np.errstate(all="ignore"):
            full = original(x, axis=axis, keepdims=keepdims)
            spread = np.mean(x * x, axis=axis, keepdims=keepdims) - np.mean(x, axis=axis, keepdims=keepdims) ** 2
            return np.where(full == 0, out, np.maximum(spread, 0) * (out / full)).astype(out.dtype)

    bed.replace("var", wrong)
