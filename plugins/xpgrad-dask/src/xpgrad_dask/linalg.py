"""The extension `linalg`: NumPy's functions on stacks of matrices, each matrix in one chunk.

dask's out-of-core algorithms are used for products, norms, and factorizations of tall and skinny matrices.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from xpgrad.types import Array
from xpgrad_dask.blocks import cores
from xpgrad_dask.creation import cut
from xpgrad_dask.libraries import compat, da, host
from xpgrad_dask.shapes import broadcast_arrays

SQUARE = "(m,n)->(m,n)"
LINE = "(m,n)->(m)"
NUMBER = "(m,n)->()"

matrix_transpose = compat.linalg.matrix_transpose
diagonal, trace, outer = compat.linalg.diagonal, compat.linalg.trace, compat.linalg.outer


def real(dtype: Any) -> Any:
    """Return the dtype of absolute values."""
    return np.empty(0, dtype).real.dtype


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Array
    eigenvectors: Array


class SlogdetResult(NamedTuple):
    """Signs and logarithms of the absolute values of determinants."""

    sign: Array
    logabsdet: Array


class QRResult(NamedTuple):
    """Factors: orthonormal columns, and triangular."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Factors: orthonormal columns, singular values, orthonormal rows."""

    U: Array
    S: Array
    Vh: Array


def det(x: Array, /) -> Array:
    """Return determinants."""
    return cores(host.linalg.det, NUMBER, x, dtypes=x.dtype)


def inv(x: Array, /) -> Array:
    """Return inverses."""
    return cores(host.linalg.inv, SQUARE, x, dtypes=x.dtype)


def slogdet(x: Array, /) -> SlogdetResult:
    """Return signs and logarithms of the absolute values of determinants."""
    return SlogdetResult(*cores(host.linalg.slogdet, "(m,n)->(),()", x, dtypes=[x.dtype, real(x.dtype)]))


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return triangular factors."""
    return cores(host.linalg.cholesky, SQUARE, x, dtypes=x.dtype, upper=upper)


def eigh(x: Array, /) -> EigResult:
    """Return eigenvalues and eigenvectors of Hermitian matrices."""
    return EigResult(*cores(host.linalg.eigh, "(m,n)->(m),(m,n)", x, dtypes=[real(x.dtype), x.dtype]))


def eigvalsh(x: Array, /) -> Array:
    """Return eigenvalues of Hermitian matrices."""
    return cores(host.linalg.eigvalsh, LINE, x, dtypes=real(x.dtype))


def _eig(x: Any) -> tuple[Any, Any]:
    found = np.linalg.eig(x)  # real if all eigenvalues are, which dask cannot know
    dtype = np.result_type(x.dtype, np.complex64)
    return found.eigenvalues.astype(dtype), found.eigenvectors.astype(dtype)


def eig(x: Array, /) -> EigResult:
    """Return eigenvalues and eigenvectors, always complex."""
    dtype = np.result_type(x.dtype, np.complex64)
    return EigResult(*cores(_eig, "(m,n)->(m),(m,n)", x, dtypes=[dtype, dtype]))


def eigvals(x: Array, /) -> Array:
    """Return eigenvalues, always complex."""
    return eig(x).eigenvalues


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return factors; dask's out-of-core algorithm factors a tall matrix in several chunks of whole rows."""
    rows, columns = x.shape[-2:]
    if mode == "reduced" and x.ndim == 2 and _tall(x):
        return QRResult(*compat.linalg.qr(x))
    inner = rows if mode == "complete" else min(rows, columns)
    found = cores(host.linalg.qr, "(m,n)->(m,k),(k,n)", x, dtypes=[x.dtype] * 2, sizes={"k": inner}, mode=mode)
    return QRResult(*found)


def _tall(x: Array) -> bool:
    """Return whether dask can factor the matrix by blocks of rows, each with at least as many rows as columns."""
    return bool(x.numblocks[0] > 1 and x.numblocks[1] == 1 and min(x.chunks[0]) >= x.shape[1] > 0)


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return singular value decompositions; reduced ones of one tall matrix by dask's own algorithm, out of core."""
    if not full_matrices and x.ndim == 2 and _tall(x):
        return SVDResult(*compat.linalg.svd(x, full_matrices=False))
    rows, columns = x.shape[-2:]
    inner = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (inner, inner)
    found = cores(
        host.linalg.svd,
        "(m,n)->(m,p),(k),(q,n)",
        x,
        dtypes=[x.dtype, real(x.dtype), x.dtype],
        sizes={"p": left, "k": inner, "q": right},
        full_matrices=full_matrices,
    )
    return SVDResult(*found)


def svdvals(x: Array, /) -> Array:
    """Return singular values."""
    return cores(host.linalg.svdvals, "(m,n)->(k)", x, dtypes=real(x.dtype), sizes={"k": min(x.shape[-2:])})


def _pinv(x: Any, *rtol: Any) -> Any:
    return host.linalg.pinv(x, rtol=rtol[0] if rtol else None)


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Return pseudo-inverses."""
    more = () if rtol is None else (_like(rtol, x),)
    return cores(_pinv, "(m,n)" + ",()" * len(more) + "->(n,m)", x, *more, dtypes=x.dtype)


def _matrix_rank(x: Any, *rtol: Any) -> Any:
    return np.asarray(host.linalg.matrix_rank(x, rtol=rtol[0] if rtol else None), np.int64)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Return ranks."""
    more = () if rtol is None else (_like(rtol, x),)
    return cores(_matrix_rank, "(m,n)" + ",()" * len(more) + "->()", x, *more, dtypes=np.dtype(np.int64))


def _like(value: Any, x: Array) -> Array:
    return value if hasattr(value, "chunks") else cut(np.asarray(value, real(x.dtype)))


def _solve(x1: Any, x2: Any) -> Any:
    return host.linalg.solve(x1, x2)


def solve(x1: Array, x2: Array, /) -> Array:
    """Return the solutions of systems of linear equations."""
    dtype = np.result_type(x1.dtype, x2.dtype)
    if x2.ndim == 1:
        return cores(_solve_vector, "(m,n),(m)->(n)", x1, x2, dtypes=dtype)
    return cores(_solve, "(m,n),(m,k)->(n,k)", x1, x2, dtypes=dtype)


def _solve_vector(x1: Any, x2: Any) -> Any:
    return host.linalg.solve(x1, x2[..., None])[..., 0]


def matrix_power(x: Array, n: int, /) -> Array:
    """Return powers of square matrices."""
    return cores(host.linalg.matrix_power, SQUARE, x, dtypes=x.dtype, n=n)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return cross products of vectors of three elements along `axis`."""
    x1, x2 = (da.moveaxis(x, axis, -1) for x in broadcast_arrays(x1, x2))
    found = cores(host.linalg.cross, "(n),(n)->(n)", x1, x2, dtypes=np.result_type(x1.dtype, x2.dtype))
    return da.moveaxis(found, -1, axis)


def __getattr__(name: str) -> Any:
    return getattr(compat.linalg, name)
