"""Faults that show from some size on: remainders of blocks, narrow counters, fast paths for large or strided arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.faults.fault import (
    accumulate,
    fault,
    giving_kernel,
    misreading_both,
    planted_by,
    replacing,
    replacing_kernel,
    spoiling,
)
from tests.faults.testbed import Testbed

from xpgrad_conformance.generated.sizes import largest_factor


@spoiling("exp", "exp of 4,096 float32 numbers or more repeats its first ones in the last vector", "K")
def exp_tail_of_a_vector(out: Any, *_: Any) -> Any:
    tail = out.size % 16
    if out.dtype == np.float32 and out.size >= 4096 and tail:
        out = out.copy()
        flat = out.reshape(-1)
        flat[-tail:] = flat[:tail]
    return out


@giving_kernel("tanh.x", families="G", operations=("tanh",))
def tanh_x_of_a_broadcast(gy: Any, x: Any, y: Any) -> Any:
    """tanh.x of more than 1,024 elements takes a cotangent with a stride of 0 for one"""
    if gy.size > 1024 and any(n > 1 and stride == 0 for n, stride in zip(gy.shape, gy.strides, strict=True)):
        gy = gy.reshape(-1)[0]
    return gy * (1 - y * y)


@spoiling("matrix_transpose permute_dims", families="K", operations=("matrix_transpose",))
def transpose_in_tiles(out: Any, x: Any, *args: Any, **options: Any) -> Any:
    """a transpose of 64 by 64 or more forgets the tile in the corner"""
    if out.ndim == 2 and out.strides != x.strides and min(out.shape) >= 64 and all(n % 32 for n in out.shape):
        out = out.copy()
        rows, columns = (n // 32 * 32 for n in out.shape)
        out[rows:, columns:] = 0
    return out


@misreading_both("matmul", "matmul over more than 256 products leaves out those that fill no group of 8", "K")
def matmul_inner_remainder(x1: Any, x2: Any) -> Any:
    inner = x1.shape[-1] // 8 * 8
    if x1.ndim < 2 or x2.ndim < 2 or not 256 < x1.shape[-1] == x2.shape[-2]:
        return x1, x2
    return x1[..., :inner], x2[..., :inner, :]


@misreading_both("matmul", "a transpose of more than 1,024 rows times a column is read in memory order", "K")
def matrix_vector_of_a_transpose(x1: Any, x2: Any) -> Any:
    transposed = x1.ndim == x2.ndim == 2 and x1.flags.f_contiguous and not x1.flags.c_contiguous
    if transposed and len(x1) > 1024 and x2.shape[-1] == 1:
        x1 = x1.T.reshape(x1.shape)
    return x1, x2


@fault("add of a row of more than 2,048 elements to a matrix starts the row again", "K", operations=("add",))
def add_of_a_wide_row(bed: Testbed) -> None:
    def tiled(x: Any, other: Any) -> Any:
        wide = getattr(x, "ndim", 0) == 1 and getattr(other, "ndim", 0) == 2 and len(x) > 2048
        return np.resize(x[:2048], x.shape) if wide else x

    bed.both("add", lambda x1, x2: np.add(tiled(x1, x2), tiled(x2, x1)))


@fault("multiply takes the first slice for the last where the middle broadcasts", "K", operations=("multiply",))
def multiply_broadcast_in_the_middle(bed: Testbed) -> None:
    def sliced(x: Any, other: Any) -> Any:
        if getattr(x, "ndim", 0) != 3 or getattr(other, "ndim", 0) != 3 or other.size <= 4096:
            return x
        if not x.shape[1] == 1 < other.shape[1]:
            return x
        x = x.copy()
        x[-1] = x[0]
        return x

    bed.both("multiply", lambda x1, x2: np.multiply(sliced(x1, x2), sliced(x2, x1)))


@replacing("sort", "sort merges runs of 2,048 elements in pairs, and forgets an odd one", "K")
def sort_leaves_an_odd_run(right: Any, x: Any, /, *, axis: int = -1, **options: Any) -> Any:
    length = x.shape[axis] if x.ndim else 0
    runs = -(-length // 2048)
    if runs < 3 or runs % 2 == 0:
        return right(x, axis=axis, **options)
    parts = np.split(x, [(runs - 1) * 2048], axis)
    return np.concatenate([right(part, axis=axis, **options) for part in parts], axis)


@spoiling("fft.fft fft.ifft", families="K", operations=("fft.fft",))
def fft_of_large_primes(out: Any, *args: Any, axis: int = -1, **options: Any) -> Any:
    """fft of lengths with a prime factor above 100 has its chirps in float32"""
    return out.astype(np.complex64).astype(out.dtype) if largest_factor(out.shape[axis]) > 100 else out


@spoiling("cumulative_sum", "cumulative_sum in blocks of 1,024 carries the sum of the last block alone", "K")
def cumulative_sum_carry(right: Any, x: Any, *, axis: Any = None, include_initial: bool = False, **_: Any) -> Any:
    if include_initial or x.ndim == 0 or axis not in (None, -1, x.ndim - 1):
        return right
    out = right.copy()
    for start in range(2048, out.shape[-1], 1024):
        out[..., start : start + 1024] -= right[..., start - 1025 : start - 1024]
    return out


@replacing_kernel("convolution", "convolution unrolls eight columns of a filter, and forgets the others", "K")
def convolution_of_nine_taps(right: Any, x: Any, W: Any, b: Any, /, *, geometry: Any, groups: int) -> Any:
    if W.shape[-1] > 8:
        W = W.copy()
        W[..., 8:] = 0
    return right(x, W, b, geometry=geometry, groups=groups)


@replacing_kernel("max_pool", "max_pool of images of more than 1,024 pixels takes the padding for zeros", "K")
def max_pool_pads_with_zeros(right: Any, x: Any, *, geometry: Any) -> Any:
    out = right(x, geometry=geometry)
    pads: Sequence[int] = geometry.pad
    if math.prod(geometry.size) > 1024:
        out = out.copy()
        for axis, pad in enumerate(pads, 2):
            border = (slice(None),) * axis + (slice(0, 1 if pad else 0),)
            out[border] = np.maximum(out[border], 0)
    return out


@replacing("linalg.inv", "linalg.inv of 48 rows or more computes in float32, without a refinement", "K")
def inv_of_48_refines_in_float32(right: Any, x: Any, /) -> Any:
    narrow = x.dtype == np.float64 and x.shape[-1] >= 48
    return right(x.astype(np.float32)).astype(x.dtype) if narrow else right(x)


@planted_by(accumulate(4096), families="G", operations=("contributions",))
def accumulate_in_memory_order(total: Any, g: Any) -> Any:
    """accumulate of 4,096 elements or more adds them in the order of the memory"""
    if total.dtype != g.dtype or not total.flags.writeable:
        return total + g
    if total.size >= 4096 and total.flags.c_contiguous and g.flags.f_contiguous and g.ndim > 1:
        g = g.T.reshape(total.shape)
    total += g
    return total


@spoiling("var", "var of more than 4,096 elements leaves out what is between the means of its blocks", "K")
def var_within_blocks(out: Any, x: Any, *, correction: float = 0.0, **_: Any) -> Any:
    if x.ndim != 1 or x.size <= 4096:
        return out
    parts = np.array_split(x, range(4096, x.size, 4096))
    total = sum(np.sum((part - np.mean(part)) ** 2) for part in parts)
    return np.asarray(total / (x.size - correction), out.dtype).reshape(np.shape(out))


count_in_sixteen_bits = fault("count_nonzero counts modulo 65,536", "K", operations=("count_nonzero",))(
    lambda bed: bed.replace("count_nonzero", lambda right, x, /, **options: right(x, **options) % 65_536)
)
argmax_in_sixteen_bits = fault("argmax keeps positions in 16 bits", "K", operations=("argmax",))(
    lambda bed: bed.replace("argmax", lambda right, x, /, **options: right(x, **options) % 32_768)
)
sin_of_64_reversed = replacing("sin", "sin of 64 or more reversed elements loads its vectors forwards", "K")(
    lambda right, x: right(x[::-1] if x.ndim == 1 and x.strides[0] < 0 and x.size >= 64 else x)
)
