"""Eigenvalues, singular values, and products with exponentials."""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import inexact
from xpgrad.scipy.sparse.matrices import SparseArray, as_sparse
from xpgrad.types import AnyArray

ORDER = 18
"""Terms of the series of an exponential in each step, for matrices with a 1-norm up to 1."""


def _dense(A: Any, name: str) -> Variable:
    return as_variable(A) if isinstance(A, Variable) else as_sparse(A, name).toarray()


def eigsh(A: Any, k: int = 6, *, which: str = "LM", return_eigenvectors: bool = True) -> Any:
    """Return `k` eigenvalues of a Hermitian sparse matrix, and their eigenvectors.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, M)
    k : int
    which : {"LM", "SM", "LA", "SA"}
        Eigenvalues of largest or smallest modulus, or the largest or smallest eigenvalues, chosen by value.
    return_eigenvectors : bool

    Returns
    -------
    Variable, shape (k,), ascending, and with `return_eigenvectors` a Variable, shape (M, k)
        Computed by the dense matrix, whose gradients exist to any order.
    """
    a = _dense(A, "eigsh")
    n = a.shape[0]
    if not 0 < k <= n:
        raise ShapeError(f"eigsh: expected k from 1 to {n}, got {k}")
    w, v = xpa.linalg.eigh(a)
    if which in ("LA", "SA"):
        chosen = slice(n - k, n) if which == "LA" else slice(0, k)
        return (w[chosen], v[:, chosen]) if return_eigenvectors else w[chosen]
    if which not in ("LM", "SM"):
        raise ValueError(f"eigsh: expected which 'LM', 'SM', 'LA' or 'SA', got {which!r}")
    order = xpa.argsort(xpa.abs(as_variable(w.array)), descending=which == "LM")[:k]
    order = xpa.sort(order)
    found = xpa.take(w, order)
    return (found, xpa.take(v, order, axis=1)) if return_eigenvectors else found


def svds(A: Any, k: int = 6, *, return_singular_vectors: bool = True) -> Any:
    """Return the `k` largest singular values of a sparse matrix, ascending, and their vectors.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, N)
    k : int
    return_singular_vectors : bool

    Returns
    -------
    Variables, u of shape (M, k), s (k,), vh (k, N), or only s
        Computed from the dense matrix.
    """
    a = _dense(A, "svds")
    if not 0 < k <= min(a.shape):
        raise ShapeError(f"svds: expected k from 1 to {min(a.shape)}, got {k}")
    u, s, vh = xpa.linalg.svd(a, full_matrices=False)
    s = xpa.flip(s[:k])
    return (xpa.flip(u[:, :k], axis=1), s, xpa.flip(vh[:k, :], axis=0)) if return_singular_vectors else s


def expm_multiply(A: Any, B: AnyArray) -> Variable:
    """Return the product of the exponential of a sparse matrix with a vector or a matrix.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, M)
    B : Variable or array, shape (M,) or (M, K)

    Returns
    -------
    Variable, like `B`
        By series of products with `A`, as many as its 1-norm, which is read.
    """
    a = A if isinstance(A, SparseArray) else as_sparse(A, "expm_multiply")
    y = inexact(B, "expm_multiply")
    norm = float(abs(a.to_scipy()).sum(axis=0).max()) if a.data.shape[0] else 0.0
    steps = max(1, int(norm) + 1)
    for _ in range(steps):
        term = total = y
        for i in range(1, ORDER + 1):
            term = (a @ term) / (i * steps)
            total = total + term
        y = total
    return y
