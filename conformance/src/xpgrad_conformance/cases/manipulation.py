"""Cases of manipulation: shapes, orders, joining and repeating."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

_case = partial(Case, complex=True)
CUBE = ((2, 3, 4),)
PAIR = ((3, 4), (3, 2))
ALIKE = ((3, 4), (3, 4))


def _one_by_one(*xs: Any) -> list[list[Any]]:
    """Return for each array the list of all arrays, in which the other arrays are replaced by ones."""
    return [[x if i == j else np.ones_like(x) for j, x in enumerate(xs)] for i in range(len(xs))]


SHAPES = (
    _case("reshape", ((4, -1),), lambda x: x.ravel().reshape(4, 6), CUBE, ()),
    _case("reshape-copy", lambda xp, x: xp.reshape(x, (-1,), copy=True), lambda x: x.ravel(), keeps=()),
    _case("expand_dims", {"axis": -2}, lambda x: x[:, None, :], keeps=()),
    _case("squeeze", {"axis": (0, 2)}, lambda x: x[0, :, 0], ((1, 3, 1, 2),), ()),
    _case("broadcast_to", ((2, 3, 4),), lambda x: x + np.zeros((2, 3, 4)), ((3, 1),), ()),
    _case("broadcast_arrays", lambda xp, a, b: xp.multiply(*xp.broadcast_arrays(a, b)),
          lambda a, b: np.einsum("il,jkl->jil", a, b), ((3, 1), (2, 1, 4))),
)  # fmt: skip

ORDERS = (
    _case("permute_dims", ((2, 0, -2),), lambda x: np.einsum("ijk->kij", x), CUBE, ()),
    _case("moveaxis", (0, -1), lambda x: np.einsum("ijk->jki", x), CUBE),
    _case("moveaxis-two", ((0, 1), (2, 0)), lambda x: np.einsum("ijk->jki", x), CUBE),
    _case("flip", {}, lambda x: x[::-1, ::-1, ::-1], CUBE, ()),
    _case("flip-axis", {"axis": (0, -1)}, lambda x: x[::-1, :, ::-1], CUBE, ()),
    _case("roll", (5,), lambda x: x.ravel()[(np.arange(x.size) - 5) % x.size].reshape(x.shape), CUBE, ()),
    _case("roll-axes", lambda xp, x: xp.roll(x, (1, -1), axis=(0, 2)),
          lambda x: x[np.arange(-1, len(x) - 1)][:, :, np.arange(1 - x.shape[2], 1)], CUBE, ()),
    _case("roll-axes-together", lambda xp, x: xp.roll(x, 1, axis=(0, -1)),
          lambda x: x[np.arange(-1, len(x) - 1)][:, :, np.arange(-1, x.shape[2] - 1)], CUBE, ()),
    _case("T", lambda xp, x: xp.asarray(x).T, lambda x: np.einsum("ijk->kji", x), CUBE, ()),
)  # fmt: skip

JOINS = (
    _case("concat", lambda xp, a, b: xp.concat([a, b], axis=1), lambda a, b: np.hstack([a, b]), PAIR, ()),
    _case("concat-flat", lambda xp, a, b: xp.concat([a, b], axis=None), lambda a, b: np.r_[a.ravel(), b.ravel()], PAIR,
          ()),
    _case("concat-twice", lambda xp, a: xp.concat([a, a * a, a], axis=-1), lambda a: np.hstack([a, a * a, a])),
    _case("stack", lambda xp, a, b: xp.stack([a, b]), lambda a, b: np.array([a, b]), ALIKE, ()),
    _case("stack-last", lambda xp, a, b: xp.stack([a, b], axis=-1), lambda a, b: np.moveaxis(np.array([a, b]), 0, -1),
          ALIKE, ()),
    _case("unstack", {"axis": 1}, lambda x: tuple(np.moveaxis(x, 1, 0)), CUBE),
)  # fmt: skip

COPIES = (
    _case("repeat", (3,), lambda x: np.kron(x.ravel(), np.ones(3)), keeps=()),
    _case("repeat-axis", lambda xp, x: xp.repeat(x, 2, axis=-2), lambda x: np.kron(x, np.ones((2, 1))), keeps=()),
    _case("repeat-counts", {"axis": 1}, lambda x, n: np.hstack([x[:, [i] * n[i]] for i in range(n.size)]),
          (Input(), Input(kind="int", values=[1, 0, 3, 1])), needs=("data_dependent_shapes",)),
    _case("tile", ((2, 1, 3),), lambda x: np.kron(np.ones((2, 1, 3)), x[None])),
    _case("tile-few", ((2,),), lambda x: np.hstack([x, x])),
)  # fmt: skip

TRIANGLES = (
    _case("tril", {}, lambda x: x * (np.arange(x.shape[-1]) <= np.arange(x.shape[-2])[:, None]), CUBE, ()),
    _case("tril-up", {"k": 1}, lambda x: x * (np.arange(x.shape[-1]) <= np.arange(x.shape[-2])[:, None] + 1), keeps=()),
    _case("triu", {}, lambda x: x * (np.arange(x.shape[-1]) >= np.arange(x.shape[-2])[:, None]), CUBE, ()),
    _case(
        "triu-down", {"k": -1}, lambda x: x * (np.arange(x.shape[-1]) >= np.arange(x.shape[-2])[:, None] - 1), keeps=()
    ),
)

GRIDS = (
    _case("meshgrid", lambda xp, a, b, c: xp.stack(xp.meshgrid(a, b, c)),
          lambda a, b, c: np.array([np.einsum("i,j,k->jik", *each) for each in _one_by_one(a, b, c)]),
          ((2,), (3,), (4,))),
    _case("meshgrid-ij", lambda xp, a, b: xp.stack(xp.meshgrid(a, b, indexing="ij")),
          lambda a, b: np.array([np.einsum("i,j->ij", *each) for each in _one_by_one(a, b)]), ((2,), (3,))),
    _case("meshgrid-one", {}, lambda a: (np.ravel(a),), ((3,),)),
)  # fmt: skip

CASES = SHAPES + ORDERS + JOINS + COPIES + TRIANGLES + GRIDS
