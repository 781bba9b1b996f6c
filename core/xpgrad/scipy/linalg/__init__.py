"""`scipy.linalg` of Variables: triangular, banded and structured systems, matrix functions and matrix equations.

Functions take stacks of matrices, in the last two axes, of any library, and have derivatives of any order. If
installed, SciPy computes with NumPy's arrays; other arrays are computed by functions of the standard.
"""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.linalg.banded import solve_banded, solve_toeplitz, solveh_banded
from xpgrad.scipy.linalg.equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_sylvester,
)
from xpgrad.scipy.linalg.matrix_functions import expm, fractional_matrix_power, logm, sqrtm
from xpgrad.scipy.linalg.structured import block_diag, khatri_rao, null_space, polar
from xpgrad.scipy.linalg.triangular import cho_factor, cho_solve, lu, lu_factor, lu_solve, solve_triangular

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "expm", "fractional_matrix_power", "khatri_rao", "logm", "lu", "lu_factor",
    "lu_solve", "null_space", "polar", "solve_banded", "solve_continuous_are", "solve_continuous_lyapunov",
    "solve_discrete_are", "solve_discrete_lyapunov", "solve_sylvester", "solve_toeplitz", "solve_triangular",
    "solveh_banded", "sqrtm",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
