"""Cases without gradients (searching, counting, sorting order, tests over axes), and cases of differences."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

MASK = (Input(kind="bool"),)
SMALL = (Input(kind="int", low=0, high=1),)

SEARCHES = (
    Case("argmax", {}, lambda x: np.argsort(x.ravel())[-1], order=0, dtype="int"),
    Case("argmin", {"axis": 1, "keepdims": True}, lambda x: np.argsort(x, 1)[:, :1], order=0, dtype="int"),
    Case("argsort", {"axis": 0}, lambda x: np.argsort(x, 0), order=0, dtype="int"),
    Case("argsort-descending", {"descending": True}, lambda x: np.argsort(-x), order=0, dtype="int"),
    Case("count_nonzero", {"axis": 0}, lambda x: (x != 0).sum(0), SMALL, order=0, dtype="int"),
    Case("nonzero", {}, lambda x: tuple(np.argwhere(x).T), SMALL, order=0, needs=("data_dependent_shapes",),
         dtype=("int", "int")),
    Case("searchsorted", {"side": "right"}, lambda a, b: (a[:, None] <= b).sum(0),
         (Input(values=[-1.0, 0.25, 0.5, 1.5]), Input(values=[0.5, -3.0, 7.0])), order=0, dtype="int"),
)  # fmt: skip

TESTS = (
    Case("all", {"axis": (0, 1)}, lambda x: x.ravel().all(), MASK, order=0),
    Case("all-axis", {"axis": 0, "keepdims": True}, lambda x: x.min(0, keepdims=True), MASK, order=0),
    Case("any", {}, lambda x: x.ravel().any(), MASK, order=0),
    Case("any-axis", {"axis": 1}, lambda x: x.max(1), MASK, order=0),
)

DIFFERENCES = (
    Case("diff", {}, lambda x: x[:, 1:] - x[:, :-1], complex=True),
    Case("diff-none", lambda xp, x, a: xp.diff(x, n=0, append=a), lambda x, a: x + 0 * a, (Input(), (1, 4))),
    Case("diff-twice", lambda xp, x, a: xp.diff(x, axis=0, n=2, prepend=a),
         lambda x, a: np.diff(np.vstack([a, x]), n=2, axis=0), (Input(), (1, 4)), complex=True),
)  # fmt: skip

CASES = SEARCHES + TESTS + DIFFERENCES
