"""Cases of windows on images, and the loops that the references of convolution and pooling are written with."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import of_functions as case

Host = Any  # a NumPy array
Shape = tuple[int, ...]


def per_axis(value: Any, ndim: int) -> Shape:
    """Return an option for each axis."""
    return tuple(value) if isinstance(value, tuple) else (value,) * ndim


def outsize(size: Shape, ksize: Shape, stride: Shape, pad: Shape, dilate: Shape, cover_all: bool) -> Shape:
    """Return how many windows there are, by trying."""
    found = []
    for n, k, s, p, d in zip(size, ksize, stride, pad, dilate, strict=True):
        starts = range(-p, n + p, s)
        last = [i for i in starts if i + d * (k - 1) < n + p]
        covered = bool(last) and last[-1] + d * (k - 1) == n + p - 1
        found.append(len(last) + (cover_all and not covered))
    return tuple(found)


def elements(
    ksize: Shape, out: Shape, stride: Shape, pad: Shape, dilate: Shape
) -> Iterator[tuple[Shape, Shape, Shape]]:
    """Yield each element k of each window j, with its place on the image, which may be outside."""
    for j in itertools.product(*map(range, out)):
        for k in itertools.product(*map(range, ksize)):
            rows = zip(j, k, stride, pad, dilate, strict=True)
            yield j, k, tuple(s * a + d * b - p for a, b, s, p, d in rows)


def gathered(
    x: Host, ksize: Shape, stride: Any = 1, pad: Any = 0, dilate: Any = 1, cover_all: bool = False, fill: float = 0.0
) -> Host:
    """Return the elements of windows, shape (N, C, *ksize, *out)."""
    size = x.shape[2:]
    stride, pad, dilate = (per_axis(value, len(size)) for value in (stride, pad, dilate))
    out = outsize(size, ksize, stride, pad, dilate, cover_all)
    y: Host = np.full((*x.shape[:2], *ksize, *out), fill, x.dtype)
    for j, k, place in elements(ksize, out, stride, pad, dilate):
        if all(0 <= i < n for i, n in zip(place, size, strict=True)):
            y[(slice(None), slice(None), *k, *j)] = x[(slice(None), slice(None), *place)]
    return y


def added(columns: Host, size: Shape, stride: Any = 1, pad: Any = 0, dilate: Any = 1) -> Host:
    """Return images of a size with every element of windows added in its place."""
    count = len(size)
    ksize, out = columns.shape[2 : 2 + count], columns.shape[2 + count :]
    stride, pad, dilate = (per_axis(value, count) for value in (stride, pad, dilate))
    y: Host = np.zeros((*columns.shape[:2], *size), columns.dtype)
    for j, k, place in elements(ksize, out, stride, pad, dilate):
        if all(0 <= i < n for i, n in zip(place, size, strict=True)):
            y[(slice(None), slice(None), *place)] += columns[(slice(None), slice(None), *k, *j)]
    return y


def _as_channels(x: Host, *args: Any) -> Host:
    y = gathered(x, *args)
    return y.reshape(x.shape[0], -1, *y.shape[4:])


PICTURES = ((2, 2, 5, 4),)

CASES = (
    case("im2col", (3,), lambda x: _as_channels(x, (3, 3)), PICTURES, complex=True),
    case("im2col-options", lambda F, x: F.im2col(x, (2, 3), stride=(2, 1), pad=(1, 2), dilate=(2, 1)),
         lambda x: _as_channels(x, (2, 3), (2, 1), (1, 2), (2, 1)), PICTURES, complex=True),
    case("im2col-cover_all", lambda F, x: F.im2col(x, 2, stride=3, pad=1, cover_all=True),
         lambda x: _as_channels(x, (2, 2), 3, 1, 1, True), PICTURES, complex=True),
)  # fmt: skip
