"""Cases of rounding."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

WIDE = (Input(low=-9.0, high=9.0),)
HALVES = (Input(values=(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0)),)

CASES = (
    Case("ceil", lambda xp, x: xp.ceil(x), lambda x: -np.floor(-x), WIDE, (), order=0, elementwise=True),
    Case("floor", lambda xp, x: xp.floor(x), lambda x: -np.ceil(-x), WIDE, (), order=0, elementwise=True),
    Case("trunc", lambda xp, x: xp.trunc(x), lambda x: np.sign(x) * np.floor(abs(x)), WIDE, (), 0, elementwise=True),
    Case("round", lambda xp, x: xp.round(x), lambda x: np.floor(x + 0.5), WIDE, (), order=0, elementwise=True),
    Case(
        "round-halves",
        lambda xp, x: xp.round(x),
        lambda x: 2 * np.rint(x / 2 - 0.01) + (x == 3),
        HALVES,
        (),
        order=0,
        complex=True,
    ),
    Case(
        "round-complex",
        lambda xp, x: xp.round(xp.add(x, 1.2j)),
        lambda x: np.floor(x + 0.5) + 1j,
        WIDE,
        order=0,
        dtype="complex",
    ),
    Case("floor-int", lambda xp, x: xp.floor(x), lambda x: x, (Input(low=-9, high=9, kind="int"),), (), order=0),
    Case(
        "nextafter",
        lambda xp, a, b: xp.nextafter(a, b),
        lambda a, b: a + 0 * b,
        (Input(), Input()),
        (),
        elementwise=True,
    ),
)
