"""Cases of elementwise arithmetic."""

import numpy as np

from xpgrad.testing.case import Case, Input

TWO = (Input(), Input(low=0.3, high=2.0))

CASES = (
    Case("add", lambda xp, a, b: xp.add(a, b), lambda a, b: a + b, TWO, keeps=(), elementwise=True, complex=True),
    Case("multiply", lambda xp, a, b: xp.multiply(a, b), lambda a, b: a * b, TWO, keeps=("x1", "x2"), elementwise=True, complex=True),
    Case("square", lambda xp, x: xp.square(x), lambda x: x * x, keeps=("x",), elementwise=True, complex=True),
    Case("floor_divide", lambda xp, a, b: xp.floor_divide(a, b), np.floor_divide, TWO, keeps=(), order=0, elementwise=True),
)
