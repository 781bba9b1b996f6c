"""Faults of sizes, layouts and values that somebody invented who had not read the checks."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins

# Sizes and layouts


@fault(
    "flip-has-three-strides",
    "flip of all axes of four or more leaves those before the last three",
    "K",
    operations=("linalg.det",),
)
def flip_has_three_strides(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else axis
        return original(x, axis=axes[-3:] if isinstance(axes, tuple) and len(axes) > 3 else axis)

    bed.replace("flip", wrong)


@fault(
    "irfft-of-odd-lengths",
    "irfft of odd lengths above 64 takes the last frequency for a real one",
    "K",
    operations=("fft.irfft",),
)
def irfft_of_odd_lengths(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        if n is not None and n > 64 and n % 2 and x.shape[axis] > n // 2:
            x = np.moveaxis(np.array(x), axis, -1)
            x[..., n // 2] = x[..., n // 2].real
            x = np.moveaxis(x, -1, axis)
        return original(x, n=n, axis=axis, norm=norm)

    bed.replace("fft.irfft", wrong)


@fault(
    "searchsorted-goes-on",
    "searchsorted of 256 keys or more begins each search where the last one ended",
    "K",
    operations=("searchsorted",),
)
def searchsorted_goes_on(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        out = original(x1, x2, **options)
        if np.size(x2) < 256:
            return out
        return np.maximum.accumulate(out.reshape(-1)).reshape(out.shape)

    bed.replace("searchsorted", wrong)


@fault(
    "where-reads-conditions-densely",
    "where of more than 1,024 elements takes a strided condition for dense",
    "K",
    operations=("where",),
)
def where_reads_conditions_densely(bed: Testbed) -> None:
    def wrong(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        strided = isinstance(condition, np.ndarray) and not condition.flags.c_contiguous and 0 not in condition.strides
        if strided and condition.size > 1024:
            memory = condition
            while isinstance(memory.base, np.ndarray) and memory.base.dtype == bool:
                memory = memory.base
            condition = np.resize(memory.ravel(order="K"), condition.shape)
        return original(condition, x1, x2)

    bed.replace("where", wrong)


@fault("softmax-x-of-one-block", "softmax.x sums the first 1,024 elements of a row", "G", operations=("F.softmax",))
def softmax_x_of_one_block(bed: Testbed) -> None:
    def softmax_x(gy: Any, y: Any, axis: Any) -> Any:
        products = gy * y
        if isinstance(axis, int):
            first = np.moveaxis(products, axis, -1)[..., :1024]
            return y * (gy - np.expand_dims(np.sum(first, axis=-1), axis))
        return y * (gy - np.sum(products, axis=axis, keepdims=True))

    bed.kernel("softmax.x", softmax_x)


@fault(
    "convolution-by-32-channels",
    "convolution of more than 32 channels leaves out those that fill no 32",
    "K",
    operations=("F.convolution_nd",),
)
def convolution_by_32_channels(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("convolution")

    def convolution(x: Any, w: Any, b: Any, *, geometry: Any, groups: int) -> Any:
        if w.shape[1] > 32:
            w = w.copy()
            w[:, w.shape[1] // 32 * 32 :] = 0
        return right(x, w, b, geometry=geometry, groups=groups)

    bed.kernel("convolution", convolution)


@fault(
    "nonzero-scans-two-levels",
    "nonzero puts what it finds after 1,048,576 elements at the beginning",
    "K",
    operations=("nonzero",),
)
def nonzero_scans_two_levels(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.size <= 1 << 20:
            return original(x)
        positions = np.flatnonzero(x)
        late = positions[positions >= 1 << 20]
        positions[len(positions) - len(late) :] = 0
        positions[: len(late)] = late
        return tuple(np.unravel_index(positions, x.shape))

    bed.replace("nonzero", wrong)


# Values


@fault(
    "trunc-by-integers",
    "trunc goes through integers of the same width, the least of which is given beyond them",
    "K",
    operations=("trunc",),
)
def trunc_by_integers(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype.kind != "f":
            return out
        most = 2.0 ** (8 * x.dtype.itemsize - 1)
        return np.where(np.isfinite(x) & (np.abs(x) >= most), -most, out).astype(x.dtype)

    bed.replace("trunc", wrong)


@fault("atan2-of-infinities", "atan2 divides, and is NaN for two infinities", "K", operations=("atan2",))
def atan2_of_infinities(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        out = original(x1, x2)
        return np.where(np.isinf(x1) & np.isinf(x2), np.nan, out).astype(out.dtype)

    bed.replace("atan2", wrong)


@fault("asinh-squares", "asinh squares its argument, and is infinite for large ones", "K", operations=("asinh",))
def asinh_squares(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype.kind != "f":
            return original(x)
        with np.errstate(all="ignore"):
            return np.where(np.isinf(x * x), np.copysign(np.inf, x), original(x)).astype(x.dtype)

    bed.replace("asinh", wrong)


@fault(
    "std-of-squares",
    "std is the root of the mean square less the squared mean, which cancel for a large mean",
    "K",
    operations=("std",),
)
def std_of_squares(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        right = original(x, axis=axis, correction=correction, keepdims=keepdims)
        if x.dtype.kind != "f" or not x.size:
            return right
        with np.errstate(all="ignore"):
            mean = np.mean(x, axis=axis, keepdims=keepdims)
            square = np.mean(x * x, axis=axis, keepdims=keepdims) - mean * mean
            count = np.float64(x.size / max(np.size(mean), 1))
            return np.sqrt(np.where(square < 0, 0, square) * (count / (count - correction))).astype(right.dtype)

    bed.replace("std", wrong)


@fault(
    "argsort-by-negation",
    "argsort of unsigned integers in descending order negates them, and 0 comes first",
    "K",
    operations=("argsort",),
)
def argsort_by_negation(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        if descending and x.dtype.kind == "u":
            return original(np.negative(x), axis=axis, descending=False, stable=True)
        return original(x, axis=axis, descending=descending, stable=stable)

    bed.replace("argsort", wrong)


@fault(
    "nextafter-counts-bits",
    "nextafter counts the bits of 0 upwards, also towards negative numbers",
    "K",
    operations=("nextafter",),
)
def nextafter_counts_bits(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        out = original(x1, x2)
        return np.where(np.asarray(x1) == 0, np.abs(out), out).astype(out.dtype)

    bed.replace("nextafter", wrong)


@fault(
    "astype-bool-by-integers",
    "astype of floats to bool goes through integers, and 0.5 is False",
    "DK",
    operations=("astype",),
)
def astype_bool_by_integers(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype.kind == "f" and dtype == np.bool_:
            return original(np.trunc(x), dtype, **options)
        return original(x, dtype, **options)

    bed.replace("astype", wrong)


@fault("pow-x2-of-zero", "pow.x2 multiplies by the logarithm of a base of 0, which gives NaN", "G", ("pow-base-0",))
def pow_x2_of_zero(bed: Testbed) -> None:
    def pow_x2(gy: Any, x1: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            return gy * y * np.log(x1)

    bed.kernel("pow.x2", pow_x2)
