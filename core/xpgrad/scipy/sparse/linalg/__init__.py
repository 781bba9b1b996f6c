"""`scipy.sparse.linalg` of Variables: solutions, eigenvalues and exponentials of sparse matrices.

SciPy computes on the host. Gradients exist with respect to matrix elements and right-hand sides; they are also
solutions of sparse systems.
"""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.sparse.linalg.direct import SuperLU, splu, spsolve
from xpgrad.scipy.sparse.linalg.iterative import LinearOperator, aslinearoperator, cg, gmres, minres
from xpgrad.scipy.sparse.linalg.spectra import eigsh, expm_multiply, svds

__all__ = [
    "LinearOperator", "SuperLU", "aslinearoperator", "cg", "eigsh", "expm_multiply", "gmres", "minres", "splu",
    "spsolve", "svds",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
