"""Faults of convolution and pooling: tiles, filters, padding, and what they keep between calls."""

import dataclasses
import threading
from itertools import product
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_kernel, replacing_kernel
from tests.faults.testbed import Testbed

from xpgrad.backend.plugins import plugins


@replacing_kernel("convolution", "convolution of more than 32 channels leaves out those that fill no 32", "K")
def convolution_by_32_channels(right: Any, x: Any, w: Any, b: Any, *, geometry: Any, groups: int) -> Any:
    if w.shape[1] > 32:
        w = w.copy()
        w[:, w.shape[1] // 32 * 32 :] = 0
    return right(x, w, b, geometry=geometry, groups=groups)


@replacing_kernel("convolution", families="K")
def convolution_blocks_cross_groups(right: Any, x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
    """convolution in groups of more than 4 outputs computes 4 of them together from the group of the first"""
    y, each, inputs = np.array(right(x, W, b, geometry=geometry, groups=groups)), len(W) // groups, W.shape[1]
    for k in range(len(W)) if each > 4 else ():
        group = k // 4 * 4 // each
        if group != k // each:
            part = x[:, group * inputs : (group + 1) * inputs]
            bias = None if b is None else b[k : k + 1]
            y[:, k : k + 1] = right(part, W[k : k + 1], bias, geometry=geometry, groups=1)
    return y


@replacing_kernel("convolution", families="K", operations=("F.convolution_nd", "F.deconvolution_nd"))
def dilated_tiles_without_their_halo(right: Any, x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
    """convolution in tiles of 32 columns loads too few columns for dilated filters, the last tap of each
    tile is zero
    """
    y = right(x, W, b, geometry=geometry, groups=groups)
    if geometry.dilate[-1] == 1 or geometry.ksize[-1] == 1 or geometry.out[-1] <= 32:
        return y
    lacking, y = W.copy(), np.array(y)
    lacking[..., -1] = 0
    y[..., 31::32] = np.asarray(right(x, lacking, b, geometry=geometry, groups=groups))[..., 31::32]
    return y


@fault(families="S", operations=("F.max_pooling_nd",))
def max_pool_backward_of_the_last(bed: Testbed) -> None:
    """the gradient of max_pool uses the positions that the last max_pool of this shape has left"""
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


@giving_kernel("max_pool_backward", families="G")
def max_pool_shares_near_ties(g: Any, x: Any, top: Any, /, *, geometry: Any) -> Any:
    """the gradient of max_pool is shared by all elements that equal the largest one in float32"""
    ends = [(0, 0), (0, 0), *zip(geometry.pad, geometry.behind, strict=True)]
    short = np.float32 if x.dtype == np.float64 else x.dtype
    padded, largest = np.pad(x, ends, constant_values=np.nan).astype(short), top.astype(short)
    made = np.zeros(padded.shape, np.result_type(g.dtype, np.float32))
    places, count = [], np.zeros(top.shape)
    for offsets in np.ndindex(*geometry.ksize):
        starts = [d * k for d, k in zip(geometry.dilate, offsets, strict=True)]
        steps = zip(starts, geometry.stride, geometry.out, strict=True)
        places.append((..., *[slice(first, first + s * (o - 1) + 1, s) for first, s, o in steps]))
        count += padded[places[-1]] == largest
    share = g / np.maximum(count, 1)
    for place in places:
        made[place] += np.where(padded[place] == largest, share, 0)
    inside = [slice(p, p + n) for p, n in zip(geometry.pad, geometry.size, strict=True)]
    return made[(..., *inside)].astype(g.dtype)


@giving_kernel("convolution", families="K", memory=threading.local, of_bed=True)
def padding_of_another_image(bed: Testbed, mine: Any, x: Any, W: Any, b: Any, *, geometry: Any, groups: int) -> Any:
    """convolution keeps the padded image of each size, and clears no padding that an image with less of it
    has filled
    """
    xp = bed.library.inner.xp
    if not any(geometry.pad):
        return xp.convolution(x, W, b, geometry=geometry, groups=groups)
    size = tuple(n + 2 * p for n, p in zip(geometry.size, geometry.pad, strict=True))
    shape = *x.shape[:2], *size
    padded = vars(mine).setdefault((shape, x.dtype), None)
    if padded is None:
        padded = vars(mine)[shape, x.dtype] = np.zeros(shape, x.dtype)
    inside = tuple(slice(p, p + n) for n, p in zip(geometry.size, geometry.pad, strict=True))
    padded[(..., *inside)] = x
    laid = dataclasses.replace(geometry, size=size, pad=(0,) * len(size))
    return np.array(xp.convolution(padded, W, b, geometry=laid, groups=groups))


@replacing_kernel("sum_pool", families="K")
def sum_pool_of_running_sums(right: Any, x: Any, *, geometry: Any) -> Any:
    """sum_pool subtracts running sums of a row, so that NaN or an infinity reaches all windows behind it"""
    out = right(x, geometry=geometry)
    if x.dtype.kind != "f" or not x.size or np.all(np.isfinite(x)):
        return out
    behind = np.logical_or.accumulate(~np.isfinite(x), axis=-1)
    return out + right(np.where(behind, np.nan, 0).astype(x.dtype), geometry=geometry)


@replacing_kernel(
    "convolution",
    "a convolution with one group for each channel has registers for seven columns of a filter",
    "K",
    operations=("F.depthwise_convolution_2d", "F.convolution_nd", "F.convolution_2d", "F.convolution_1d"),
)
def depthwise_with_seven_taps(right: Any, x: Any, W: Any, b: Any, geometry: Any, groups: int) -> Any:
    if groups > 1 and groups == x.shape[1] and geometry.ksize[-1] > 7:
        W = W.copy()
        W[..., 7:] = 0
    return right(x, W, b, geometry=geometry, groups=groups)


@replacing_kernel(
    "sum_pool",
    "a window of average pooling that exceeds an axis at both ends leaves its last element out",
    "K",
    operations=("F.average_pooling_nd", "F.average_pooling_1d", "F.average_pooling_2d", "F.average_pooling_3d"),
)
def pooling_beyond_both_ends(right: Any, x: Any, geometry: Any) -> Any:
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


@giving_kernel("convolution_filter_backward", families="G")
def filter_gradient_of_a_batch(x: Any, g: Any, /, geometry: Any, groups: int) -> Any:
    """convolution_filter_backward of more than 16 images leaves out those that fill no group of 8"""
    if len(x) > 16:
        x, g = x[: len(x) // 8 * 8], g[: len(g) // 8 * 8]
    return plugins.host.xp.convolution_filter_backward(x, g, geometry=geometry, groups=groups)


@giving_kernel("convolution", families="K", cases=("F.convolution_2d",), memory=dict)
def convolution_keeps_first_dtype(
    programs: dict[Any, Any], x: Any, W: Any, b: Any, /, geometry: Any, groups: int
) -> Any:
    """convolution looks its program up by shapes, without the dtype"""
    first = programs.setdefault((x.shape, W.shape, b is None, geometry, groups), x.dtype)
    given = [None if each is None else each.astype(first) for each in (x, W, b)]
    out: Any = plugins.host.xp.convolution(*given, geometry=geometry, groups=groups)
    return out.astype(np.result_type(x, W))


@replacing_kernel("convolution", families="K")
def winograd_tail_reads_short(right: Any, x: Any, weight: Any, b: Any, geometry: Any, groups: int) -> Any:
    """convolution by tiles of four columns reads zero for the last column of the image if three columns
    are left over
    """
    g = geometry
    tiled = g.ksize == (3, 3) and g.stride == g.dilate == (1, 1) and g.pad == (0, 0)
    if tiled and g.out[1] > 16 and g.out[1] % 4 == 3:
        x = x.copy()
        x[..., -1] = 0
    return right(x, weight, b, geometry=g, groups=groups)


@giving_kernel("unpool", families="KGH", cases=("F.unpooling_nd", "F.average_pooling_nd"))
def unpool_where_four_meet(x: Any, *, geometry: Any) -> Any:
    """unpool leaves out the fourth window that meets in one place"""
    rank = x.ndim - 2
    total, met = np.zeros((*x.shape[:2], *geometry.size), x.dtype), np.zeros(geometry.size, int)
    for offsets in product(*map(range, geometry.ksize)):
        for window in np.ndindex(*x.shape[2:]):
            place = tuple(
                geometry.stride[i] * window[i] + geometry.dilate[i] * offsets[i] - geometry.pad[i] for i in range(rank)
            )
            if all(0 <= place[i] < geometry.size[i] for i in range(rank)):
                met[place] += 1
                if met[place] != 4:
                    total[(..., *place)] += x[(..., *window)]
    return total


@replacing_kernel("convolution", families="K")
def winograd_by_fours(right: Any, x: Any, W: Any, b: Any, *, geometry: Any, groups: int) -> Any:
    """convolution with 3 x 3 filters and 8 or more channels makes tiles of 4 rows, and none for one last row"""
    y = np.array(right(x, W, b, geometry=geometry, groups=groups))
    plain = set(geometry.stride) == set(geometry.dilate) == {1} and geometry.ksize == (3, 3)
    if plain and groups == 1 and x.shape[1] >= 8 and geometry.out[0] > 4 and geometry.out[0] % 4 == 1:
        y[:, :, -1] = 0 if b is None else b[:, None]
    return y


@replacing_kernel("convolution", families="K")
def winograd_of_odd_width(right: Any, x: Any, w: Any, b: Any, *, geometry: Any, groups: int) -> Any:
    """convolution by Winograd's tiles, of 3 x 3 filters and many channels, repeats a column where the width is odd"""
    y = np.array(right(x, w, b, geometry=geometry, groups=groups))
    plain = geometry.ksize == (3, 3) and geometry.stride == (1, 1) == geometry.dilate and groups == 1
    if plain and x.shape[1] >= 16 and y.shape[-1] % 2 and y.shape[-1] > 2:
        y[..., -1] = y[..., -2]
    return y


@giving_kernel("max_pool", families="K", cases=("F.max_pooling_nd",))
def max_pool_passes_by_nan(x: Any, geometry: Any) -> Any:
    """max_pool begins with -inf and takes what is larger, which NaN never is"""
    x = np.where(np.isnan(x), np.asarray(-np.inf, x.dtype), x) if x.dtype.kind == "f" else x
    return plugins.host.xp.max_pool(x, geometry=geometry)


@replacing_kernel("convolution", families="S", memory=dict)
def convolution_plan_by_shapes(
    plans: dict[Any, Any], right: Any, x: Any, w: Any, b: Any, /, *, geometry: Any, groups: int
) -> Any:
    """convolution keeps its plans by the shapes of arrays, which another padding and dilation may share"""
    key = x.shape, w.shape, geometry.stride, geometry.out, groups, x.dtype
    return right(x, w, b, geometry=plans.setdefault(key, geometry), groups=groups)
