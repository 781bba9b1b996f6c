"""Faults of block sizes: the rest that fills no block, vector or group, and what blocks pass on to each other."""

from itertools import pairwise
from typing import Any

import numpy as np
from tests.faults.fault import (
    fault,
    giving_kernel,
    giving_operator,
    misreading,
    misreading_both,
    replacing,
    scattering,
    spoiling,
)
from tests.faults.testbed import Testbed, _scatter_add

from xpgrad.backend.plugins import plugins


@misreading("fft.irfft", "irfft of odd lengths above 64 takes the last frequency for a real one", "K")
def irfft_of_odd_lengths(x: Any, *, n: Any = None, axis: int = -1, **_: Any) -> Any:
    if n is not None and n > 64 and n % 2 and x.shape[axis] > n // 2:
        x = np.moveaxis(np.array(x), axis, -1)
        x[..., n // 2] = x[..., n // 2].real
        x = np.moveaxis(x, -1, axis)
    return x


@giving_kernel("softmax_backward", families="G", operations=("F.softmax",))
def softmax_backward_of_one_block(g: Any, p: Any, *, axis: Any) -> Any:
    """softmax_backward sums the first 1,024 elements of a row"""
    products = g * p
    if isinstance(axis, int):
        first = np.moveaxis(products, axis, -1)[..., :1024]
        return p * (g - np.expand_dims(np.sum(first, axis=-1), axis))
    return p * (g - np.sum(products, axis=axis, keepdims=True))


@misreading(
    "stack", "stack along the last axis interleaves four arrays at a time, and repeats the first of a rest", "K"
)
def stack_interleaves_four(arrays: Any, *, axis: int = 0) -> Any:
    given = list(arrays)
    if len(given) > 4 and given[0].ndim and axis in (-1, given[0].ndim):
        full = len(given) // 4 * 4
        given[full:] = given[full : full + 1] * (len(given) - full)
    return given


@spoiling("fft.ifft", families="K")
def ifft_scales_groups_of_columns(out: Any, x: Any, *, axis: int = -1, norm: str = "backward", **_: Any) -> Any:
    """fft.ifft along the first axis of a matrix divides groups of 16 columns by the length, not those left over"""
    if x.ndim == 2 and axis in (0, -2) and norm == "backward" and x.shape[1] > 16:
        out[:, x.shape[1] // 16 * 16 :] *= len(out)
    return out


@spoiling("cumulative_sum", families="K")
def cumulative_sum_down_wide_columns(out: Any, x: Any, *, axis: Any = None, **options: Any) -> Any:
    """cumulative_sum along an axis before the last carries sums between blocks of 512 for the first 32 columns only"""
    if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1 or options.get("include_initial"):
        return out
    along = axis % x.ndim
    if x.shape[along] <= 512 or x.shape[-1] <= 32:
        return out
    rows, right = np.moveaxis(out.copy(), along, 0), np.moveaxis(out, along, 0)
    for start in range(512, x.shape[along], 512):
        rows[start : start + 512, ..., 32:] -= right[start - 1, ..., 32:]
    return np.moveaxis(rows, 0, along)


@fault(families="K", operations=("linalg.cross",))
def cross_of_columns_in_fours(bed: Testbed) -> None:
    """cross of 16 columns or more, component by component in memory, reads the rest that fills no four one early"""

    def wrong(original: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
        out = original(x1, x2, axis=axis)
        if x1.ndim != 2 or x1.shape != x2.shape:
            return out
        rows1, rows2, lines = np.moveaxis(x1, axis, 0), np.moveaxis(x2, axis, 0), np.moveaxis(np.array(out), axis, 0)
        count = rows1.shape[1]
        if rows1.flags.c_contiguous and count >= 16 and count % 4:
            full = count // 4 * 4
            lines[:, full:] = original(rows1[:, full - 1 : -1], rows2[:, full:], axis=0)
        return np.moveaxis(lines, 0, axis)

    right = bed.original("linalg.cross")
    bed.replace("linalg.cross", wrong)
    bed.kernel("linalg.cross", lambda x1, x2, *, axis: wrong(right, x1, x2, axis=axis))


@giving_kernel("softmax", families="K", operations=("F.softmax",))
def softmax_columns_in_fours(x: Any, *, axis: Any) -> Any:
    """softmax along an inner axis divides the columns that fill no four by the sum of the last full one"""
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)) if x.size else x.copy()
    sums = np.sum(powers, axis=axis, keepdims=True)
    if isinstance(axis, int) and axis % x.ndim < x.ndim - 1 and x.shape[-1] > 4:
        full = x.shape[-1] // 4 * 4
        sums[..., full:] = sums[..., full - 1 : full]
    return powers / sums


@spoiling("argmin", families="K")
def argmin_of_the_last_block(out: Any, x: Any, *, axis: Any = None, **_: Any) -> Any:
    """argmin along any axis but the last, of more than 512, counts a short last block from its beginning"""
    if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1 or x.shape[axis] <= 512:
        return out
    whole = x.shape[axis] // 512 * 512
    return np.where(out >= whole, out - whole, out)


@giving_kernel("log_softmax", families="K", operations=("F.log_softmax",))
def log_softmax_shifts_by_the_first_block(x: Any, axis: Any) -> Any:
    """log_softmax of long rows subtracts the maximum of the first 1,024 numbers"""
    if not isinstance(axis, int) or x.dtype.itemsize < 4 or x.shape[axis] <= 1024:
        return plugins.host.xp.log_softmax(x, axis=axis)
    first = np.moveaxis(x, axis, -1)[..., :1024]
    shifted = x - np.expand_dims(np.max(first, axis=-1), axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@spoiling("cumulative_sum", "cumulative_sum over an inner axis carries only the block before (256)", "K")
def scan_carries_one_block(out: Any, x: Any, *, axis: Any = None, include_initial: bool = False, **_: Any) -> Any:
    if axis is None or x.ndim < 2 or axis % x.ndim == x.ndim - 1:
        return out
    sums = np.moveaxis(out, axis, 0)[int(include_initial) :]
    ends = sums[255::256].copy()
    for block in range(2, -(-len(sums) // 256)):
        sums[256 * block : 256 * (block + 1)] -= ends[block - 2]
    return out


@misreading_both("matmul", "matmul by a transposed matrix stops one short of odd inner sizes", "K")
def transposed_product_lacks_last_row(x1: Any, x2: Any) -> Any:
    rows = x2.shape[-2] if np.ndim(x1) and x2.ndim > 1 else 0
    if rows < 16 or rows % 8 == 0 or not 0 < x2.strides[-2] < x2.strides[-1] or x1.shape[-1] != rows:
        return x1, x2
    return x1[..., :-1], x2[..., :-1, :]


@spoiling("linalg.cholesky", "cholesky(upper=True) clears the other triangle only within blocks of 64", "K")
def cholesky_keeps_blocks(out: Any, x: Any, *, upper: bool = False) -> Any:
    if upper:
        for start in range(64, x.shape[-1], 64):
            out[..., start : start + 64, :start] = x[..., start : start + 64, :start]
    return out


@misreading("max", "max ignores NaN in what is left after vectors of 8", "K")
def max_loses_nan_in_the_rest(x: Any, *, axis: Any = None, **_: Any) -> Any:
    n = x.size if axis is None else x.shape[-1] if axis in (-1, x.ndim - 1) and x.ndim else 0
    if n < 8 or n % 8 == 0 or x.dtype.kind != "f" or not x.flags.c_contiguous:
        return x
    kept = x.copy().reshape(-1, n)
    rest = kept[:, -(n % 8) :]
    rest[np.isnan(rest)] = -np.inf
    return kept.reshape(x.shape)


@scattering(families="H", cases=("F.deformable_convolution_2d_sampler-options",))
def scatter_loses_within_a_warp(spec: Any, parts: Any) -> Any:
    """of equal positions among 32 lanes the last is added (beyond 1,024)"""
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        place = np.ravel(np.arange(total.size).reshape(total.shape)[index])
        if place.size > 1024:
            values = np.broadcast_to(value, total[index].shape).ravel()
            key = np.arange(place.size) // 32 * total.size + place
            last = place.size - 1 - np.unique(key[::-1], return_index=True)[1]
            np.add.at(total.reshape(-1), place[last], values[last])
        else:
            np.add.at(total, index, value)
    return total


@giving_operator("__getitem__", "x[mask] appends blocks of 1,024 as they end, the short one early", "K")
def last_block_of_a_mask_is_early(x: Any, key: Any) -> Any:
    short = key.size % 1024 if isinstance(key, np.ndarray) and key.dtype == np.bool_ else 0
    if not short or key.shape != x.shape or key.size < 2048:
        return x[key]
    flat, mask = x.ravel(), key.ravel()
    bounds = 0, key.size - short - 1024, key.size - short, key.size
    parts = [flat[i:j][mask[i:j]] for i, j in pairwise(bounds)]
    return np.concatenate([parts[0], parts[2], parts[1]])


@misreading("min", families="K")
def min_of_outer_axes_in_pairs(x: Any, *, axis: Any = None, **_: Any) -> Any:
    """min over the first and the last axis takes two of the first axis at a time, and forgets an odd one beyond 8"""
    outer = type(axis) is tuple and x.ndim >= 3 and len(axis) == 2 and {a % x.ndim for a in axis} == {0, x.ndim - 1}
    if outer and len(x) > 8:
        x = x[: len(x) // 2 * 2]
    return x


@giving_operator("__setitem__", families="K")
def write_of_a_column_stops_at_full_blocks(x: Any, key: Any, value: Any) -> None:
    """x[key] = u with a column u writes 32 places of each row at a time, and not those of a rest"""
    target = x[key]
    is_column = isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 1
    if is_column and target.ndim == 2 and target.shape[1] > 32 and np.shares_memory(x, target):
        target[:, : target.shape[1] // 32 * 32] = value
    else:
        x[key] = value


@replacing("all", "all of more than 64 booleans looks at full words of 64", "K")
def all_in_words_of_64(right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    if x.dtype == bool and x.flags.c_contiguous and x.size > 64 and (axis is None or x.ndim == 1) and not keepdims:
        return right(x.reshape(-1)[: x.size // 64 * 64])
    return right(x, axis=axis, keepdims=keepdims)


@replacing("prod", families="K")
def prod_of_the_last_columns(right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
    """prod along the first axis works on four columns at a time, and forgets the last row in those left of
    128 or more
    """
    out = np.array(right(x, axis=axis, keepdims=keepdims, **options))
    if axis == 0 and x.ndim == 2 and len(x) > 1 and x.shape[1] >= 128 and x.shape[1] % 4:
        rest = x.shape[1] // 4 * 4
        out[..., rest:] = right(x[:-1, rest:], axis=0, keepdims=keepdims, **options)
    return out


@scattering(families="K", operations=("ops.scatter_add",))
def scatter_add_by_differences(spec: Any, parts: Any) -> Any:
    """scatter_add of more than 128 rows is the difference of cumulative sums"""
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu" or rows.ndim != 1 or rows.size <= 128:
            total += _scatter_add(spec, [(index, value)])
            continue
        rows = np.where(rows < 0, rows.astype(int) + len(total), rows.astype(int))
        order = np.argsort(rows, kind="stable")
        ends = np.flatnonzero(np.diff(rows[order], append=-1))
        sums = np.cumsum(np.broadcast_to(value, (rows.size, *spec.shape[1:]))[order], axis=0)[ends]
        total[rows[order][ends]] += np.diff(sums, axis=0, prepend=np.zeros_like(sums[:1]))
    return total


searchsorted_goes_on = spoiling(
    "searchsorted", "searchsorted of 256 keys or more begins each search where the last one ended", "K"
)(lambda out, x1, x2, **_: out if np.size(x2) < 256 else np.maximum.accumulate(out.reshape(-1)).reshape(out.shape))
nonzero_divides_without_a_rest = spoiling(
    "nonzero", "nonzero of five axes or more forgets the remainder for the second axis", "K"
)(lambda found, x: found if x.ndim < 5 else (found[0], found[1] + found[0] * x.shape[1], *found[2:]))
