"""Cases of truth values and bits."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

BOOLS = (Input(kind="bool"), Input(kind="bool"))
INTS = (Input(low=-9, high=9, kind="int"), Input(low=-9, high=9, kind="int"))
SHIFT = (Input(low=-9, high=9, kind="int"), Input(low=0, high=5, kind="int"))
STRANGE = (Input(values=(1.5, np.inf, -np.inf, np.nan, -0.0)),)

LOGICAL = (
    Case("logical_and", {}, lambda a, b: a * b > 0, BOOLS, (), 0, elementwise=True),
    Case("logical_or", {}, lambda a, b: ~(~a & ~b), BOOLS, (), 0, elementwise=True),
    Case("logical_xor", {}, lambda a, b: a != b, BOOLS, (), 0, elementwise=True),
    Case("logical_not", {}, lambda x: x == 0, BOOLS[:1], (), 0, elementwise=True),
    Case("isfinite", {}, lambda x: abs(x) < np.inf, STRANGE, (), 0, dtype="bool", complex=True),
    Case("isinf", {}, lambda x: abs(x) == np.inf, STRANGE, (), 0, dtype="bool", complex=True),
    Case("isnan", {}, lambda x: x != x, STRANGE, (), 0, dtype="bool", complex=True),
    Case("isnan-shapes", {}, lambda x: x != x, order=0, elementwise=True, dtype="bool", complex=True),
)

BITWISE = (
    Case("bitwise_and", {}, lambda a, b: a - (a & ~b), INTS, (), 0, elementwise=True),
    Case("bitwise_or", {}, lambda a, b: ~(~a & ~b), INTS, (), 0, elementwise=True),
    Case("bitwise_xor", {}, lambda a, b: (a | b) - (a & b), INTS, (), 0, elementwise=True),
    Case("bitwise_invert", {}, lambda x: -x - 1, INTS[:1], (), 0, elementwise=True),
    Case("bitwise_left_shift", {}, lambda a, b: a * 2**b, SHIFT, (), 0, True),
    Case("bitwise_right_shift", {}, lambda a, b: a // 2**b, SHIFT, (), 0, True),
    Case("bitwise-bool", lambda xp, a, b: a & b | ~a ^ b, lambda a, b: (a * b) | ((1 - a) != b), BOOLS, order=0),
    Case("operator-shift-scalar", lambda xp, x: (x << 2) >> 1 | 1 & x, lambda x: (x * 2) | (x % 2), INTS[:1], order=0),
    Case("operator-invert", lambda xp, x: ~(x > 0), lambda x: ~(x > 0), order=0, dtype="bool"),
)

CASES = LOGICAL + BITWISE
