"""Pooling and alignment of regions of interest: means or maxima in the bins of rectangles on images.

Alignment takes samples between pixels. The values of rectangles are not needed on the host.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api import astype, ceil, clip, expand_dims, maximum, permute_dims, reshape, where
from xpgrad.array_api import max as max_
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import integral, invalid, real_floating
from xpgrad.functions.samplers import numbers, sampled
from xpgrad.functions.windows import MAX_ELEMENTS
from xpgrad.graph.variable import Variable, as_array, as_variable, constant_variable
from xpgrad.types import WHOLE, AnyArray, Shape, Size

__all__ = ["roi_average_align_2d", "roi_average_pooling_2d", "roi_max_align_2d", "roi_max_pooling_2d", "roi_pooling_2d"]

Range = tuple[Variable, Variable]
"""The first element of each bin along an axis, and their number; shape (R, out)."""


def positive(function: str, option: str, values: Any, nullable: bool = False) -> tuple[Any, Any]:
    pair = tuple(values) if isinstance(values, (tuple, list)) else (values, values)
    if len(pair) != 2 or any(not (v is None and nullable) and (not isinstance(v, WHOLE) or v < 1) for v in pair):
        expect = "an int of at least 1 or a pair of them" + (", or None" if nullable else "")
        raise TypeError(f"{function}: expected {option} to be {expect}, got {values!r}")
    if math.prod(v or 1 for v in pair) > MAX_ELEMENTS:
        raise ValueError(f"{function}: expected {option} of at most {MAX_ELEMENTS} elements, got {values!r}")
    return pair[0], pair[1]


def regions(
    function: str, x: AnyArray, rois: AnyArray, outsize: Any, scale: float, columns: int = 4
) -> tuple[Spec, Variable, Shape]:
    """Return the spec of `x`, the rectangles on its pixels and the size of the results, if everything fits."""
    out = positive(function, "outsize", outsize)
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or scale <= 0:
        raise TypeError(f"{function}: expected spatial_scale to be a number greater than 0, got {scale!r}")
    spec, boxes = real_floating(x, function), real_floating(rois, function, "rois")
    if spec.ndim != 4 or 0 in spec.shape[2:]:
        raise invalid(function, "x of shape (N, C, H, W) with pixels", f"x is {spec!r}")
    if boxes.ndim != 2 or boxes.shape[1] != columns:
        raise invalid(function, f"rois of shape (R, {columns})", f"rois is {boxes!r}")
    wide = spec.backend.namespace.result_type(spec.wide, boxes.wide)
    return spec, xpa.astype(constant_variable(as_variable(rois).array), wide, copy=False), out


def images_of(function: str, rois: Variable, roi_indices: AnyArray) -> Variable:
    """Return the numbers of images as a constant, after checking that each rectangle has a number."""
    spec = integral(roi_indices, function, "roi_indices")
    if spec.shape != rois.shape[:1]:
        raise invalid(function, f"roi_indices of shape {rois.shape[:1]}, as rois is {rois.shape}", f"it is {spec!r}")
    return _whole(constant_variable(as_array(roi_indices)))


def _whole(x: Variable) -> Variable:
    return xpa.astype(x, x.node.spec.backend.default_dtype("int"), copy=False)


def _bins(corners: Variable, size: Shape, out: Shape, scale: float, inclusive: bool = False) -> list[Range]:
    """Return the pixels of the bins along both axes, from rectangles (top, left, bottom, right)."""
    whole, found = _whole(xpa.round(corners * scale)), []
    for axis in range(2):
        start, end = whole[:, axis : axis + 1], whole[:, axis + 2 : axis + 3]
        length = xpa.maximum(end - start + int(inclusive), 1)
        bins = numbers(corners.node.spec, out[axis])
        low = xpa.clip(start + xpa.floor_divide(bins * length, out[axis]), 0, size[axis])
        high = xpa.clip(start - xpa.floor_divide(-(bins + 1) * length, out[axis]), 0, size[axis])
        found.append((low, xpa.maximum(high - low, 0)))
    return found


def _reduced(x: Variable, image: Variable, bins: list[Range], combine: Callable[..., Variable], empty: Any) -> Variable:
    """Return for each bin its pixels combined, in time that does not depend on their number.

    A bin is the sum of rectangles with powers of two as sides, one for each bit of its height and each of its width.

    Parameters
    ----------
    x : Variable, shape (N, H, W, C)
    image : Variable of int, shape (R,)
    bins : the rows and the columns of bins
    combine : callable
        Of two arrays, elementwise; `empty` is its neutral element.

    Returns
    -------
    Variable, shape (R, out, out, C)
    """
    (top, heights), (left, widths) = bins
    image, top, heights = (xpa.reshape(a, shape=(*a.shape, *(1,) * (3 - a.ndim))) for a in (image, top, heights))
    left, widths = xpa.expand_dims(left, axis=1), xpa.expand_dims(widths, axis=1)
    _, h, w, c = x.shape
    total: Variable | None = None
    for tall in [1 << k for k in range(h.bit_length())]:
        if tall > 1:
            x = combine(x[:, : -tall // 2, :, :], x[:, tall // 2 :, :, :])
        table, i = x, xpa.clip(top + heights % tall, 0, h - tall)
        for wide in [1 << k for k in range(w.bit_length())]:
            if wide > 1:
                table = combine(table[:, :, : -wide // 2, :], table[:, :, wide // 2 :, :])
            j = xpa.clip(left + widths % wide, 0, w - wide)
            place = (image * (h - tall + 1) + i) * (w - wide + 1) + j
            values = xpa.take(xpa.reshape(table, shape=(-1, c)), xpa.reshape(place, shape=(-1,)), axis=0)
            used = xpa.logical_and(heights // tall % 2 == 1, widths // wide % 2 == 1)
            part = xpa.where(xpa.expand_dims(used, axis=-1), xpa.reshape(values, shape=(*place.shape, c)), empty)
            total = part if total is None else combine(total, part)
    assert total is not None  # an image has pixels
    return total


@in_single_precision
def roi_average_pooling_2d(
    x: AnyArray, rois: AnyArray, roi_indices: AnyArray, outsize: Size, spatial_scale: float
) -> Variable:
    """Return the means of the pixels in the bins of rectangles on images.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    rois : Variable or array, shape (R, 4), real floating-point
        Top, left, bottom and right of each rectangle. They get no gradient.
    roi_indices : Variable or array, shape (R,), integer
        The number of its image.
    outsize : int or pair of int
        Number of bins along the height and the width, OH and OW.
    spatial_scale : float
        Factor from the coordinates of `rois` to pixels; the products are rounded.

    Returns
    -------
    Variable, shape (R, C, OH, OW)
        0 for a bin outside of the image.

    Raises
    ------
    TypeError
        An option is not of the kind above, or out of range.
    """
    name = "roi_average_pooling_2d"
    spec, corners, out = regions(name, x, rois, outsize, spatial_scale)
    bins = _bins(corners, spec.shape[2:], out, spatial_scale)
    pixels = xpa.permute_dims(xpa.astype(x, spec.wide, copy=False), axes=(0, 2, 3, 1))
    total = _reduced(pixels, images_of(name, corners, roi_indices), bins, operator.add, 0.0)
    count = xpa.maximum(xpa.expand_dims(bins[0][1], axis=2) * xpa.expand_dims(bins[1][1], axis=1), 1)
    return channels_first(total / xpa.expand_dims(xpa.astype(count, spec.wide), axis=-1), spec)


def channels_first(y: Variable, spec: Spec) -> Variable:
    return xpa.astype(xpa.permute_dims(y, axes=(0, 3, 1, 2)), spec.dtype, copy=False)


def roi_max_pooling_2d(
    x: AnyArray, rois: AnyArray, roi_indices: AnyArray, outsize: Size, spatial_scale: float
) -> Variable:
    """Return the largest pixels in the bins of rectangles on images.

    The parameters are the same as in `roi_average_pooling_2d`. A bin outside of the image is 0. The first of the
    pixels that tie gets the gradient.

    References
    ----------
    Girshick: Fast R-CNN, 2015.
    """
    name = "roi_max_pooling_2d"
    spec, corners, out = regions(name, x, rois, outsize, spatial_scale)
    bins = _bins(corners, spec.shape[2:], out, spatial_scale)
    return _largest(as_variable(x), spec, images_of(name, corners, roi_indices), bins)


def _largest(x: Variable, spec: Spec, image: Variable, bins: list[Range]) -> Variable:
    """Return the largest pixels of bins, shape (R, C, out, out); the first of equal pixels gets the gradient."""
    n, c, h, w = spec.shape
    lines = xpa.reshape(constant_variable(x.array), shape=(n * c, h * w))
    order = xpa.argsort(lines, axis=1, descending=True)
    ranks = _whole(xpa.reshape(xpa.argsort(order, axis=1), shape=(n, c, h, w)))
    rank = _reduced(xpa.permute_dims(ranks, axes=(0, 2, 3, 1)), image, bins, xpa.minimum, h * w)
    rank = xpa.permute_dims(rank, axes=(0, 3, 1, 2))
    line = (xpa.reshape(image, shape=(-1, 1, 1, 1)) * c + numbers(spec, c, shape=(-1, 1, 1))) * (h * w)
    found = xpa.take(
        _whole(xpa.reshape(order, shape=(-1,))), xpa.reshape(line + xpa.clip(rank, 0, h * w - 1), shape=(-1,)), axis=0
    )
    y = xpa.take(
        xpa.reshape(x, shape=(-1,)), xpa.reshape(line + xpa.reshape(found, shape=rank.shape), shape=(-1,)), axis=0
    )
    return xpa.where(rank == h * w, 0.0, xpa.reshape(y, shape=rank.shape))


def roi_pooling_2d(x: AnyArray, rois: AnyArray, outh: int, outw: int, spatial_scale: float) -> Variable:
    """Return the largest pixels in the bins of rectangles on images; 0 for a bin outside.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    rois : Variable or array, shape (R, 5), real floating-point
        The number of the image, then left, top, right and bottom of the rectangle, which ends after that pixel.
    outh, outw : int
        Number of bins along each side.
    spatial_scale : float
        Factor from the coordinates of `rois` to pixels.

    Returns
    -------
    Variable, shape (R, C, outh, outw)
        The first of the pixels that tie gets the gradient; `rois` get none. See `roi_max_pooling_2d`.
    """
    spec, boxes, out = regions("roi_pooling_2d", x, rois, (outh, outw), spatial_scale, 5)
    corners = xpa.concat([boxes[:, i : i + 1] for i in (2, 1, 4, 3)], axis=1)
    bins = _bins(corners, spec.shape[2:], out, spatial_scale, inclusive=True)
    return _largest(as_variable(x), spec, _whole(boxes[:, 0]), bins)


Ratio = int | tuple[int | None, int | None] | None


@in_single_precision
def roi_average_align_2d(
    x: AnyArray, rois: AnyArray, roi_indices: AnyArray, outsize: Size, spatial_scale: float,
    sampling_ratio: Ratio = None,
) -> Variable:  # fmt: skip
    """Return the means of samples in the bins of rectangles on images.

    Parameters
    ----------
    x, rois, roi_indices, outsize, spatial_scale
        As in `roi_average_pooling_2d`, but coordinates are not rounded.
    sampling_ratio : int, pair of int, or None
        Number of samples along each side of a bin, at equal distances. None takes the length of the bin in pixels,
        rounded up; the greatest of these is computed on the host, so `rois` must not be traced or batched.

    Returns
    -------
    Variable, shape (R, C, OH, OW)
        Between pixels there is bilinear interpolation. Samples farther than one pixel outside count as zeros.

    References
    ----------
    He, Gkioxari, Dollár, Girshick: Mask R-CNN, 2017.
    """
    name = "roi_average_align_2d"
    spec, samples, count = _samples(name, x, rois, roi_indices, outsize, spatial_scale, sampling_ratio)
    total: Any = 0
    for values, inside in samples:
        total = total + where(inside, values, 0.0)
    return channels_first(total / reshape(count, shape=(-1, 1, 1, 1)), spec)


@in_single_precision
def roi_max_align_2d(
    x: AnyArray, rois: AnyArray, roi_indices: AnyArray, outsize: Size, spatial_scale: float,
    sampling_ratio: Ratio = None,
) -> Variable:  # fmt: skip
    """Return the largest of the samples in the bins of rectangles on images.

    The parameters are the same as in `roi_average_align_2d`. Samples farther than one pixel outside are ignored, and a
    bin without any other is 0. The first of the samples that tie gets the gradient.
    """
    name = "roi_max_align_2d"
    spec, samples, _ = _samples(name, x, rois, roi_indices, outsize, spatial_scale, sampling_ratio)
    largest: Any = None
    for values, inside in samples:
        values = where(inside, values, -math.inf)
        known = constant_variable(values.array)
        largest = values if largest is None else where(known > constant_variable(largest.array), values, largest)
    return channels_first(where(constant_variable(largest.array) == -math.inf, 0.0, largest), spec)


def _samples(
    function: str, x: AnyArray, rois: AnyArray, roi_indices: AnyArray, outsize: Any, scale: float, ratio: Ratio
) -> tuple[Spec, Iterator[tuple[Variable, Variable]], Variable]:
    """Return the spec of `x`, samples with a mask of those inside, and their number for each rectangle.

    Each sample has the shape (R, out, out, C) and contains the value with this number in all bins.
    """
    ratios = positive(function, "sampling_ratio", ratio, nullable=True)
    spec, corners, out = regions(function, x, rois, outsize, scale)
    image = reshape(images_of(function, corners, roi_indices), shape=(-1, 1, 1))
    start, end = corners[:, :2] * scale, corners[:, 2:] * scale
    length = maximum(end - start, 1.0)
    lines, counts = [], []
    for axis, (n, bins, given) in enumerate(zip(spec.shape[2:], out, ratios, strict=True)):
        size = length[:, axis] / bins
        count = ceil(size) if given is None else 0 * size + given
        most = given or (int(max_(count).array) if count.size else 1)
        steps = (numbers(corners.node.spec, most, corners.dtype) + 0.5) / reshape(count, shape=(-1, 1, 1))
        place = reshape(numbers(corners.node.spec, bins, corners.dtype), shape=(-1, 1)) + steps
        place = reshape(start[:, axis], shape=(-1, 1, 1)) + place * reshape(size, shape=(-1, 1, 1))
        inside = (steps < 1) & (place >= -1) & (place <= n)
        lines.append([(place[:, :, i], inside[:, :, i]) for i in range(most)])
        counts.append(count)
    pixels = permute_dims(astype(x, corners.dtype, copy=False), axes=(0, 2, 3, 1))
    h, w = spec.shape[2:]

    def sample(row: tuple[Variable, Variable], column: tuple[Variable, Variable]) -> tuple[Variable, Variable]:
        v, u = (expand_dims(a, axis=k) for k, a in ((2, clip(row[0], 0, h - 1)), (1, clip(column[0], 0, w - 1))))
        inside = expand_dims(row[1], axis=2) & expand_dims(column[1], axis=1)
        return sampled(pixels, image, v, u), expand_dims(inside, axis=-1)

    return spec, itertools.starmap(sample, itertools.product(*lines)), counts[0] * counts[1]
