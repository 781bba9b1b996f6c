"""Convolutions, pooling, and windows of images with every geometry."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.layers import layer, lengths
from xpgrad_conformance.generated.operation import operation, operations
from xpgrad_conformance.generated.sample import Argument, Sample
from xpgrad_conformance.generated.sizes import BATCHES

GEOMETRIES: dict[str, tuple[Any, ...]] = {
    "ndim": (1, 2, 3),
    "ksize": (1, 2, 3),
    "stride": (1, 2, 3),
    "pad": (0, 1, 2),
    "dilate": (1, 2),
    "groups": (1, 2, 3),
    "bias": (False, True),
    "layout": ("contiguous", "transposed", "strided", "broadcast"),
    "batch": (1, 3),
}
"""The options of a convolution; every pair of options occurs."""
TILED = 40, 10
"""Convolutions of images of several tiles, in the full and the quick profile."""
LENGTH = 5000
"""The longest axis of images."""
UNEVEN = 40, 5
"""Windows that differ from axis to axis, in the full and the quick profile."""
PADDED = 4, 1
"""Pairs of images that are of one size with their padding, which is narrow and then wide."""
WIDE = 4, 5, 7, 8, 9, 15, 16, 17, 33, 65
"""Widths of filters and windows near the widths of unrolled loops and vectors."""


def _size(row: dict[str, Any], draw: Draw) -> int:
    """Return a length of images on which a window fits."""
    return int(row["dilate"] * (row["ksize"] - 1) + 1 + draw.rng.integers(0, 5))


@operations(needs=(), area="F.")
def _convolution(draw: Draw, name: str) -> Iterator[Sample]:
    transposed = "de" in name
    for row in draw.combinations(**{**GEOMETRIES, "layout": _layouts(draw)}):
        sizes = tuple(_size(row, draw) for _ in range(row["ndim"]))
        channels = row["groups"] * int(draw.rng.integers(1, 3)), row["groups"] * int(draw.rng.integers(1, 4))
        if transposed and any(_unpadded(n, row) < 1 for n in sizes):
            continue
        yield _sample(draw, name, row, sizes, channels)
    for n in lengths(draw, LENGTH, 3):
        row = {"ndim": 1, "ksize": 3, "stride": 1, "pad": 1, "dilate": 1, "groups": 1, "bias": True}
        row |= {"layout": draw.pick(_layouts(draw)), "batch": 2}
        yield _sample(draw, name, row, (n,), (2, 3))
        yield _sample(draw, name, row, (4,), (n, 1) if n % 2 else (1, n))
    for _ in range(TILED[draw.quick]):  # as many channels and rows as tiles and vectors have, and some more
        groups = draw.pick((1, 1, 1, 2, 3))
        row = {"ndim": 2, "ksize": draw.pick((3, 3, 3, 5)), "stride": draw.pick((1, 1, 1, 2))}
        row |= {"pad": draw.pick((0, 1)), "dilate": draw.pick((1, 2))}
        row |= {"groups": groups, "bias": True, "layout": "contiguous", "batch": draw.pick((1, 2))}
        channels = groups * draw.pick((1, 8, 16)), groups * draw.pick((2, 7, 8))
        long = draw.rng.permutation([draw.rng.integers(9, 24), draw.rng.integers(30, 80)])
        yield _sample(draw, name, row, tuple(long.tolist()), channels)
    for k in (0, 1):  # sizes with special algorithms in some libraries, of even and odd widths
        row = {"ndim": 2, "ksize": 3, "stride": 1, "pad": draw.pick((0, 1)), "dilate": 1, "groups": 1, "bias": True}
        sizes = int(draw.rng.integers(5, 12)), int(2 * draw.rng.integers(5, 12) + k)
        channels = draw.pick((16, 17, 32)), draw.pick((8, 16, 19))
        yield _sample(draw, name, row | {"layout": "contiguous", "batch": draw.pick((1, 2))}, sizes, channels)
    for _ in range(UNEVEN[draw.quick]):
        row, sizes = _uneven(draw, ("ksize", "stride", "pad", "dilate"))
        groups = draw.pick((1, 1, 2, 3))
        if transposed and any(_unpadded(n, each) < 1 for n, each in zip(sizes, _by_axis(row), strict=True)):
            continue
        row |= {"groups": groups, "bias": draw.pick((False, True)), "layout": draw.pick(_layouts(draw))}
        yield _sample(draw, name, row, sizes, (groups * draw.pick((1, 2, 3)), groups * draw.pick((1, 2))))
    for options, sizes in _evenly_padded(draw):
        yield _sample(draw, name, options | {"dilate": 1, "groups": 1, "bias": False}, sizes, (2, 3))
    for batch in BATCHES if not draw.quick else (draw.pick(BATCHES[1:4]), BATCHES[4]):
        row = {"ndim": 1, "ksize": 2, "stride": 1, "pad": 0, "dilate": 1, "groups": 1, "bias": True}
        yield _sample(draw, name, row | {"layout": "contiguous", "batch": batch}, (4,), (2, 3))
    for k in WIDE:
        row = {"ksize": k, "stride": 1, "pad": draw.pick((0, 1)), "dilate": 1, "groups": draw.pick((1, 2))}
        row |= {"ndim": 1 if k > 9 else draw.pick((1, 2)), "layout": draw.pick(_layouts(draw)), "batch": 2}
        yield _sample(draw, name, row | {"bias": False}, (k + 2,) * row["ndim"], (2, 2))


def _uneven(draw: Draw, keys: Sequence[str]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Return options with one number for each of two or three axes, and lengths of these, on which windows fit."""
    ndim = draw.pick((2, 2, 3))
    row = {key: tuple(draw.pick(GEOMETRIES[key]) for _ in range(ndim)) for key in keys}
    row["ksize"] = tuple(map(max, row["ksize"], (pad + 1 for pad in row["pad"])))
    row |= {"ndim": ndim, "batch": draw.pick((1, 2, 3, 3, 18))}
    return row, tuple(_size({"dilate": 1} | each, draw) for each in _by_axis({key: row[key] for key in keys}))


def _evenly_padded(draw: Draw) -> Iterator[tuple[dict[str, Any], tuple[int, ...]]]:
    """Yield options and lengths of images, two after each other whose lengths are the same with their padding."""
    for _ in range(PADDED[draw.quick]):
        ndim, n = draw.pick((1, 2)), int(draw.rng.integers(4, 8))
        for pad in (1, 2):
            row = {"ndim": ndim, "ksize": 3, "stride": 1, "pad": pad, "batch": 2, "layout": "contiguous"}
            yield row, (n + 4 - 2 * pad,) * ndim


def _by_axis(row: dict[str, Any]) -> list[dict[str, int]]:
    """Return the options of each axis."""
    several = {key: value for key, value in row.items() if isinstance(value, tuple)}
    return [dict(zip(several, values, strict=True)) for values in zip(*several.values(), strict=True)]


def _unpadded(n: int, row: dict[str, Any]) -> int:
    return int(row["stride"] * (n - 1) + row["dilate"] * (row["ksize"] - 1) + 1 - 2 * row["pad"])


def _layouts(draw: Draw) -> tuple[str, ...]:
    return tuple(layout for layout in GEOMETRIES["layout"] if layout in draw.layouts())


def _sample(draw: Draw, name: str, row: dict[str, Any], sizes: tuple[int, ...], channels: tuple[int, int]) -> Sample:
    groups, (inputs, outputs) = row["groups"], channels
    kernel = row["ksize"] if isinstance(row["ksize"], tuple) else (row["ksize"],) * row["ndim"]
    shape = (inputs, outputs // groups, *kernel) if "de" in name else (outputs, inputs // groups, *kernel)
    x = draw.array((row["batch"], inputs, *sizes), "integers", layout=row["layout"])
    arrays = [x, draw.array(shape, "integers", layout=draw.pick(_layouts(draw)))]
    if row["bias"]:
        arrays.append(draw.array((outputs,), "integers"))
    keys = ("stride", "pad", "dilate", "groups")
    options = {key: row[key] for key in keys if row[key] != GEOMETRIES[key][0] or draw.rng.integers(2)}
    return layer(f"F.{name}", *arrays, **options)


@operations(needs=(), area="F.")
def _pooling(draw: Draw, name: str, units: float) -> Iterator[Sample]:
    factors = {key: GEOMETRIES[key] for key in ("ndim", "ksize", "stride", "pad", "batch")}
    for row in draw.combinations(**factors, layout=_layouts(draw)[:-1]):
        if row["pad"] < row["ksize"]:
            least = 2 * row["pad"] + 2 if name == "unpooling_nd" else max(1, row["ksize"] - 2 * row["pad"])
            sizes = tuple(int(draw.rng.integers(least, 9)) for _ in range(row["ndim"]))
            yield _pooled(draw, name, units, row, sizes, 2)
    for n in lengths(draw, LENGTH, 3):
        row = {"ksize": 2, "stride": int(draw.rng.integers(1, 4)), "pad": int(draw.rng.integers(0, 2)), "batch": 2}
        row |= {"layout": draw.pick(_layouts(draw)[:-1])}
        yield _pooled(draw, name, units, row, (n,), 1)
        yield _pooled(draw, name, units, row, (5, 4), min(n, 300))
    for value in (np.nan, np.inf, -np.inf, 1e20) if name != "unpooling_nd" else ():
        row = {"ksize": 2, "stride": 1, "pad": 0, "batch": 2, "layout": "contiguous"}
        sample = _pooled(draw, name, units, row, (7,), 3)
        sample.hosts[0][:, draw.rng.integers(3), draw.rng.integers(7)] = value
        yield replace(sample, smooth=False)
    for _ in range(UNEVEN[draw.quick]):
        row, sizes = _uneven(draw, ("ksize", "stride", "pad"))
        if name == "unpooling_nd":
            sizes = tuple(n + 2 * pad + 1 for n, pad in zip(sizes, row["pad"], strict=True))
        row["layout"] = draw.pick(_layouts(draw)[:-1])
        yield _pooled(draw, name, units, row, sizes, draw.pick((1, 2, 3)))
    for options, sizes in _evenly_padded(draw) if name != "unpooling_nd" else ():
        yield _pooled(draw, name, units, options, sizes, 2)
    for k in WIDE:
        row = {"ksize": k, "stride": 1, "pad": int(draw.rng.integers(0, 2)), "batch": 2, "layout": "contiguous"}
        yield _pooled(draw, name, units, row, (k + 3,), 2)


def _pooled(draw: Draw, name: str, units: float, row: dict[str, Any], sizes: tuple[int, ...], channels: int) -> Sample:
    shape = (row["batch"], channels, *sizes)
    if name == "max_pooling_nd":  # all different, half of them negative
        host = draw.rng.permutation(int(np.prod(shape))).reshape(shape) - np.prod(shape) // 2
        x = Argument(host.astype(draw.dtype), (), row["layout"])
        if draw.rng.integers(4) == 0:  # numbers that narrower dtypes do not distinguish
            x = replace(x, host=(1 + host * np.finfo(draw.dtype).eps).astype(draw.dtype))
    else:
        x = draw.array(shape, "integers", layout=row["layout"])
    scale = None if units == 0 else 4.0
    return layer(f"F.{name}", x, units=units, scale=scale, ksize=row["ksize"], stride=row["stride"], pad=row["pad"])


@operation("F.im2col", needs=())
def _columns(draw: Draw) -> Iterator[Sample]:
    for row in draw.combinations(
        **{k: GEOMETRIES[k] for k in ("ksize", "stride", "pad", "dilate")}, cover=(False, True)
    ):
        sizes = (_size(row, draw), _size(row, draw) + 1)
        x = draw.array((2, 3, *sizes), "integers", layout=draw.pick(draw.layouts()))
        options = {key: row[key] for key in ("ksize", "stride", "pad", "dilate")}
        yield layer("F.im2col", x, cover_all=row["cover"], **options)
    for _ in range(UNEVEN[draw.quick]):
        options, found = _uneven(draw, ("ksize", "stride", "pad", "dilate"))
        if len(found) == 2:
            x = draw.array((options.pop("batch"), 2, *found), "integers", layout=draw.pick(draw.layouts()))
            del options["ndim"]
            yield layer("F.im2col", x, cover_all=draw.pick((False, True)), **options)


@operation("ops.convolve", needs=())
def _convolve(draw: Draw) -> Iterator[Sample]:
    for n in lengths(draw, 1100, 1):
        others = (1, 2, 9, 64) if n < 300 else (3, 65)
        for m in others:
            for first, second in ((n, m), (m, n)):
                a, v = (draw.array((k,), "integers", layout=draw.pick(draw.layouts())) for k in (first, second))
                yield layer("ops.convolve", a, v, mode=draw.pick(["full", "same", "valid"]))


WINDOWS = (
    _convolution("convolution_nd"),
    _convolution("deconvolution_nd"),
    _pooling("max_pooling_nd", 0.0),
    _pooling("average_pooling_nd", 16.0),
    _pooling("unpooling_nd", 0.0),
)
