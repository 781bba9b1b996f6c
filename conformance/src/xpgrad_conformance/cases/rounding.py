"""Cases of rounding."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

WIDE = (Input(low=-9.0, high=9.0),)
HALVES = (Input(values=(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0)),)

CASES = (
    Case("ceil", {}, lambda x: -np.floor(-x), WIDE, (), order=0, elementwise=True),
    Case("floor", {}, lambda x: -np.ceil(-x), WIDE, (), order=0, elementwise=True),
    Case("trunc", {}, lambda x: np.sign(x) * np.floor(abs(x)), WIDE, (), 0, elementwise=True),
    Case("round", {}, lambda x: np.floor(x + 0.5), WIDE, (), order=0, elementwise=True),
    Case("round-halves", {}, lambda x: 2 * np.rint(x / 2 - 0.01) + (x == 3), HALVES, (), order=0, complex=True),
    Case("round-complex", lambda xp, x: xp.round(xp.add(x, 1.2j)), lambda x: np.floor(x + 0.5) + 1j, WIDE, order=0,
         dtype="complex"),
    Case("floor-int", {}, lambda x: x, (Input(low=-9, high=9, kind="int"),), (), order=0),
    Case("nextafter", {}, lambda a, b: a + 0 * b, (Input(), Input()), (), elementwise=True),
)  # fmt: skip
