"""Alignment of regions of interest: means or maxima of samples between pixels in the bins of rectangles."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from xpgrad.array_api import astype, ceil, clip, expand_dims, maximum, permute_dims, reshape, where
from xpgrad.array_api import max as max_
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.spec import Spec
from xpgrad.functions.rois import channels_first, images_of, positive, regions
from xpgrad.functions.samplers import numbers, sampled
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.types import AnyArray, Size

__all__ = ["roi_average_align_2d", "roi_max_align_2d"]

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
