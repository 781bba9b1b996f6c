"""Faults by a third stranger: layouts and blocks of reductions, windows, small matrices, permuted axes, parameters."""

import math
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad.backend.plugins import plugins
from xpgrad_conformance.pretend import _unpickled


@fault(
    "max-of-reversed-rows",
    "max along a reversed last axis forgets the elements that fill no vector of 16",
    "K",
    operations=("max",),
)
def max_of_reversed_rows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        if x.ndim and axis in (-1, x.ndim - 1) and x.strides[-1] < 0 and x.shape[-1] > 16:
            x = x[..., : x.shape[-1] // 16 * 16]
        return original(x, axis=axis, keepdims=keepdims)

    bed.replace("max", wrong)


@fault(
    "take-in-a-grid-of-rows",
    "take along a later axis launches one block for each row, and at most 65,535 of them",
    "K",
    operations=("take",),
)
def take_in_a_grid_of_rows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        out = original(x, indices, axis=axis)
        along = axis % x.ndim if axis is not None and x.ndim else 0
        rows = math.prod(x.shape[:along])
        if along and rows > 65535:
            out = np.array(out)
            out.reshape(rows, -1)[65535:] = 0
        return out

    bed.replace("take", wrong)


@fault(
    "cumulative-sum-down-wide-columns",
    "cumulative_sum along an axis before the last carries sums between blocks of 512 for the first 32 columns only",
    "K",
    operations=("cumulative_sum",),
)
def cumulative_sum_down_wide_columns(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        out = original(x, axis=axis, **options)
        if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1 or options.get("include_initial"):
            return out
        along = axis % x.ndim
        if x.shape[along] <= 512 or x.shape[-1] <= 32:
            return out
        rows, right = np.moveaxis(out.copy(), along, 0), np.moveaxis(out, along, 0)
        for start in range(512, x.shape[along], 512):
            rows[start : start + 512, ..., 32:] -= right[start - 1, ..., 32:]
        return np.moveaxis(rows, 0, along)

    bed.replace("cumulative_sum", wrong)


@fault(
    "depthwise-with-seven-taps",
    "a convolution with one group for each channel has registers for seven columns of a filter",
    "K",
    operations=("F.depthwise_convolution_2d", "F.convolution_nd", "F.convolution_2d", "F.convolution_1d"),
)
def depthwise_with_seven_taps(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
        if groups > 1 and groups == x.shape[1] and geometry.ksize[-1] > 7:
            W = W.copy()
            W[..., 7:] = 0
        return right(x, W, b, geometry=geometry, groups=groups)

    bed.kernel("convolution", convolution)


@fault(
    "pooling-beyond-both-ends",
    "a window of average pooling that exceeds an axis at both ends leaves its last element out",
    "K",
    operations=("F.average_pooling_nd", "F.average_pooling_1d", "F.average_pooling_2d", "F.average_pooling_3d"),
)
def pooling_beyond_both_ends(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("sum_pool")

    def sum_pool(x: Any, geometry: Any) -> Any:
        out = np.array(right(x, geometry=geometry))
        for i, (size, count) in enumerate(zip(geometry.size, geometry.out, strict=True)):
            starts = [geometry.stride[i] * j - geometry.pad[i] for j in range(count)]
            ends = [s + geometry.dilate[i] * (geometry.ksize[i] - 1) + 1 for s in starts]
            over = [j for j in range(count) if starts[j] < 0 and ends[j] > size]
            if over:
                less = x.copy()
                np.moveaxis(less, 2 + i, 0)[-1] = 0
                short = np.moveaxis(np.asarray(right(less, geometry=geometry)), 2 + i, 0)
                np.moveaxis(out, 2 + i, 0)[over] = short[over]
        return out

    bed.kernel("sum_pool", sum_pool)


@fault(
    "eigh-with-an-absolute-threshold",
    "eigh takes elements beside the diagonal for zero below 1e-30, also in a matrix that is small as a whole",
    "K",
    operations=("linalg.eigh", "linalg.eigvalsh"),
)
def eigh_with_an_absolute_threshold(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        kept = np.eye(x.shape[-1], dtype=bool) | (np.abs(x) >= 1e-30) | np.isnan(x)
        return original(np.where(kept, x, np.zeros((), x.dtype)))

    bed.replace("linalg.eigh", wrong)
    bed.replace("linalg.eigvalsh", wrong)


@fault(
    "pickle-of-permuted-axes",
    "a pickle of an array of three or more axes in neither C nor Fortran order has its memory as it lies",
    "R",
)
def pickle_of_permuted_axes(bed: Testbed) -> None:
    def reduce(self: Any) -> Any:
        inner = self.inner
        if inner.ndim > 2 and not inner.flags.c_contiguous and not inner.flags.f_contiguous:
            lying = inner.transpose(sorted(range(inner.ndim), key=lambda axis: -inner.strides[axis]))
            if lying.flags.c_contiguous:
                inner = lying.copy().reshape(inner.shape)
        return _unpickled, (bed.backend.name, inner, self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault(
    "leaky-relu-slope-in-constant-memory",
    "leaky_relu copies its slope to constant memory, which the kernels of all threads read",
    "P",
    operations=("F.leaky_relu",),
)
def leaky_relu_slope_in_constant_memory(bed: Testbed) -> None:
    constant = [0.0]

    def leaky_relu(x: Any, slope: float) -> Any:
        constant[0] = slope
        native_work()
        return np.where(x >= 0, x, x * np.asarray(constant[0], x.dtype))

    bed.kernel("leaky_relu", leaky_relu)
