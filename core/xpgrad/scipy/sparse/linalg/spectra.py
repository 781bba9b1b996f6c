"""Eigenvalues, singular values, and products with exponentials."""

import math
from numbers import Real
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.plugins import plugins
from xpgrad.errors import IterationError, ShapeError, SingularMatrix
from xpgrad.graph.operands import is_operand
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.operands import from_host, inexact, required
from xpgrad.scipy.sparse.matrices import SparseArray, as_sparse, on_host
from xpgrad.transforms.implicit import custom_linear_solve, custom_root
from xpgrad.types import WHOLE, AnyArray, Array

MAX_DENSE = 300
"""Rows up to which eigenvalues are those of the dense matrix."""
SHIFT, CORRECTIONS = 1e-7, 3
"""The distance of a shift from an eigenvalue, relative to the norm, and steps that remove its error."""
ORDER = 18
"""Terms of the series of an exponential in each step, for matrices with a 1-norm up to 1."""


def _dense(A: Any, name: str) -> Variable:
    return as_variable(A) if is_operand(A) else as_sparse(A, name).toarray()


def _count(k: Any, limit: int, function: str) -> int:
    """Return `k`, how many values `function` returns, as an int from 1 to `limit`."""
    if not isinstance(k, WHOLE):
        raise TypeError(f"{function}: expected k to be an integer, got an object of type {type(k).__name__}")
    if not 0 < int(k) <= limit:
        raise ShapeError(f"{function}: expected k from 1 to {limit}, got {k}")
    return int(k)


def _shift(sigma: Any) -> float | None:
    """Return the number next to which `eigsh` looks for eigenvalues, or None."""
    if sigma is None:
        return None
    if not isinstance(sigma, Real):
        raise TypeError(
            f"eigsh: expected sigma to be a real number or None, got an object of type {type(sigma).__name__}"
        )
    try:
        found = float(sigma)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"eigsh: expected sigma to be a finite number of float64, got {found}")
    return found


class BorderedSystem:
    """The matrix ``[[A - w, -v], [-v^T, 0]]`` of one eigenpair, with factors that its first solution computes.

    This is the Jacobian of ``A v - w v`` and ``(1 - v^T v) / 2``; it is regular where `w` is a single eigenvalue. The
    border would fill the factors, so that a shift near `w` is factorized, and corrections remove its error.
    """

    def __init__(self, a: Any, w: float, v: Array) -> None:
        self.a, self.w, self.v = a, w, v
        self.factors: Any = None

    def __call__(self, matvec: Any, y: Variable) -> Variable:
        """Return the solution for a right-hand side; the factors stand for the product."""
        host, v, values = plugins.host.namespace, self.v, on_host(y)
        right, last = values[:-1], values[-1]
        if self.factors is None:
            self.shift = SHIFT * (float(abs(self.a).sum(axis=0).max()) or 1.0)
            eye = required("scipy.sparse", "eigsh").eye_array(self.a.shape[0])
            shifted = (self.a - (self.w + self.shift) * eye).tocsc()
            self.factors = required("scipy.sparse.linalg", "eigsh").splu(shifted)
        slope = -(v @ right)
        right = right + slope * v
        x = 0.0 * right
        for _ in range(CORRECTIONS):
            change = self.factors.solve(right - (self.a @ x - self.w * x))
            x = x + change - v * (v @ change)
        return from_host(y, host.concat([x - last * v, host.asarray([slope])]))


def _pairs(a: SparseArray, k: int, sigma: float | None, which: str) -> tuple[Variable, Variable]:
    """Return eigenpairs of a real symmetric matrix by SciPy, whose derivatives solve sparse systems."""
    host = plugins.host.namespace
    values = a.to_scipy()
    linalg = required("scipy.sparse.linalg", "eigsh")
    try:
        found, vectors = linalg.eigsh(values, k, sigma=sigma, which=which)
    except linalg.ArpackError as error:
        raise IterationError(f"eigsh: {error}; got a matrix of shape {a.shape}, k={k}, sigma={sigma}") from error
    except RuntimeError as error:  # of the factors of the shifted matrix
        raise SingularMatrix(f"eigsh: {error}; got sigma={sigma}, choose a number beside it") from error
    n = a.shape[0]

    def misfit(z: Variable) -> Variable:
        v, w = z[:n], z[n]
        return xpa.concat([a @ v - w * v, xpa.reshape(0.5 * (1.0 - xpa.sum(v * v)), (1,))])

    pairs = []
    for i in host.argsort(found):
        w, v = float(found[i]), vectors[:, i]
        solve = BorderedSystem(values, w, v)

        def tangent_solve(g: Any, y: Any, solve: BorderedSystem = solve) -> Any:
            return custom_linear_solve(g, y, solve, symmetric=True)

        start = from_host(a.data, host.concat([v, host.asarray([w])]))
        pairs.append(custom_root(misfit, start, lambda f, z: z, tangent_solve))
    z = xpa.stack(pairs, axis=1)
    return z[n, :], z[:n, :]


def eigsh(
    A: Any, k: int = 6, *, sigma: float | None = None, which: str = "LM", return_eigenvectors: bool = True
) -> Any:
    """Return `k` eigenvalues of a Hermitian sparse matrix, and their eigenvectors.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, M)
    k : int
    sigma : float, optional
        Return the eigenvalues next to this number, in the default mode.
    which : {"LM", "SM", "LA", "SA"}
        Eigenvalues of largest or smallest modulus, or the largest or smallest eigenvalues, chosen by value.
    return_eigenvectors : bool

    Returns
    -------
    Variable, shape (k,), ascending, and with `return_eigenvectors` a Variable, shape (M, k)
        Of real sparse matrices with more than 300 rows by SciPy, with derivatives by one sparse factorization for each
        eigenvalue, which must be single; otherwise by the dense matrix.
    """
    n = A.shape[0]
    k, sigma = _count(k, n, "eigsh"), _shift(sigma)
    if which not in (("LM", "SM", "LA", "SA") if sigma is None else ("LM",)):
        raise ValueError(f"eigsh: expected which 'LM', and without sigma 'SM', 'LA' or 'SA', got {which!r}")
    sparse = None if is_operand(A) else as_sparse(A, "eigsh")
    if sparse is not None and n > MAX_DENSE and k < n - 1 and not sparse.data.node.spec.complex:
        w, v = _pairs(sparse, k, sigma, which)
        return (w, v) if return_eigenvectors else w
    a = _dense(A, "eigsh")
    w, v = xpa.linalg.eigh(a)
    if which in ("LA", "SA"):
        chosen = slice(n - k, n) if which == "LA" else slice(0, k)
        return (w[chosen], v[:, chosen]) if return_eigenvectors else w[chosen]
    order = xpa.argsort(xpa.abs(as_variable(w.array) - (sigma or 0.0)), descending=sigma is None and which == "LM")[:k]
    order = xpa.sort(order)
    found = xpa.take(w, order)
    return (found, xpa.take(v, order, axis=1)) if return_eigenvectors else found


def svds(A: Any, k: int = 6, *, which: str = "LM", return_singular_vectors: bool | str = True) -> Any:
    """Return the `k` largest or smallest singular values of a sparse matrix, ascending, and their vectors.

    Parameters
    ----------
    A : SparseArray, or a sparse matrix of SciPy, shape (M, N)
    k : int
    which : {"LM", "SM"}
    return_singular_vectors : bool, "u" or "vh"

    Returns
    -------
    Variables, u of shape (M, k), s (k,), vh (k, N), or only s
        Of real sparse matrices with more than 300 rows and columns by `eigsh` of their product with the transpose, so
        that small singular values have fewer digits; otherwise from the dense matrix.
    """
    k = _count(k, min(A.shape), "svds")
    if which not in ("LM", "SM"):
        raise ValueError(f"svds: expected which 'LM' or 'SM', got {which!r}")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError(
            f"svds: expected return_singular_vectors True, False, 'u' or 'vh', got {return_singular_vectors!r}"
        )
    sparse = None if is_operand(A) else as_sparse(A, "svds")
    if sparse is not None and min(A.shape) > MAX_DENSE and which == "LM" and not sparse.data.node.spec.complex:
        w, v = eigsh(sparse.T @ sparse, k)
        s = xpa.sqrt(w)
        return ((sparse @ v) / s, s, xpa.matrix_transpose(v)) if return_singular_vectors else s
    a = _dense(A, "svds")
    u, s, vh = xpa.linalg.svd(a, full_matrices=False)
    part = slice(0, k) if which == "LM" else slice(s.shape[0] - k, s.shape[0])
    u, s, vh = xpa.flip(u[:, part], axis=1), xpa.flip(s[part]), xpa.flip(vh[part, :], axis=0)
    return (u, s, vh) if return_singular_vectors else s


def expm_multiply(
    A: Any, B: AnyArray, start: float | None = None, stop: float | None = None, num: int | None = None,
    endpoint: bool | None = None,
) -> Variable:  # fmt: skip
    """Return the product of the exponential of a sparse matrix, or of its multiples, with a vector or a matrix.

    Parameters
    ----------
    A : SparseArray, a sparse matrix of SciPy, Variable or array, shape (M, M)
    B : Variable or array, shape (M,) or (M, K)
    start, stop : float, optional
        With these, the products with the exponentials of ``t * A`` at evenly spaced `t`.
    num : int, optional
        Number of `t`, by default 50.
    endpoint : bool, optional
        Whether `stop` is the last of them, by default True.

    Returns
    -------
    Variable, like `B`, or shape (num, ...)
        By series of products with `A`, as many as its 1-norm, which is read.
    """
    a: Any = as_variable(A) if is_operand(A) else as_sparse(A, "expm_multiply")
    y = inexact(B, "expm_multiply")
    if start is None or stop is None:
        if start is not None or stop is not None or num is not None:
            raise ValueError("expm_multiply: expected start and stop, or neither of them and no num")
        return _advanced(a, y, 1.0)
    count, last = 50 if num is None else num, endpoint is None or endpoint
    step = (stop - start) / max(count - last, 1)
    found = [_advanced(a, y, start)]
    for _ in range(count - 1):
        found.append(_advanced(a, found[-1], step))
    return xpa.stack(found)


def _advanced(a: Any, y: Variable, t: float) -> Variable:
    """Return ``expm(t * a) @ y``."""
    values = abs(a.to_scipy() if isinstance(a, SparseArray) else on_host(a))
    norm = abs(t) * float(values.sum(axis=0).max()) if 0 not in values.shape else 0.0
    steps = max(1, int(norm) + 1)
    for _ in range(steps):
        term = total = y
        for i in range(1, ORDER + 1):
            term = (a @ term) * (t / (i * steps))
            total = total + term
        y = total
    return y
