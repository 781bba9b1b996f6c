"""Faults of sizes, layouts and values that somebody invented who had not read the checks."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change

from xpgrad.backend.plugins import plugins

# Sizes and layouts


@fault("all-in-words-of-64", "all of more than 64 booleans looks at full words of 64", "K", operations=("all",))
def all_in_words_of_64(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.dtype == bool and x.flags.c_contiguous and x.size > 64 and (axis is None or x.ndim == 1) and not keepdims:
            return original(x.reshape(-1)[: x.size // 64 * 64])
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("all", wrong)


@fault(
    "prod-of-the-last-columns",
    "prod along the first axis works on four columns at a time, and forgets the last row in those left of 128 or more",
    "K",
    operations=("prod",),
)
def prod_of_the_last_columns(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        out = np.array(original(x, axis=axis, keepdims=keepdims, **options))
        if axis == 0 and x.ndim == 2 and len(x) > 1 and x.shape[1] >= 128 and x.shape[1] % 4:
            rest = x.shape[1] // 4 * 4
            out[..., rest:] = original(x[:-1, rest:], axis=0, keepdims=keepdims, **options)
        return out

    bed.replace("prod", wrong)


@fault("flip-has-three-strides", "flip of all axes of four or more leaves those before the last three", "K")
def flip_has_three_strides(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None) -> Any:
        axes = tuple(range(x.ndim)) if axis is None else axis
        return original(x, axis=axes[-3:] if isinstance(axes, tuple) and len(axes) > 3 else axis)

    bed.replace("flip", wrong)


@fault("irfft-of-odd-lengths", "irfft of odd lengths above 64 takes the last frequency for a real one", "K")
def irfft_of_odd_lengths(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        if n is not None and n > 64 and n % 2 and x.shape[axis] > n // 2:
            x = np.moveaxis(np.array(x), axis, -1)
            x[..., n // 2] = x[..., n // 2].real
            x = np.moveaxis(x, -1, axis)
        return original(x, n=n, axis=axis, norm=norm)

    bed.replace("fft.irfft", wrong)


@fault("searchsorted-goes-on", "searchsorted of 256 keys or more begins each search where the last one ended", "K")
def searchsorted_goes_on(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        out = original(x1, x2, **options)
        if np.size(x2) < 256:
            return out
        return np.maximum.accumulate(out.reshape(-1)).reshape(out.shape)

    bed.replace("searchsorted", wrong)


@fault("where-reads-conditions-densely", "where of more than 1,024 elements takes a strided condition for dense", "K")
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


@fault("softmax-x-of-one-block", "softmax.x sums the first 1,024 elements of a row", "G")
def softmax_x_of_one_block(bed: Testbed) -> None:
    def softmax_x(gy: Any, y: Any, axis: Any) -> Any:
        products = gy * y
        if isinstance(axis, int):
            first = np.moveaxis(products, axis, -1)[..., :1024]
            return y * (gy - np.expand_dims(np.sum(first, axis=-1), axis))
        return y * (gy - np.sum(products, axis=axis, keepdims=True))

    bed.kernel("softmax.x", softmax_x)


@fault(
    "dlpack-offset-in-16-bits", "DLPack gives a view that begins 64 KiB into its memory an offset modulo 65,536", "X"
)
def dlpack_offset_in_16_bits(bed: Testbed) -> None:
    def dlpack(self: Any, **options: Any) -> Any:
        x = self.inner
        memory = x
        while isinstance(memory.base, np.ndarray) and memory.base.flags.c_contiguous:
            memory = memory.base
        offset = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        if offset >= 65_536 and memory.flags.c_contiguous and not any(stride < 0 for stride in x.strides):
            x = np.ndarray(x.shape, x.dtype, memory, offset % 65_536, x.strides)
        return x.__dlpack__(**options)

    change(bed.library.Array, __dlpack__=dlpack)


@fault("convolution-by-32-channels", "convolution of more than 32 channels leaves out those that fill no 32", "K")
def convolution_by_32_channels(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("convolution")

    def convolution(x: Any, w: Any, b: Any, *, geometry: Any, groups: int) -> Any:
        if w.shape[1] > 32:
            w = w.copy()
            w[:, w.shape[1] // 32 * 32 :] = 0
        return right(x, w, b, geometry=geometry, groups=groups)

    bed.kernel("convolution", convolution)


@fault("nonzero-scans-two-levels", "nonzero puts what it finds after 1,048,576 elements at the beginning", "K")
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
    "trunc-by-integers", "trunc goes through integers of the same width, the least of which is given beyond them", "K"
)
def trunc_by_integers(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype.kind != "f":
            return out
        most = 2.0 ** (8 * x.dtype.itemsize - 1)
        return np.where(np.isfinite(x) & (np.abs(x) >= most), -most, out).astype(x.dtype)

    bed.replace("trunc", wrong)


@fault("atan2-of-infinities", "atan2 divides, and is NaN for two infinities", "K")
def atan2_of_infinities(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        out = original(x1, x2)
        return np.where(np.isinf(x1) & np.isinf(x2), np.nan, out).astype(out.dtype)

    bed.replace("atan2", wrong)


@fault("asinh-squares", "asinh squares its argument, and is infinite for large ones", "K")
def asinh_squares(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        if x.dtype.kind != "f":
            return original(x)
        with np.errstate(all="ignore"):
            return np.where(np.isinf(x * x), np.copysign(np.inf, x), original(x)).astype(x.dtype)

    bed.replace("asinh", wrong)


@fault("std-of-squares", "std is the root of the mean square less the squared mean, which cancel for a large mean", "K")
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


@fault("unique-counts-of-two-zeros", "unique_counts compares bits, and counts 0.0 and -0.0 apart", "K")
def unique_counts_of_two_zeros(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        below = np.count_nonzero((x == 0) & np.signbit(x)) if x.dtype.kind == "f" else 0
        above = np.count_nonzero(x == 0) - below
        if not below or not above:
            return out
        place = int(np.flatnonzero(out.values == 0)[0])
        values, counts = np.insert(out.values, place, -0.0), np.insert(out.counts, place, below)
        values[place + 1], counts[place + 1] = 0.0, above
        return type(out)(values, counts)

    bed.replace("unique_counts", wrong)


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


@fault("nextafter-counts-bits", "nextafter counts the bits of 0 upwards, also towards negative numbers", "K")
def nextafter_counts_bits(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        out = original(x1, x2)
        return np.where(np.asarray(x1) == 0, np.abs(out), out).astype(out.dtype)

    bed.replace("nextafter", wrong)


@fault("complex-tanh-overflows", "tanh of a complex number is sinh by cosh, and NaN where both overflow", "K")
def complex_tanh_overflows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype.kind != "c":
            return out
        return np.where(np.abs(x.real) > np.log(np.finfo(x.dtype).max), complex(np.nan, np.nan), out).astype(x.dtype)

    bed.replace("tanh", wrong)


@fault("astype-bool-by-integers", "astype of floats to bool goes through integers, and 0.5 is False", "D")
def astype_bool_by_integers(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype.kind == "f" and dtype == np.bool_:
            return original(np.trunc(x), dtype, **options)
        return original(x, dtype, **options)

    bed.replace("astype", wrong)


@fault("pow-x2-of-zero", "pow.x2 multiplies by the logarithm of a base of 0, which gives NaN", "N")
def pow_x2_of_zero(bed: Testbed) -> None:
    def pow_x2(gy: Any, x1: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            return gy * np.conj(y * np.log(x1))

    bed.kernel("pow.x2", pow_x2)
