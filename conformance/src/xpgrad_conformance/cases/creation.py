"""Cases of creation functions with Variables as arguments, which have gradients."""

from functools import partial

import numpy as np

from xpgrad_conformance.table.case import Case, Input

_case = partial(Case, complex=True)
POINT = ((),)

CASES = (
    _case("asarray-nested", lambda xp, x: xp.asarray([[x, 1], (2.0, x * x)]), lambda x: np.array([[x, 1], [2, x * x]]),
          POINT),
    _case("asarray-rows", lambda xp, x, y: xp.asarray([x, y]), lambda x, y: np.stack([x, y]), (Input(), Input())),
    _case("full", lambda xp, x: xp.full((2, 3), x), lambda x: x * np.ones((2, 3)), POINT),
    _case("full_like", {}, lambda x, v: v + 0 * x, (Input(), ()), order=3),
    _case("linspace", (5,), lambda a, b: a + (b - a) * np.arange(5) / 4, ((), ())),
    _case("linspace-open", lambda xp, b: xp.linspace(1, b, 4, endpoint=False), lambda b: 1 + (b - 1) * np.arange(4) / 4,
          POINT),
)  # fmt: skip
