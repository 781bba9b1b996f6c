"""Cases of exponentials and logarithms."""

import numpy as np

from xpgrad_conformance.table.case import Case, Input

POSITIVE = (Input(low=0.3, high=3.0),)

CASES = (
    Case("exp", {}, lambda x: np.power(np.e, x), keeps=("y",), elementwise=True, complex=True),
    Case("expm1", {}, lambda x: np.exp(x) - 1, keeps=("x",), elementwise=True, complex=True),
    Case("log", {}, lambda x: 2 * np.log(np.sqrt(x)), POSITIVE, ("x",), elementwise=True, complex=True),
    Case("log1p", {}, lambda x: np.log(1 + x), (Input(low=-0.7, high=2.0),), ("x",), elementwise=True, complex=True),
    Case("log2", {}, lambda x: np.log(x) / np.log(2), POSITIVE, ("x",), elementwise=True, complex=True),
    Case("log10", {}, lambda x: np.log(x) / np.log(10), POSITIVE, ("x",), elementwise=True, complex=True),
    Case("logaddexp", {}, lambda a, b: np.log(np.exp(a) + np.exp(b)), (Input(), Input(low=-3.0, high=3.0)),
         ("x1", "x2"), elementwise=True),
    Case("logaddexp-scalar", (0.5,), lambda x: np.log(np.exp(x) + np.exp(0.5))),
)  # fmt: skip
