"""Cases of `xpgrad.scipy.linalg`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, cases_of, complex_uniform, definite, uniform

from xpgrad.scipy import linalg

ref = pytest.importorskip("scipy.linalg")
of = cases_of("linalg", linalg, ref)

A = uniform(4, 4) + 3 * np.eye(4)
C = complex_uniform(4, 4) + 4 * np.eye(4)
B = uniform(4, 2)
SMALL = uniform(2, 2) + 2 * np.eye(2)
TOEPLITZ = np.asarray([4.0, 1.0, 0.5, 0.2])
ORDER = [2, 0, 3, 1]

CASES = [
    of("solve_triangular", A, B),
    of("solve_triangular:lower,adjoint,unit", C, complex_uniform(4), trans="C", lower=True, unit_diagonal=True),
    of("cho_solve", definite(4), B, call=lambda m, a, b: m.cho_solve(m.cho_factor((a + a.mT) / 2), b)),
    of("cho_solve:stack", np.stack([A, A[::-1]]), B[:, 0], call=lambda m, a, b: m.cho_solve(m.cho_factor(a @ a.mT), b),
       libraries=False),
    *(
        ScipyCase(
            f"linalg.cho_factor:triangle,{lower}",
            lambda m, lower=lower: linalg.cho_factor(m, lower)[0],
            lambda m, half=half, lower=lower: half(ref.cho_factor(m, lower)[0]),
            (A @ A.T + half(C.imag),),
        )
        for half, lower in ((np.triu, False), (np.tril, True))
    ),
    of("lu", A[ORDER]),
    of("lu:tall", uniform(5, 3)),
    of("lu:wide,complex", complex_uniform(3, 5)),
    of("lu:permute_l", A, permute_l=True),
    of("lu_factor", uniform(4, 4), call=lambda m, a: m.lu_factor(a)[0]),
    of("lu_solve", A[ORDER], B, call=lambda m, a, b: m.lu_solve(m.lu_factor(a), b)),
    of("lu_solve:adjoint", C[ORDER], complex_uniform(4), call=lambda m, a, b: m.lu_solve(m.lu_factor(a), b, 2)),
    of("solve_banded", uniform(4, 5) + 4 * np.eye(4)[1][:, None], uniform(5, 2),
       call=lambda m, ab, b: m.solve_banded((2, 1), ab, b)),
    of("solve_banded:complex", complex_uniform(3, 4) + 4 * np.eye(3)[1][:, None], complex_uniform(4),
       call=lambda m, ab, b: m.solve_banded((1, 1), ab, b)),
    of("solveh_banded", uniform(3, 5) + 6 * np.eye(3)[2][:, None], uniform(5)),
    of("solveh_banded:lower", uniform(3, 5) + 6 * np.eye(3)[0][:, None], uniform(5), lower=True),
    of("solve_toeplitz", TOEPLITZ, B),
    of("solve_toeplitz:row", TOEPLITZ, TOEPLITZ + uniform(4), uniform(4),
       call=lambda m, c, r, b: m.solve_toeplitz((c, r), b)),
    of("expm", uniform(4, 4)),
    of("expm:large", 6 * uniform(3, 3)),
    of("expm:complex", complex_uniform(3, 3)),
    of("logm", A),
    of("logm:complex", C),
    of("sqrtm", A),
    of("sqrtm:complex", C),
    of("sqrtm:close eigenvalues", np.asarray([[2.0, 1.0], [0.1, 2.0]])),
    *(of(f"{name}:real with complex values", np.asarray([[-1.0, 0.3], [0.1, 2.0]]), batched=False, libraries=False)
      for name in ("logm", "sqrtm")),  # an eigenvalue is negative
    of("fractional_matrix_power", A, args=(0.3,)),
    of("fractional_matrix_power:exponent", A, np.asarray(0.3)),
    of("polar", uniform(4, 3)),
    of("polar:left", C, side="left"),
    of("solve_sylvester", A, SMALL, B),
    ScipyCase(
        "linalg.solve_sylvester:complex",
        linalg.solve_sylvester,
        lambda a, b, q: ref.solve_sylvester(a, b + 0j, q),  # SciPy is wrong for a real matrix beside a complex one
        (C, SMALL, complex_uniform(4, 2)),
    ),
    of("solve_continuous_lyapunov", A, uniform(4, 4)),
    of("solve_discrete_lyapunov", 0.3 * C, complex_uniform(4, 4)),
    of("solve_discrete_lyapunov:bilinear", 0.3 * A, uniform(4, 4), method="bilinear"),
    of("solve_continuous_are", A, B, definite(4), definite(2),
       call=lambda m, a, b, q, r: m.solve_continuous_are(a, b, (q + q.mT) / 2, (r + r.mT) / 2)),
    of("solve_continuous_are:general", A[:3, :3], uniform(3, 2), uniform(3, 3) + 3 * np.eye(3), 0.1 * uniform(3, 2),
       call=lambda m, a, b, e, s: m.solve_continuous_are(a, b, 4 * np.eye(3), np.eye(2), e, s), libraries=False),
    of("solve_discrete_are", A, B, definite(4), definite(2),
       call=lambda m, a, b, q, r: m.solve_discrete_are(a, b, (q + q.mT) / 2, (r + r.mT) / 2)),
    of("solve_discrete_are:general", A[:3, :3], uniform(3, 2), uniform(3, 3) + 3 * np.eye(3), 0.1 * uniform(3, 2),
       call=lambda m, a, b, e, s: m.solve_discrete_are(a, b, 4 * np.eye(3), np.eye(2), e, s), libraries=False),
    of("block_diag", A, B, uniform(3), np.asarray(2.0)),
    of("block_diag:stacks", uniform(2, 3, 2), uniform(2, 1, 1)),
    of("khatri_rao", uniform(3, 2), complex_uniform(4, 2)),
    of("null_space", uniform(3, 5), call=lambda m, a: m.null_space(a) @ m.null_space(a).mT, batched=False),
]  # fmt: skip
