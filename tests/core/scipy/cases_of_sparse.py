"""Cases of `xpgrad.scipy.sparse.linalg`: derivatives with respect to matrix elements and right-hand sides."""

import numpy as np
import pytest
from tests.core.scipy.table import cases_of, complex_uniform, uniform

from xpgrad.scipy import sparse

ref = pytest.importorskip("scipy.sparse")
pytest.importorskip("scipy.sparse.linalg")
of = cases_of("sparse.linalg", sparse, ref, batched=False)

PATTERN = ref.random_array((6, 6), density=0.4, rng=np.random.default_rng(4), format="csr") + 4 * ref.eye_array(6)
PATTERN = PATTERN.tocsr()
DATA = PATTERN.data
LARGE = ref.diags_array([0.3 + 0.5 * np.arange(320.0) ** 0.5, np.full(319, 0.7)], offsets=[0, 1]).tocsr()
"""So large that eigenvalues are computed without the dense matrix."""
COMPLEX = DATA + 1j * uniform(len(DATA))
NUMBERS = np.arange(6.0)


def matrix(m, data, like=PATTERN):
    return m.csr_array((data, like.indices, like.indptr), like.shape)


def symmetric(m, data, like=PATTERN):
    a = matrix(m, data, like)
    return a + a.T


def iterative(name, a):
    """Return a case of a function of a matrix or an operator."""
    return of(
        name, DATA, uniform(6), rtol=1e-7, call=lambda m, d, b: getattr(m.linalg, name)(a(m, d), b, rtol=1e-13)[0]
    )


def square(m, data):
    a = matrix(m, data)
    return m.linalg.LinearOperator((6, 6), lambda x: a.T @ (a @ x), **({"dtype": float} if m is ref else {}))


def values(w):
    return np.sort(w) if isinstance(w, np.ndarray) else w


def squares(w, v):
    """Return what does not depend on the signs of eigenvectors."""
    return v * v * w


def sums(a):
    return a.sum() * a.sum(axis=0) + a.sum(axis=1) - a.diagonal() + a.diagonal(1).sum() - a.diagonal(-2).sum()


CASES = [
    of("eigsh:large", LARGE.data, rtol=1e-7, call=lambda m, d: squares(*m.linalg.eigsh(symmetric(m, d, LARGE), 2))),
    of("eigsh:large,sigma", LARGE.data, rtol=1e-7,
       call=lambda m, d: values(m.linalg.eigsh(symmetric(m, d, LARGE), 2, sigma=0.5)[0])),
    of("svds:large", LARGE.data, rtol=1e-7,
       call=lambda m, d: squares(*m.linalg.svds(matrix(m, d, LARGE), 2)[1::-1])),
    of("matmul", DATA, uniform(6, 2), call=lambda m, d, x: matrix(m, d) @ x),
    of("toarray", DATA, call=lambda m, d: matrix(m, d).toarray(), orders=1),
    of("spsolve", DATA, uniform(6), call=lambda m, d, b: m.linalg.spsolve(matrix(m, d), b)),
    of("splu", DATA, uniform(6, 2), call=lambda m, d, b: m.linalg.splu(matrix(m, d).tocsc()).solve(b, "T")),
    *(of(f"splu:complex,{t}", COMPLEX, complex_uniform(6),
         call=lambda m, d, b, t=t: m.linalg.splu(matrix(m, d).tocsc()).solve(b, t)) for t in "NTH"),
    iterative("cg", square),
    iterative("minres", square),
    iterative("gmres", matrix),
    of("eigsh", DATA, rtol=1e-7,
       call=lambda m, d: values(m.linalg.eigsh(matrix(m, d) @ matrix(m, d).T.toarray(), 3, return_eigenvectors=False))),
    of("svds", DATA, rtol=1e-7,
       call=lambda m, d: values(m.linalg.svds(matrix(m, d), 3, return_singular_vectors=False))),
    of("expm_multiply", DATA, uniform(6), call=lambda m, d, b: m.linalg.expm_multiply(matrix(m, d), b)),
    of("expm_multiply:times", DATA, uniform(6),
       call=lambda m, d, b: m.linalg.expm_multiply(matrix(m, d), b, start=0.1, stop=0.5, num=3)),
    of("eigsh:sigma", DATA, rtol=1e-7,
       call=lambda m, d: values(m.linalg.eigsh(symmetric(m, d), 2, sigma=8.0, return_eigenvectors=False))),
    of("matmul:sum", DATA, call=lambda m, d: (matrix(m, d).T - 2 * matrix(m, d) / d[0]) @ NUMBERS, libraries=False),
    of("matmul:scipy", DATA, call=lambda m, d: (PATTERN + d[0] * matrix(m, d)) @ NUMBERS, libraries=False),
    of("matmul:product", DATA, call=lambda m, d: (matrix(m, d) @ (matrix(m, d).T @ PATTERN)).todense()),
    of("matmul:left", DATA, call=lambda m, d: np.arange(12.0).reshape(2, 6) @ matrix(m, d), libraries=False),
    of("matmul:sums", DATA, call=lambda m, d: sums(matrix(m, d))),
    of("matmul:from a matrix", uniform(3, 3), call=lambda m, x: m.coo_array(x) @ x),
]  # fmt: skip
