"""Cases of convolutions and their transposes, whose references are loops over windows."""

from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host, Shape, added, gathered, per_axis
from xpgrad_conformance.table.case import of_functions as case


def _convolved(x: Host, W: Host, b: Host = None, groups: int = 1, **options: Any) -> Host:
    ksize, ndim = W.shape[2:], W.ndim - 2
    y = []
    for x_part, W_part in zip(np.split(x, groups, 1), np.split(W, groups, 0), strict=True):
        columns = gathered(x_part, ksize, **options)
        y.append(np.einsum(columns, [0, 1, *range(3, 3 + 2 * ndim)], W_part, [2, 1, *range(3, 3 + ndim)],
                           [0, 2, *range(3 + ndim, 3 + 2 * ndim)]))  # fmt: skip
    whole = np.concatenate(y, 1)
    return whole if b is None else whole + b.reshape(-1, *(1,) * ndim)


def _transposed(x: Host, W: Host, b: Host = None, groups: int = 1, *, size: Shape = (), **options: Any) -> Host:
    ndim = W.ndim - 2
    size = size or _size(x.shape[2:], W.shape[2:], **options)
    y = []
    for x_part, W_part in zip(np.split(x, groups, 1), np.split(W, groups, 0), strict=True):
        columns = np.einsum(x_part, [0, 1, *range(3 + ndim, 3 + 2 * ndim)], W_part, [1, 2, *range(3, 3 + ndim)],
                            [0, 2, *range(3, 3 + 2 * ndim)])  # fmt: skip
        y.append(added(columns, size, **options))
    whole = np.concatenate(y, 1)
    return whole if b is None else whole + b.reshape(-1, *(1,) * ndim)


def _size(size: Shape, ksize: Shape, stride: Any = 1, pad: Any = 0, dilate: Any = 1) -> Shape:
    """Return how many elements windows cover."""
    steps = zip(size, ksize, *(per_axis(value, len(size)) for value in (stride, pad, dilate)), strict=True)
    return tuple(s * (n - 1) + d * (k - 1) + 1 - 2 * p for n, k, s, p, d in steps)


def _of_channels(x: Host, W: Host, b: Host) -> Host:
    """Depthwise convolution: channel by channel, filter by filter."""
    channels = [_convolved(x[:, c : c + 1], W[:, c : c + 1], stride=2, pad=1) for c in range(x.shape[1])]
    return np.concatenate(channels, 1) + b[:, None, None]


LINES = ((2, 3, 6), (2, 3, 3), (2,))
PICTURES = ((2, 2, 5, 4), (3, 2, 3, 2), (3,))
VOLUMES = ((1, 2, 3, 2, 4), (2, 2, 2, 1, 2), (2,))
GROUPED = ((2, 4, 5, 4), (6, 2, 3, 2), (6,))
SMALL = ((2, 3, 3, 2), (3, 2, 3, 2), (2,))

CONVOLUTIONS = (
    case("convolution_1d", {}, _convolved, LINES, complex=True),
    case("convolution_2d", {}, _convolved, PICTURES, complex=True, keeps=("x", "W")),
    case("convolution_3d", {}, _convolved, VOLUMES, complex=True),
    case("convolution_nd", {"pad": 1}, lambda x, W: _convolved(x, W, pad=1),
         VOLUMES[:2], keeps=("x", "W"), complex=True),
    case(
        "convolution_2d-options",
        {"stride": (2, 1), "pad": (1, 2), "dilate": (2, 1)},
        lambda x, W, b: _convolved(x, W, b, stride=(2, 1), pad=(1, 2), dilate=(2, 1)),
        PICTURES, complex=True),
    case(
        "convolution_2d-wide",  # whose windows are mostly outside, so that rows with padding are not worth it
        {"pad": (0, 5), "dilate": (1, 4)},
        lambda x, W: _convolved(x, W, pad=(0, 5), dilate=(1, 4)),
        PICTURES[:2], complex=True),
    case(
        "convolution_2d-cover_all",
        {"stride": 3, "pad": 1, "cover_all": True},
        lambda x, W, b: _convolved(x, W, b, stride=3, pad=1, cover_all=True),
        PICTURES, complex=True),
    case(
        "convolution_2d-groups",
        {"pad": 1, "groups": 2},
        lambda x, W, b: _convolved(x, W, b, groups=2, pad=1),
        GROUPED, complex=True),
    case("convolution_2d-pointwise", {}, _convolved, ((2, 3, 2, 4), (5, 3, 1, 1)), complex=True),
    case(
        "dilated_convolution_2d",
        (1, 1, 2),
        lambda x, W, b: _convolved(x, W, b, pad=1, dilate=2),
        PICTURES, complex=True),
    case(
        "depthwise_convolution_2d",
        (2, 1),
        _of_channels,
        ((2, 3, 5, 4), (2, 3, 3, 2), (6,)), complex=True),
)  # fmt: skip

DECONVOLUTIONS = (
    case("deconvolution_1d", {"stride": 2}, lambda x, W, b: _transposed(x, W, b, stride=2),
         ((2, 2, 6), (2, 3, 3), (3,)), complex=True),
    case("deconvolution_2d", {}, lambda x, W, b: _transposed(x, W, b), SMALL, complex=True, keeps=("x", "W")),
    case("deconvolution_3d", {"pad": (1, 0, 1)}, lambda x, W, b: _transposed(x, W, b, pad=(1, 0, 1)),
         ((1, 2, 3, 2, 4), (2, 2, 2, 1, 2), (2,)), complex=True),
    case("deconvolution_nd", {"stride": (2, 3), "pad": 1, "dilate": (1, 2)},
         lambda x, W: _transposed(x, W, stride=(2, 3), pad=1, dilate=(1, 2)), SMALL[:2], keeps=("x", "W"),
         complex=True),
    case("deconvolution_2d-outsize", {"stride": (2, 3), "pad": 1, "outsize": (6, 5)},
         lambda x, W, b: _transposed(x, W, b, size=(6, 5), stride=(2, 3), pad=1), SMALL, complex=True),
    case("deconvolution_2d-groups", {"stride": 2, "groups": 2},
         lambda x, W, b: _transposed(x, W, b, groups=2, stride=2), ((2, 4, 3, 2), (4, 3, 3, 2), (6,)), complex=True),
)  # fmt: skip

CASES = CONVOLUTIONS + DECONVOLUTIONS
