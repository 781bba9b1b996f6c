"""Cases of `xpgrad.scipy.linalg`."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, complex_uniform, definite, of_both, uniform

from xpgrad.scipy import linalg

ref = pytest.importorskip("scipy.linalg")
both = of_both(linalg, ref)

A = uniform(4, 4) + 3 * np.eye(4)
C = complex_uniform(4, 4) + 4 * np.eye(4)
B = uniform(4, 2)
SMALL = uniform(2, 2) + 2 * np.eye(2)
TOEPLITZ = np.asarray([4.0, 1.0, 0.5, 0.2])


def lu_of(a):
    p, lower, upper = ref.lu(a)
    return p, lower, upper


CASES = [
    ScipyCase("linalg.solve_triangular", linalg.solve_triangular, ref.solve_triangular, (A, B)),
    ScipyCase(
        "linalg.solve_triangular:lower,adjoint,unit",
        lambda a, b: linalg.solve_triangular(a, b, "C", True, True),
        lambda a, b: ref.solve_triangular(a, b, trans="C", lower=True, unit_diagonal=True),
        (C, complex_uniform(4)),
    ),
    ScipyCase(
        "linalg.cho_solve",
        lambda m, b: linalg.cho_solve(linalg.cho_factor((m + m.mT) / 2), b),
        lambda m, b: ref.cho_solve(ref.cho_factor(m), b),
        (definite(4), B),
    ),
    both(
        "linalg.cho_solve:stack",
        lambda m, a, b: m.cho_solve(m.cho_factor(a @ a.mT), b),
        (np.stack([A, A[::-1]]), B[:, 0]),
        libraries=False,
    ),
    *(
        ScipyCase(
            f"linalg.cho_factor:triangle,{lower}",
            lambda m, lower=lower: linalg.cho_factor(m, lower)[0],
            lambda m, half=half, lower=lower: half(ref.cho_factor(m, lower)[0]),
            (A @ A.T + half(C.imag),),
        )
        for half, lower in ((np.triu, False), (np.tril, True))
    ),
    ScipyCase("linalg.lu", linalg.lu, lu_of, (A[[2, 0, 3, 1]],)),
    ScipyCase("linalg.lu:tall", linalg.lu, lu_of, (uniform(5, 3),)),
    ScipyCase("linalg.lu:wide,complex", linalg.lu, lu_of, (complex_uniform(3, 5),)),
    both("linalg.lu:permute_l", lambda m, a: m.lu(a, permute_l=True), (A,)),
    both("linalg.lu_factor", lambda m, a: m.lu_factor(a)[0], (uniform(4, 4),)),
    both("linalg.lu_solve", lambda m, a, b: m.lu_solve(m.lu_factor(a), b), (A[[2, 0, 3, 1]], B)),
    both(
        "linalg.lu_solve:adjoint",
        lambda m, a, b: m.lu_solve(m.lu_factor(a), b, 2),
        (C[[2, 0, 3, 1]], complex_uniform(4)),
    ),
    both(
        "linalg.solve_banded",
        lambda m, ab, b: m.solve_banded((2, 1), ab, b),
        (uniform(4, 5) + 4 * np.eye(4)[1][:, None], uniform(5, 2)),
    ),
    both(
        "linalg.solve_banded:complex",
        lambda m, ab, b: m.solve_banded((1, 1), ab, b),
        (complex_uniform(3, 4) + 4 * np.eye(3)[1][:, None], complex_uniform(4)),
    ),
    ScipyCase(
        "linalg.solveh_banded",
        linalg.solveh_banded,
        ref.solveh_banded,
        (uniform(3, 5) + 6 * np.eye(3)[2][:, None], uniform(5)),
    ),
    both(
        "linalg.solveh_banded:lower",
        lambda m, ab, b: m.solveh_banded(ab, b, lower=True),
        (uniform(3, 5) + 6 * np.eye(3)[0][:, None], uniform(5)),
    ),
    ScipyCase("linalg.solve_toeplitz", linalg.solve_toeplitz, ref.solve_toeplitz, (TOEPLITZ, B)),
    both(
        "linalg.solve_toeplitz:row",
        lambda m, c, r, b: m.solve_toeplitz((c, r), b),
        (TOEPLITZ, TOEPLITZ + uniform(4), uniform(4)),
    ),
    ScipyCase("linalg.expm", linalg.expm, ref.expm, (uniform(4, 4),)),
    ScipyCase("linalg.expm:large", linalg.expm, ref.expm, (6 * uniform(3, 3),)),
    ScipyCase("linalg.expm:complex", linalg.expm, ref.expm, (complex_uniform(3, 3),)),
    ScipyCase("linalg.logm", linalg.logm, ref.logm, (A,)),
    ScipyCase("linalg.logm:complex", linalg.logm, ref.logm, (C,)),
    ScipyCase("linalg.sqrtm", linalg.sqrtm, ref.sqrtm, (A,)),
    ScipyCase("linalg.sqrtm:complex", linalg.sqrtm, ref.sqrtm, (C,)),
    both("linalg.fractional_matrix_power", lambda m, a: m.fractional_matrix_power(a, 0.3), (A,)),
    ScipyCase(
        "linalg.fractional_matrix_power:exponent",
        linalg.fractional_matrix_power,
        lambda a, t: ref.fractional_matrix_power(a, float(t)),
        (A, np.asarray(0.3)),
    ),
    ScipyCase("linalg.polar", linalg.polar, ref.polar, (uniform(4, 3),)),
    both("linalg.polar:left", lambda m, a: m.polar(a, "left"), (C,)),
    ScipyCase("linalg.solve_sylvester", linalg.solve_sylvester, ref.solve_sylvester, (A, SMALL, B)),
    ScipyCase(
        "linalg.solve_sylvester:complex",
        linalg.solve_sylvester,
        lambda a, b, q: ref.solve_sylvester(a, b + 0j, q),  # SciPy is wrong for a real matrix beside a complex one
        (C, SMALL, complex_uniform(4, 2)),
    ),
    ScipyCase(
        "linalg.solve_continuous_lyapunov",
        linalg.solve_continuous_lyapunov,
        ref.solve_continuous_lyapunov,
        (A, uniform(4, 4)),
    ),
    ScipyCase(
        "linalg.solve_discrete_lyapunov",
        linalg.solve_discrete_lyapunov,
        ref.solve_discrete_lyapunov,
        (0.3 * C, complex_uniform(4, 4)),
    ),
    both(
        "linalg.solve_discrete_lyapunov:bilinear",
        lambda m, a, q: m.solve_discrete_lyapunov(a, q, "bilinear"),
        (0.3 * A, uniform(4, 4)),
    ),
    ScipyCase(
        "linalg.solve_continuous_are",
        lambda a, b, q, r: linalg.solve_continuous_are(a, b, (q + q.mT) / 2, (r + r.mT) / 2),
        ref.solve_continuous_are,
        (A, B, definite(4), definite(2)),
    ),
    both(
        "linalg.solve_continuous_are:general",
        lambda m, a, b, e, s: m.solve_continuous_are(a, b, 4 * np.eye(3), np.eye(2), e, s),
        (A[:3, :3], uniform(3, 2), uniform(3, 3) + 3 * np.eye(3), 0.1 * uniform(3, 2)),
        libraries=False,
    ),
    ScipyCase("linalg.block_diag", linalg.block_diag, ref.block_diag, (A, B, uniform(3), np.asarray(2.0))),
    ScipyCase("linalg.khatri_rao", linalg.khatri_rao, ref.khatri_rao, (uniform(3, 2), complex_uniform(4, 2))),
    ScipyCase(
        "linalg.null_space",
        lambda a: linalg.null_space(a) @ linalg.null_space(a).mT,
        lambda a: ref.null_space(a) @ ref.null_space(a).T,
        (uniform(3, 5),),
        batched=False,
    ),
    *(
        ScipyCase(
            f"linalg.{name}:real with complex values",  # an eigenvalue is negative
            getattr(linalg, name),
            getattr(ref, name),
            (np.asarray([[-1.0, 0.3], [0.1, 2.0]]),),
            batched=False,
            libraries=False,
        )
        for name in ("logm", "sqrtm")
    ),
    ScipyCase("linalg.sqrtm:close eigenvalues", linalg.sqrtm, ref.sqrtm, (np.asarray([[2.0, 1.0], [0.1, 2.0]]),)),
    ScipyCase("linalg.block_diag:stacks", linalg.block_diag, ref.block_diag, (uniform(2, 3, 2), uniform(2, 1, 1))),
]
