"""Cases of copies and casts, and of the parts of complex numbers."""

import numpy as np

from xpgrad.array_api.shared.copying import copy
from xpgrad_conformance.table.case import Case

CASES = (
    Case("copy", lambda xp, x: copy(x), lambda x: x + 0, keeps=(), complex=True),
    Case("astype", lambda xp, x: xp.astype(xp.astype(x, xp.float64), x.dtype), lambda x: x + 0, keeps=(),
         needs=("float64",)),
    Case("astype-same", lambda xp, x: xp.astype(x, x.dtype), lambda x: x + 0, keeps=(), complex=True),
    Case("astype-int", lambda xp, x: xp.astype(x, xp.int32), np.trunc, keeps=(), order=0, dtype="int32"),
    Case("conj", {}, lambda x: x.real - 1j * x.imag, keeps=(), elementwise=True, complex=True),
    Case("real", {}, lambda x: ((x + np.conj(x)) / 2).real, keeps=(), elementwise=True, complex=True, dtype="real"),
    Case("imag", lambda xp, x: xp.imag(xp.multiply(x, 2 - 3j)), lambda x: 2 * x.imag - 3 * x.real, elementwise=True,
         complex=True, needs=("complex",), dtype="real"),
)  # fmt: skip
