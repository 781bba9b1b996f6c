"""Cases of bilinear forms, local convolution and shifts, with sums and loops as references."""

from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host, gathered
from xpgrad_conformance.table.case import of_functions as case


def _bilinear(e1: Host, e2: Host, W: Host, V1: Host = 0.0, V2: Host = 0.0, b: Host = 0.0) -> Host:
    e1, e2 = e1.reshape(len(e1), -1), e2.reshape(len(e2), -1)
    form = np.einsum("ij,ik,jkl->il", e1, e2, W)
    return form if np.ndim(V1) == 0 else form + e1 @ V1 + e2 @ V2 + b


def _local(x: Host, W: Host, b: Host = 0.0, stride: Any = 1) -> Host:
    return np.einsum("nckmij,oijckm->noij", gathered(x, W.shape[4:], stride), W) + b


def _shifted(x: Host, moves: list[tuple[int, int]], size: int) -> Host:
    """Return groups of channels that are moved down and to the right; the last move is for the remaining channels."""
    y, (h, w) = np.zeros_like(x), x.shape[2:]
    for i, j, c in np.ndindex(h, w, x.shape[1]):
        down, right = moves[min(c // size, len(moves) - 1)]
        if 0 <= i - down < h and 0 <= j - right < w:
            y[:, c, i, j] = x[:, c, i - down, j - right]
    return y


NINE = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (1, 1), (0, 1), (1, -1), (1, 0), (0, 0)]

CASES = (
    case("bilinear", {}, _bilinear, ((4, 2), (4, 3), (2, 3, 5))),
    case("bilinear-linear", {}, _bilinear, ((3, 2, 2), (3, 2), (4, 2, 3), (4, 3), (2, 3), (3,))),
    case("local_convolution_2d", {}, _local, ((2, 2, 4, 3), (4, 3, 2, 2, 2, 2), (4, 3, 2)), complex=True),
    case("local_convolution_2d-stride", {"stride": (2, 1)}, lambda x, W: _local(x, W, stride=(2, 1)),
         ((2, 2, 5, 3), (3, 2, 2, 2, 3, 2)), complex=True),
    case("shift", {}, lambda x: _shifted(x, NINE, 1), ((1, 11, 3, 4),), complex=True),
    case("shift-options", ((1, 3), (1, -2)), lambda x: _shifted(x, [(0, 2), (0, -2), (0, 0)], 2), ((2, 6, 2, 5),),
         complex=True),
)  # fmt: skip
