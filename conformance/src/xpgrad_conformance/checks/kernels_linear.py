"""Family K, complex numbers."""

import numpy as np

from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import agrees, same
from xpgrad_conformance.subject import Subject

CUTS = -1.3, 1.3j, -1.3j, -0.4 + 0.9j, -0.4 - 0.9j, 2.1 + 0.3j, 1e-3 - 2j


@check("K22", scope="dtype", dtypes=("complex128", "complex64"))
def complex_numbers(s: Subject) -> None:
    """Complex numbers: principal values on either side, conjugates, absolute values, products and quotients."""
    z = np.asarray(CUTS)
    for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "sinh", "square", "negative", "reciprocal", "expm1"):
        if s.has(name):
            same(s, name, z)
    for name in ("conj", "real", "imag", "abs"):
        same(s, name, z)
        same(s, name, np.asarray(1.3 - 0.7j))
    for name in ("add", "subtract", "multiply", "divide"):
        same(s, name, z, s.values((7,)))
        same(s, name, s.values((3, 1)), s.values((4,)))
    same(s, "equal", z, np.conj(z), dtype="bool")
    same(s, "sum", s.values((3, 4)), axis=0)
    same(s, "prod", s.values((3, 4)), axis=1)
    same(s, "mean", s.values((3, 4)), axis=1)
    agrees(s, "z ** 3", lambda xp, z: xp.pow(z, 3), lambda z: z**3, z)
    agrees(s, "z * (0.3 - 1.2j)", lambda xp, z: xp.multiply(z, 0.3 - 1.2j), lambda z: z * (0.3 - 1.2j), z)
