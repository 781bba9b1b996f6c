"""Cases of pooling and of its inverse operations, with loops over windows as references."""

from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host, Shape, added, gathered, per_axis
from xpgrad_conformance.table.case import Input
from xpgrad_conformance.table.case import of_functions as case


def _largest(x: Host, ksize: Shape, stride: Any = None, pad: Any = 0, cover_all: bool = True) -> Host:
    columns = gathered(x, ksize, stride or ksize, pad, 1, cover_all, -np.inf)
    return columns.max(axis=tuple(range(2, x.ndim)))


def _mean(x: Host, ksize: Shape, stride: Any = None, pad: Any = 0, counted: bool = False) -> Host:
    columns = gathered(x, ksize, stride or ksize, pad)
    axes = tuple(range(2, x.ndim))
    if not counted:
        return columns.mean(axis=axes)
    return columns.sum(axis=axes) / gathered(np.ones(x.shape), ksize, stride or ksize, pad).sum(axis=axes)


def _filled(x: Host, ksize: Shape, size: Shape = (), stride: Any = None, pad: Any = 0) -> Host:
    stride = stride or ksize
    steps = zip(x.shape[2:], ksize, per_axis(stride, len(ksize)), strict=True)
    size = size or tuple(s * (n - 1) + k for n, k, s in steps)
    columns = np.empty((*x.shape[:2], *ksize, *x.shape[2:]), x.dtype)
    columns[...] = x[(slice(None), slice(None), *(None,) * len(ksize))]
    return added(columns, size, stride, pad)


def _placed(x: Host, indexes: Host) -> Host:
    columns = np.zeros((*x.shape[:2], 2, 3, *x.shape[2:]), x.dtype)
    for place in np.ndindex(*x.shape):
        row, column = divmod(int(indexes[place]), 3)
        columns[(*place[:2], row, column, *place[2:])] = x[place]
    return added(columns, (2 * x.shape[2], x.shape[3]), (2, 1), (0, 1))


def _located(x: Host, ksize: Shape = (3, 2), stride: Any = (2, 2), pad: Any = (1, 0)) -> tuple[Host, Host]:
    """Return maxima and their row-major places in the windows, with the first place for ties."""
    columns = gathered(x, ksize, stride, pad, 1, True, -np.inf)
    count = int(np.prod(ksize))
    flat = columns.reshape(*x.shape[:2], count, *columns.shape[x.ndim :])
    first = np.zeros(flat[:, :, 0].shape, int)
    for k in range(count - 1, -1, -1):
        first[flat[:, :, k] == flat.max(axis=2)] = k
    return flat.max(axis=2), first


def _pyramid(x: Host, height: int) -> Host:
    """Levels of maxima: parts of level i are large enough for 2**i parts, and the first parts may be smaller."""
    levels = []
    for parts in [2**level for level in range(height)]:
        rows, columns = ([max(0, i) for i in _starts(n, parts)] for n in x.shape[2:])
        ends = [[*i[1:], n] for i, n in ((rows, x.shape[2]), (columns, x.shape[3]))]
        level = [
            x[:, :, top:bottom, left:right].max(axis=(2, 3))
            for top, bottom in zip(rows, ends[0], strict=True)
            for left, right in zip(columns, ends[1], strict=True)
        ]
        levels.append(np.stack(level, 2).reshape(len(x), -1))
    return np.concatenate(levels, 1)[:, :, None, None]


def _starts(n: int, parts: int) -> list[int]:
    side = -(-n // parts)
    return [side * k - (side * parts - n) // 2 for k in range(parts)]


LINES, PICTURES, VOLUMES = ((2, 3, 7),), ((2, 2, 5, 4),), ((1, 2, 3, 4, 5),)
INDEXES = Input(kind="int", values=[[[[0, 5, 4, 1], [2, 3, 5, 0]], [[1, 1, 2, 4], [3, 0, 5, 2]]]])

MAXIMA = (
    case("max_pooling_1d", (2,), lambda x: _largest(x, (2,)), LINES, keeps=("x", "y")),
    case("max_pooling_2d", (2,), lambda x: _largest(x, (2, 2)), PICTURES, keeps=("x", "y")),
    case("max_pooling_2d-tiles", (2,), lambda x: _largest(x, (2, 2)), ((2, 2, 4, 6),)),
    case("max_pooling_3d", (2,), lambda x: _largest(x, (2, 2, 2)), VOLUMES),
    case("max_pooling_nd", ((2, 3), 1), lambda x: _largest(x, (2, 3), 1), PICTURES),
    case("max_pooling_2d-options", lambda F, x: F.max_pooling_2d(x, 3, stride=(2, 1), pad=(1, 1), cover_all=False),
         lambda x: _largest(x, (3, 3), (2, 1), 1, False), PICTURES),
    case("max_pooling_2d-indices",
         lambda F, x: (lambda y, i: (y, F.identity(i)))(*F.max_pooling_2d(x, (3, 2), 2, (1, 0), return_indices=True)),
         _located, PICTURES, dtype=(None, "int")),
    *(
        case(
            f"{name}-indices",
            lambda F, x, name=name: (lambda y, i: (y, F.identity(i)))(*getattr(F, name)(x, 2, 1, return_indices=True)),
            lambda x: _located(x, (2,) * (x.ndim - 2), 1, 0),
            images,
            dtype=(None, "int"),
        )
        for name, images in (("max_pooling_1d", LINES), ("max_pooling_3d", VOLUMES), ("max_pooling_nd", VOLUMES))
    ),
)  # fmt: skip

AVERAGES = (
    case("average_pooling_1d", (2,), lambda x: _mean(x, (2,)), LINES, complex=True),
    case("average_pooling_2d", (2,), lambda x: _mean(x, (2, 2)), PICTURES, complex=True),
    case("average_pooling_3d", (2, 1), lambda x: _mean(x, (2, 2, 2), 1), VOLUMES, complex=True),
    case("average_pooling_nd", (3, 2, 1), lambda x: _mean(x, (3, 3), 2, 1), PICTURES, complex=True),
    case(
        "average_pooling_2d-pad_value",
        lambda F, x: F.average_pooling_2d(x, 3, 2, 1, pad_value=None),
        lambda x: _mean(x, (3, 3), 2, 1, counted=True),
        PICTURES, complex=True),
)  # fmt: skip

UNPOOLINGS = (
    case("unpooling_1d", (2,), lambda x: _filled(x, (2,), (2 * x.shape[2] - 1,)), LINES, complex=True),
    case("unpooling_2d", lambda F, x: F.unpooling_2d(x, 2, cover_all=False), lambda x: _filled(x, (2, 2)),
         PICTURES, complex=True),
    case("unpooling_3d", lambda F, x: F.unpooling_3d(x, 2, 1, cover_all=False),
         lambda x: _filled(x, (2, 2, 2), stride=1), VOLUMES, complex=True),
    case(
        "unpooling_nd",
        lambda F, x: F.unpooling_nd(x, (3, 2), (2, 1), (1, 0), outsize=(9, 5)),
        lambda x: _filled(x, (3, 2), (9, 5), (2, 1), (1, 0)),
        PICTURES, complex=True),
    case(
        "upsampling_2d",
        lambda F, x, i: F.upsampling_2d(x, i, (2, 3), (2, 1), (0, 1), cover_all=False),
        _placed,
        ((1, 2, 2, 4), INDEXES), complex=True),
)  # fmt: skip

PYRAMIDS = (
    case("spatial_pyramid_pooling_2d", (3,), lambda x: _pyramid(x, 3), ((2, 2, 7, 9),)),
    case("spatial_pyramid_pooling_2d-max", (1, "max"), lambda x: x.max(axis=(2, 3), keepdims=True), PICTURES),
)

CASES = MAXIMA + AVERAGES + UNPOOLINGS + PYRAMIDS
