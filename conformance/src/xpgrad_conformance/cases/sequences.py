"""Cases of `xpgrad.functions`: sequences of several lengths, and blocks of pixels."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Input, of_functions

_f = partial(of_functions, order=2)
ORDER = Input((4,), kind="int", values=[2, 0, 3, 1])
ROWS = Input((3,), kind="int", values=[1, 3, 1])
LINES = ((3, 2), (2, 2), (1, 2))
BLOCKS = ((2, 3, 4, 6),)
CHANNELS = ((2, 12, 2, 3),)


def _blocks(x: Any) -> Any:
    pixels = [x[:, :, i::2, j::2] for i in range(2) for j in range(2)]
    return np.concatenate(pixels, axis=1)


def _images(x: Any) -> Any:
    n, c, h, w = x.shape
    y = np.empty((n, c // 4, 2 * h, 2 * w), x.dtype)
    for k in range(4):
        y[:, :, k // 2 :: 2, k % 2 :: 2] = x[:, c // 4 * k : c // 4 * (k + 1)]
    return y


def _padded(*xs: Any, length: int = 0, padding: float = 0.0) -> Any:
    length = length or max(map(len, xs))
    return np.stack([np.pad(x, ((0, length - len(x)), (0, 0)), constant_values=padding) for x in xs])


CASES = (
    _f("pad", (((1, 0), (0, 2)), "edge"), lambda x: np.pad(x, ((1, 0), (0, 2)), "edge"), complex=True),
    _f("pad-constant", lambda F, x: F.pad(x, 1, "constant", constant_values=1.5),
       lambda x: np.pad(x, 1, constant_values=1.5), complex=True),
    _f("pad_sequence", lambda F, *xs: F.pad_sequence(xs), _padded, LINES, complex=True),
    _f("pad_sequence-length", lambda F, *xs: F.pad_sequence(xs, 4, 0.5),
       lambda *xs: _padded(*xs, length=4, padding=0.5), LINES, complex=True),
    _f("permutate", {"axis": 1}, lambda x, i: x[:, i], (Input(), ORDER), complex=True),
    _f("permutate-inv", {"axis": -1, "inv": True}, lambda x, i: x @ np.eye(x.shape[1])[i], (Input(), ORDER),
       complex=True),
    _f("scatter_add", lambda F, a, b, i: F.scatter_add(a, i, b), lambda a, b, i: a + np.eye(len(a))[i].T @ b,
       ((4, 2), (3, 2), ROWS), complex=True),
    _f(
        "transpose_sequence",
        lambda F, *xs: F.concat(F.transpose_sequence(xs), axis=0),  # not every step depends on every sequence
        lambda a, b, c: np.stack((a[0], b[0], c[0], a[1], b[1], a[2])),
        LINES,
        complex=True,
    ),
    _f("space2depth", (2,), _blocks, BLOCKS),
    _f("depth2space", (2,), _images, CHANNELS),
)  # fmt: skip
