"""Cases of indexing: basic and advanced indices, gathers, and assignment as a function."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad.array_api.indexing import setitem
from xpgrad_conformance.table.case import Case, Input

_case = partial(Case, complex=True)
CUBE = ((2, 3, 4),)
ROWS = Input(kind="int", values=[2, 0, 2, 2])
MASK = Input(kind="bool", values=[[True, False, True, False], [False] * 4, [True, True, False, True]])

BASIC = (
    _case("getitem-int", lambda xp, x: xp.asarray(x)[1], lambda x: np.take(x, 1, 0), CUBE, ()),
    _case("getitem-element", lambda xp, x: xp.asarray(x)[1, -1, 2], lambda x: x.ravel()[22], CUBE, ()),
    _case("getitem-slices", lambda xp, x: xp.asarray(x)[:, 1:, ::2], lambda x: x.take([1, 2], 1).take([0, 2], 2), CUBE,
          ()),
    _case("getitem-backwards", lambda xp, x: xp.asarray(x)[::-1, ..., ::-2],
          lambda x: x.take([1, 0], 0).take([3, 1], 2), CUBE, ()),
    _case("getitem-beyond", lambda xp, x: xp.asarray(x)[-9:9, 2:9], lambda x: x.take([2], 1), CUBE, ()),
    _case("getitem-newaxis", lambda xp, x: xp.asarray(x)[None, 0, ..., None], lambda x: x[0].reshape(1, 3, 4, 1), CUBE,
          ()),
    _case("getitem-nothing", lambda xp, x: xp.asarray(x)[1:1], lambda x: x[:0], CUBE, ()),
    _case("getitem-0d", lambda xp, x: xp.asarray(x)[...] + xp.asarray(x)[()], lambda x: 2 * x, ((),)),
    _case("getitem-overlapping", lambda xp, x: xp.asarray(x)[:2] * xp.asarray(x)[1:] + xp.asarray(x)[1],
          lambda x: x.take([0, 1], 0) * x.take([1, 2], 0) + x.take([1], 0)),
)  # fmt: skip

ADVANCED = (
    _case("getitem-array", lambda xp, x, i: xp.asarray(x)[i], lambda x, i: x.take(i, 0), (Input(), ROWS)),
    _case("getitem-list", lambda xp, x: xp.asarray(x)[[0, 2, 0], :], lambda x: x.take([0, 2, 0], 0), keeps=()),
    _case("getitem-arrays", lambda xp, x: xp.asarray(x)[[0, 2, 0], [1, -1, 1]], lambda x: x.ravel().take([1, 11, 1]),
          keeps=()),
    _case("getitem-broadcast", lambda xp, x: xp.asarray(x)[[[0], [2]], [[1, 1, 3]]],
          lambda x: x.take([0, 2], 0).take([1, 1, 3], 1), keeps=()),
    _case("getitem-mixed", lambda xp, x: xp.asarray(x)[:, [2, 0, 2], 1:],
          lambda x: x.take([2, 0, 2], 1).take([1, 2, 3], 2), CUBE, ()),
    _case("getitem-apart", lambda xp, x: xp.asarray(x)[[0, 1, 1], :, [3, 0, 0]],
          lambda x: np.array([x[0, :, 3], x[1, :, 0], x[1, :, 0]]), CUBE, ()),
    _case("getitem-int-and-array", lambda xp, x: xp.asarray(x)[..., 1, [3, 3]], lambda x: x[:, 1].take([3, 3], 1), CUBE,
          ()),
    _case("getitem-mask", lambda xp, x, m: xp.asarray(x)[m], lambda x, m: x.ravel()[np.flatnonzero(m)], (Input(), MASK),
          needs=("data_dependent_shapes",)),
    Case("getitem-condition", lambda xp, x: xp.asarray(x)[xp.asarray(x) > 0], lambda x: np.extract(x > 0, x),
         needs=("data_dependent_shapes",)),
    _case("getitem-row-mask", lambda xp, x: xp.asarray(x)[1:, [True, False, True, False]],
          lambda x: x.take([1, 2], 0).take([0, 2], 1), keeps=(), needs=("data_dependent_shapes",)),
    _case("getitem-variable", lambda xp, x, i: xp.asarray(x)[xp.asarray(i)[1], :], lambda x, i: x.take(0, 0),
          (Input(), ROWS)),
)  # fmt: skip

GATHERS = (
    _case("take", {"axis": -2}, lambda x, i: np.eye(3)[i] @ x, (Input(), ROWS), ("indices",)),
    _case("take-flat", {}, lambda x, i: np.eye(5)[i] @ x, ((5,), ROWS), ("indices",)),
    _case("take_along_axis", {"axis": 1},
          lambda x, i: np.array([row[j] for row, j in zip(x, i, strict=True)]).reshape(i.shape),
          ((2, 4), Input(kind="int", values=[[0, 3, 0], [1, 1, 2]])), ("indices",)),
    _case("take_along_axis-first", {"axis": 0},
          lambda x, i: np.array([[x[i[j, k], k] for k in range(4)] for j in range(2)]),
          (Input(), Input(kind="int", values=[[0, 2, 0, 1], [1, 1, 2, 1]])), ("indices",)),
    Case("sort", {}, lambda x: np.partition(x, (0, 1, 2, 3)), keeps=("x",)),
    Case("sort-descending", {"axis": 0, "descending": True}, lambda x: -np.sort(-x, axis=0), CUBE, ("x",)),
)  # fmt: skip


def _with(x: Any, index: Any, u: Any) -> Any:
    y = np.array(x)
    y[index] = u
    return y


ASSIGNMENTS = (
    _case("setitem", lambda xp, x, u: setitem(x, u, (slice(1, None), ...)),
          lambda x, u: np.vstack([x[:1], *[u] * (len(x) - 1)]), (Input(), (4,)), ()),
    _case("setitem-element", lambda xp, x, u: setitem(x, u, (2, -1)), lambda x, u: _with(x, (2, 3), u), (Input(), ()),
          ()),
    _case("setitem-repeated", lambda xp, x, i, u: setitem(x, u, i.array if hasattr(i, "array") else i),
          lambda x, i, u: np.array([u[1], x[1], u[3]]), (Input(), ROWS, (4, 4))),
    _case("setitem-scalar", lambda xp, x: setitem(x, 0.5, (slice(None), 1)), lambda x: _with(x, np.s_[:, 1], 0.5),
          keeps=()),
)  # fmt: skip

CASES = BASIC + ADVANCED + GATHERS + ASSIGNMENTS
