"""Cases of choices between numbers; ties and kinks are in the tests of kinks."""

import numpy as np

from xpgrad.array_api.shared.primitives import gate
from xpgrad_conformance.table.case import Case, Input

TWO = (Input(), Input())
THREE = (Input(), Input(low=-1.5, high=-0.2), Input(low=0.2, high=1.5))
CHOICE = (Input(kind="bool"), Input(), Input())

CASES = (
    Case("maximum", {}, lambda a, b: (a + b + abs(a - b)) / 2, TWO, ("x1", "x2"), elementwise=True),
    Case("minimum", {}, lambda a, b: (a + b - abs(a - b)) / 2, TWO, ("x1", "x2"), elementwise=True),
    Case("gate", lambda xp, x, sign: gate(x, sign), lambda x, sign: np.where(sign > 0, x, 0),
         (Input(), Input(kind="int")), ("x2",), elementwise=True),
    Case("maximum-scalar", (0.1,), lambda x: np.where(x > 0.1, x, 0.1)),
    Case("minimum-scalar-first", lambda xp, x: xp.minimum(0, x), lambda x: np.where(x > 0, 0, x)),
    Case("clip", {}, lambda x, low, high: np.where(x < low, low, np.where(x > high, high, x)), THREE, elementwise=True),
    Case("clip-scalars", (-0.5, 1), lambda x: np.where(x < -0.5, -0.5, np.where(x > 1, 1, x))),
    Case("clip-min", lambda xp, x, low: xp.clip(x, min=low), lambda x, low: np.where(x < low, low, x), TWO),
    Case("clip-max", {"max": 0.3}, lambda x: np.where(x > 0.3, 0.3, x)),
    Case("clip-nothing", {}, lambda x: x + 0, keeps=(), complex=True),
    Case("where", {}, lambda c, a, b: a * c + b * ~c, CHOICE, ("condition",), elementwise=True, complex=True),
    Case("where-scalar", (0.5,), lambda c, x: x * c + 0.5 * ~c, CHOICE[:2], complex=True),
    Case("where-scalar-first", lambda xp, c, x: xp.where(c, 2, x), lambda c, x: 2 * c + x * ~c, CHOICE[:2],
         complex=True),
    Case("where-own", lambda xp, x: xp.where(x > 0, x, -x), abs),
)  # fmt: skip
