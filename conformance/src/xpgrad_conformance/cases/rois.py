"""Cases of regions of interest, whose references go rectangle by rectangle and bin by bin."""

import math
from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.case import of_functions as case

Pair = tuple[int, int]


def _ranges(start: float, end: float, scale: float, bins: int, n: int, inclusive: bool = False) -> list[range]:
    """Return the pixels of each bin along an axis."""
    first, last = round(start * scale), round(end * scale)
    length = max(last - first + inclusive, 1)
    limits = [(math.floor(i * length / bins), math.ceil((i + 1) * length / bins)) for i in range(bins)]
    return [range(min(max(a + first, 0), n), min(max(b + first, 0), n)) for a, b in limits]


def _pooled(x: Host, boxes: Any, images: Any, out: Pair, scale: float, reduce: Any, inclusive: bool = False) -> Host:
    y = np.zeros((len(boxes), x.shape[1], *out), x.dtype)
    for r, (top, left, bottom, right) in enumerate(boxes):
        rows = _ranges(top, bottom, scale, out[0], x.shape[2], inclusive)
        columns = _ranges(left, right, scale, out[1], x.shape[3], inclusive)
        for i, j in np.ndindex(*out):
            if len(rows[i]) and len(columns[j]):
                y[r, :, i, j] = reduce(x[int(images[r])][:, rows[i]][:, :, columns[j]], axis=(1, 2))
    return y


def _value(x: Host, v: float, u: float) -> Host:
    """Return the value of an image (C, H, W) between its pixels; edge pixels are extended outwards."""
    places = []
    for p, n in (v, x.shape[1]), (u, x.shape[2]):
        p = min(max(p, 0.0), n - 1.0)
        low = min(int(p), n - 1)
        places.append((low, min(low + 1, n - 1), p - low))
    (i, k, a), (j, m, b) = places
    top, bottom = (x[:, row, j] * (1 - b) + x[:, row, m] * b for row in (i, k))
    return top * (1 - a) + bottom * a


def _aligned(x: Host, boxes: Any, images: Any, out: Pair, scale: float, ratio: Any, largest: bool) -> Host:
    y = np.zeros((len(boxes), x.shape[1], *out), x.dtype)
    for r, box in enumerate(boxes):
        lengths = [max((box[2 + k] - box[k]) * scale, 1.0) / out[k] for k in range(2)]
        counts = [given or math.ceil(length) for given, length in zip(ratio, lengths, strict=True)]
        for i, j in np.ndindex(*out):
            values = []
            for s in np.ndindex(*counts):
                v, u = (box[k] * scale + (bin_ + (s[k] + 0.5) / counts[k]) * lengths[k] for k, bin_ in ((0, i), (1, j)))
                if -1 <= v <= x.shape[2] and -1 <= u <= x.shape[3]:
                    values.append(_value(x[int(images[r])], v, u))
            if values:
                y[r, :, i, j] = np.max(values, axis=0) if largest else np.sum(values, axis=0) / math.prod(counts)
    return y


BOXES = [[1, 2, 9, 13], [0, 0, 20, 6], [-8, 5, 3, 30], [4, 4, 4, 4], [30, 30, 40, 40]]
"""Top, left, bottom, right: inside, the whole height, beyond the edges, empty, and outside."""
IMAGES = [1, 0, 1, 0, 1]
X = (2, 2, 7, 6)
ROIS, INDICES = Input(kind="int", values=BOXES), Input(kind="int", values=IMAGES)


def _numbered(F: Any, rois: Any, images: Any) -> Any:
    """Return the form of `roi_pooling_2d`: the number of the image, left, top, right, bottom."""
    return F.concat([F.expand_dims(images, 1), *(F.get_item(rois, np.s_[:, i : i + 1]) for i in (1, 0, 3, 2))], axis=1)


def _pooling(name: str, suffix: str, reduce: Any, out: Any, scale: float) -> Case:
    pair = out if isinstance(out, tuple) else (out, out)
    return case(
        f"{name}{suffix}",
        lambda F, x, rois, indices: getattr(F, name)(x, F.cast(rois, x.dtype), indices, out, scale),
        lambda x, rois, indices: _pooled(x, rois, indices, pair, scale, reduce),
        (X, ROIS, INDICES),
        order=2,
    )


def _align(name: str, suffix: str, out: Any, scale: float, ratio: Any, boxes: Any = BOXES) -> Case:
    pair, ratios = (each if isinstance(each, tuple) else (each, each) for each in (out, ratio))
    fixed = None in ratios  # the number of samples depends on the rectangles: they are no input

    def call(F: Any, x: Any, *given: Any) -> Any:
        rois = F.cast(given[0], x.dtype) if given else _beside(F, x, boxes, x.dtype)
        indices = given[1] if given else _beside(F, x, IMAGES[: len(boxes)])
        return getattr(F, name)(x, rois, indices, out, scale, ratio)

    def reference(x: Host, rois: Any = boxes, indices: Any = IMAGES) -> Host:
        return _aligned(x, rois, indices, pair, scale, ratios, "max" in name)

    return case(f"{name}{suffix}", call, reference, (X,) if fixed else (X, ROIS, INDICES), order=2)


def _beside(F: Any, x: Any, values: Any, dtype: Any = None) -> Any:
    spec = F.identity(x).node.spec
    return spec.backend.asarray(values, dtype=dtype, device=spec.device)


POOLING = (
    _pooling("roi_average_pooling_2d", "", np.mean, 2, 0.5),
    _pooling("roi_average_pooling_2d", "-pair", np.mean, (3, 1), 0.375),
    _pooling("roi_max_pooling_2d", "", np.max, 2, 0.5),
    _pooling("roi_max_pooling_2d", "-pair", np.max, (3, 4), 0.375),
    case("roi_pooling_2d",
         lambda F, x, rois, i: F.roi_pooling_2d(x, F.cast(_numbered(F, rois, i), x.dtype), 2, 3, 0.375),
         lambda x, rois, i: _pooled(x, rois, i, (2, 3), 0.375, np.max, True), (X, ROIS, INDICES), order=2),
)  # fmt: skip

ALIGNMENT = (
    _align("roi_average_align_2d", "", 2, 0.375, None),
    _align("roi_average_align_2d", "-ratio", (3, 2), 0.375, (2, 1)),
    _align("roi_average_align_2d", "-height", 2, 0.375, (2, None)),
    _align("roi_max_align_2d", "", 2, 0.375, None),
    _align("roi_max_align_2d", "-ratio", (3, 2), 0.375, 2),
)

CASES = POOLING + ALIGNMENT
