"""Cases of `xpgrad.scipy.sparse.linalg`: derivatives with respect to matrix elements and right-hand sides."""

import numpy as np
import pytest
from tests.core.scipy.table import ScipyCase, complex_uniform, uniform

from xpgrad.scipy import sparse

ref = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

PATTERN = ref.random_array((6, 6), density=0.4, rng=np.random.default_rng(4), format="csr") + 4 * ref.eye_array(6)
PATTERN = PATTERN.tocsr()
INDICES, POINTERS, DATA = PATTERN.indices, PATTERN.indptr, PATTERN.data
LARGE = ref.diags_array([0.3 + 0.5 * np.arange(320.0) ** 0.5, np.full(319, 0.7)], offsets=[0, 1]).tocsr()
"""So large that eigenvalues are computed without the dense matrix."""
COMPLEX = DATA + 1j * uniform(len(DATA))


def matrix(data):
    return sparse.csr_array((data, INDICES, POINTERS), (6, 6))


def reference(data):
    return ref.csr_array((data, INDICES, POINTERS), (6, 6))


def of(name, function, expected, *inputs, **kwargs):
    return ScipyCase(f"sparse.linalg.{name}", function, expected, inputs, batched=False, **kwargs)


def iterative(name, symmetric):
    found, expected = getattr(sparse.linalg, name), getattr(linalg, name)

    def by_xpgrad(data, b):
        a = matrix(data)
        if symmetric:
            return found(sparse.linalg.LinearOperator((6, 6), lambda x: a.T @ (a @ x)), b, rtol=1e-13)[0]
        return found(a, b, rtol=1e-13)[0]

    def by_scipy(data, b):
        a = reference(data)
        return expected(a.T @ a if symmetric else a, b, rtol=1e-13)[0]

    return of(name, by_xpgrad, by_scipy, DATA, uniform(6), rtol=1e-7)


def large(lib, data):
    return lib.csr_array((data, LARGE.indices, LARGE.indptr), LARGE.shape)


def squares(w, v):
    """Return what does not depend on the signs of eigenvectors."""
    return v * v * w


CASES = [
    of(
        "eigsh:large",
        lambda d: squares(*sparse.linalg.eigsh(large(sparse, d) + large(sparse, d).T, 2)),
        lambda d: squares(*linalg.eigsh(large(ref, d) + large(ref, d).T, 2)),
        LARGE.data,
        rtol=1e-7,
    ),
    of(
        "eigsh:large,sigma",
        lambda d: sparse.linalg.eigsh(large(sparse, d) + large(sparse, d).T, 2, sigma=0.5)[0],
        lambda d: np.sort(linalg.eigsh(large(ref, d) + large(ref, d).T, 2, sigma=0.5)[0]),
        LARGE.data,
        rtol=1e-7,
    ),
    of(
        "svds:large",
        lambda d: squares(*sparse.linalg.svds(large(sparse, d), 2)[1::-1]),
        lambda d: squares(*linalg.svds(large(ref, d), 2)[1::-1]),
        LARGE.data,
        rtol=1e-7,
    ),
    of("matmul", lambda d, x: matrix(d) @ x, lambda d, x: reference(d) @ x, DATA, uniform(6, 2)),
    of("toarray", lambda d: matrix(d).toarray(), lambda d: reference(d).toarray(), DATA, orders=1),
    of(
        "spsolve",
        lambda d, b: sparse.linalg.spsolve(matrix(d), b),
        lambda d, b: linalg.spsolve(reference(d), b),
        DATA,
        uniform(6),
    ),
    of(
        "splu",
        lambda d, b: sparse.linalg.splu(matrix(d)).solve(b, "T"),
        lambda d, b: linalg.splu(reference(d).tocsc()).solve(b, "T"),
        DATA,
        uniform(6, 2),
    ),
    *(
        of(
            f"splu:complex,{trans}",
            lambda d, b, trans=trans: sparse.linalg.splu(matrix(d)).solve(b, trans),
            lambda d, b, trans=trans: linalg.splu(reference(d).tocsc()).solve(b, trans),
            COMPLEX,
            complex_uniform(6),
        )
        for trans in "NTH"
    ),
    iterative("cg", True),
    iterative("minres", True),
    iterative("gmres", False),
    of(
        "eigsh",
        lambda d: sparse.linalg.eigsh(matrix(d) @ matrix(d).T.toarray(), 3, return_eigenvectors=False),
        lambda d: np.sort(linalg.eigsh(reference(d) @ reference(d).T, 3, return_eigenvectors=False)),
        DATA,
        rtol=1e-7,
    ),
    of(
        "svds",
        lambda d: sparse.linalg.svds(matrix(d), 3, return_singular_vectors=False),
        lambda d: np.sort(linalg.svds(reference(d), 3, return_singular_vectors=False)),
        DATA,
        rtol=1e-7,
    ),
    of(
        "expm_multiply",
        lambda d, b: sparse.linalg.expm_multiply(matrix(d), b),
        lambda d, b: linalg.expm_multiply(reference(d), b),
        DATA,
        uniform(6),
    ),
    of(
        "expm_multiply:times",
        lambda d, b: sparse.linalg.expm_multiply(matrix(d), b, start=0.1, stop=0.5, num=3),
        lambda d, b: linalg.expm_multiply(reference(d), b, start=0.1, stop=0.5, num=3),
        DATA,
        uniform(6),
    ),
    of(
        "eigsh:sigma",
        lambda d: sparse.linalg.eigsh(matrix(d) + matrix(d).T, 2, sigma=8.0, return_eigenvectors=False),
        lambda d: np.sort(linalg.eigsh(reference(d) + reference(d).T, 2, sigma=8.0, return_eigenvectors=False)),
        DATA,
        rtol=1e-7,
    ),
    *(
        of(
            f"matmul:{name}",
            lambda d, f=f: f(matrix(d), d[0]),
            lambda d, f=f: f(reference(d), d[0]),
            DATA,
            libraries=name in ("product", "sums"),
        )
        for name, f in (
            ("sum", lambda a, d: (a.T - 2 * a / d) @ np.arange(6.0)),
            ("scipy", lambda a, d: (PATTERN + d * a) @ np.arange(6.0)),
            ("product", lambda a, d: (a @ (a.T @ PATTERN)).todense()),
            ("left", lambda a, d: np.arange(12.0).reshape(2, 6) @ a),
            (
                "sums",
                lambda a, d: (
                    a.sum() * a.sum(axis=0) + a.sum(axis=1) - a.diagonal() + a.diagonal(1).sum() - a.diagonal(-2).sum()
                ),
            ),
        )
    ),
    of("matmul:from a matrix", lambda x: sparse.coo_array(x) @ x, lambda x: ref.coo_array(x) @ x, uniform(3, 3)),
]
