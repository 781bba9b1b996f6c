"""Cases of sizes, signs and roots."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

POSITIVE = (Input(low=0.3, high=2.0),)
NEGATIVE = (Input(low=-2.0, high=-0.3),)
TWO = Input(low=-2.0, high=-0.3), Input()

CASES = (
    Case("abs", {}, lambda x: np.sqrt((x * np.conj(x)).real), POSITIVE, ("x",), elementwise=True, complex=True,
         dtype="real"),
    Case("abs-negative", lambda xp, x: abs(x), lambda x: np.sqrt((x * np.conj(x)).real), NEGATIVE, complex=True,
         dtype="real"),
    Case("sign", {}, np.sign, keeps=(), order=0, elementwise=True),
    Case("sign-complex", lambda xp, x: xp.sign(xp.add(x, 0.5j)),
         lambda x: (x + 0.5j) / np.sqrt(((x + 0.5j) * np.conj(x + 0.5j)).real), POSITIVE, elementwise=True,
         complex=True, dtype="complex"),
    Case("signbit", {}, lambda x: x < 0, keeps=(), order=0, elementwise=True, dtype="bool"),
    Case("copysign", {}, lambda a, b: -a * np.sign(b), TWO, ("x1", "x2"), elementwise=True),
    Case("copysign-scalar", (-3.0,), lambda x: -x, POSITIVE, keeps=("x1", "x2")),
    Case("hypot", {}, lambda a, b: np.sqrt(a * a + b * b), TWO, ("x1", "x2", "y"), elementwise=True),
    Case("hypot-scalar", lambda xp, x: xp.hypot(2.0, x), lambda x: np.sqrt(4 + x * x)),
    Case("sqrt", {}, lambda x: np.exp(np.log(x) / 2), POSITIVE, ("y",), elementwise=True, complex=True),
    Case("reciprocal", {}, lambda x: 1 / x, POSITIVE, ("y",), elementwise=True, complex=True),
)  # fmt: skip
