"""Linear algebra: the standard's extension `linalg`, differentiable to any order.

Functions take stacks of matrices, in the last two axes. Where a matrix has to be Hermitian, the gradient is
Hermitian too. Factors that are determined up to a sign, a phase or a basis have the gradient of functions that do not
depend on that choice.
"""

from typing import TYPE_CHECKING

from xpgrad.array_api.linalg import cofactors as _cofactors  # noqa: F401 - declares kernels that rules call
from xpgrad.array_api.linalg import kernels as _kernels  # noqa: F401 - as above
from xpgrad.array_api.linalg.determinants import det, slogdet
from xpgrad.array_api.linalg.diagonals import diagonal, trace
from xpgrad.array_api.linalg.eigen import eig, eigh, eigvals, eigvalsh
from xpgrad.array_api.linalg.factorizations import cholesky, qr
from xpgrad.array_api.linalg.norms import matrix_norm, vector_norm
from xpgrad.array_api.linalg.products import cross, matrix_power, outer
from xpgrad.array_api.linalg.singular import matrix_rank, pinv, svd, svdvals
from xpgrad.array_api.linalg.solving import inv, solve
from xpgrad.array_api.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from xpgrad.listing import listed as _listed

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
