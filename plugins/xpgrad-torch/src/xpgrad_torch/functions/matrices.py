"""PyTorch's products of matrices, linear algebra and Fourier transforms, with its names of arguments, for Variables."""

import functools
from typing import Any, Literal, NamedTuple

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad_torch.functions.elementwise import add
from xpgrad_torch.functions.table import axes, torch_function, variable


@torch_function("matmul", "mm", "bmm", "mv", "linalg_matmul", "__matmul__")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of matrices."""
    return xp.matmul(variable(input), variable(other))


@torch_function("__rmatmul__")
def rmatmul(input: Any, other: Any) -> Any:
    """Return ``other @ input``."""
    return matmul(other, input)


@torch_function("dot")
def dot(input: Any, tensor: Any) -> Any:
    """Return the product of two vectors."""
    return xp.matmul(variable(input), variable(tensor))


@torch_function("vdot")
def vdot(input: Any, other: Any) -> Any:
    """Return the product of two vectors, the first conjugated."""
    return xp.vecdot(variable(input), variable(other))


@torch_function("linalg_vecdot")
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Return the products of vectors along an axis, the first conjugated."""
    return xp.vecdot(variable(x), variable(y), axis=dim)


@torch_function("inner")
def inner(input: Any, other: Any) -> Any:
    """Return the sum of products over the last axes."""
    x, y = variable(input), variable(other)
    return x * y if not x.ndim or not y.ndim else xp.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


@torch_function("outer", "ger")
def outer(input: Any, vec2: Any) -> Any:
    """Return all products of the elements of two vectors."""
    return xp.linalg.outer(variable(input), variable(vec2))


@torch_function("einsum")
def einsum(equation: str, *operands: Any) -> Any:
    """Return the sum of products that `equation` says."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    return ops.einsum(equation, *map(variable, given))


@torch_function("tensordot")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return the sum of products over some axes."""
    dims = dims if isinstance(dims, int) else tuple(tuple(each) for each in dims)
    return xp.tensordot(variable(a), variable(b), axes=dims)


@torch_function("kron")
def kron(input: Any, other: Any) -> Any:
    """Return Kronecker's product."""
    return ops.kron(variable(input), variable(other))


def _scaled(y: Any, input: Any, beta: Any, alpha: Any) -> Any:
    return alpha * y if beta == 0 else add(beta * variable(input), y, alpha=alpha)


@torch_function("addmm", "baddbmm", "addmv")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return ``beta * input + alpha * mat1 @ mat2``."""
    return _scaled(matmul(mat1, mat2), input, beta, alpha)


@torch_function("addr")
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return ``beta * input + alpha * outer(vec1, vec2)``."""
    return _scaled(outer(vec1, vec2), input, beta, alpha)


@torch_function("linalg_cross")
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the products of vectors in space."""
    return xp.linalg.cross(variable(input), variable(other), axis=dim)


@torch_function("trace")
def trace(input: Any) -> Any:
    """Return the sum of the diagonal."""
    return variable(input).trace()


@torch_function("linalg_multi_dot", "chain_matmul")
def multi_dot(tensors: Any) -> Any:
    """Return the product of several matrices."""
    return functools.reduce(xp.matmul, map(variable, tensors))


class Sign(NamedTuple):
    """Sign of determinants, and the logarithms of their moduli."""

    sign: Any
    logabsdet: Any


@torch_function("slogdet", "linalg_slogdet")
def slogdet(A: Any) -> Any:
    """Return sign and logarithm of determinants."""
    return Sign(*xp.linalg.slogdet(variable(A)))


def _of_one(name: str, ours: str, *aliases: str) -> None:
    @torch_function(name, *aliases)
    def function(A: Any, **options: Any) -> Any:
        return getattr(xp.linalg, ours)(variable(A), **options)


_of_one("linalg_det", "det", "det")
_of_one("linalg_inv", "inv", "inverse")
_of_one("linalg_svdvals", "svdvals")
_of_one("linalg_eigvals", "eigvals")
_of_one("linalg_eig", "eig")


@torch_function("linalg_cholesky", "cholesky")
def cholesky(A: Any, upper: bool = False) -> Any:
    """Return the triangular factor of positive definite matrices."""
    return xp.linalg.cholesky(variable(A), upper=upper)


@torch_function("linalg_eigh")
def eigh(A: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues and eigenvectors of Hermitian matrices."""
    _lower(UPLO)
    return xp.linalg.eigh(variable(A))


@torch_function("linalg_eigvalsh")
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Return the eigenvalues of Hermitian matrices."""
    _lower(UPLO)
    return xp.linalg.eigvalsh(variable(A))


def _lower(UPLO: str) -> None:
    if UPLO != "L":
        raise TypeError(f"torch.linalg.eigh: UPLO={UPLO!r} is not for Variables; leave UPLO away, or transpose")


@torch_function("linalg_svd")
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Return singular value decompositions."""
    return xp.linalg.svd(variable(A), full_matrices=full_matrices)


@torch_function("linalg_qr")
def qr(A: Any, mode: Literal["reduced", "complete"] = "reduced") -> Any:
    """Return products of orthogonal and triangular matrices."""
    return xp.linalg.qr(variable(A), mode=mode)


@torch_function("linalg_pinv", "pinverse")
def pinv(A: Any, rcond: Any = None, *, rtol: Any = None, atol: Any = None, hermitian: bool = False) -> Any:
    """Return pseudo-inverses."""
    if atol is not None or hermitian:
        raise TypeError("torch.linalg.pinv: atol= and hermitian= are not for Variables; use rtol=")
    return xp.linalg.pinv(variable(A), rtol=rcond if rtol is None else rtol)


@torch_function("linalg_solve")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return the solution of linear equations."""
    a, b = variable(A), variable(B)
    if left:
        return xp.linalg.solve(a, b)
    return xp.linalg.solve(a.mT, b.mT).mT


@torch_function("linalg_matrix_power", "matrix_power")
def matrix_power(A: Any, n: int) -> Any:
    """Return powers of matrices."""
    return xp.linalg.matrix_power(variable(A), n)


@torch_function("linalg_matrix_rank")
def matrix_rank(A: Any, tol: Any = None, *, rtol: Any = None) -> Any:
    """Return ranks of matrices."""
    return xp.linalg.matrix_rank(variable(A), rtol=rtol if tol is None else tol)


def _transform(name: str) -> None:
    @torch_function(f"fft_{name}")
    def along(input: Any, n: Any = None, dim: int = -1, norm: str | None = None) -> Any:
        return getattr(xp.fft, name)(variable(input), n=n, axis=dim, norm=norm or "backward")

    if name in ("hfft", "ihfft"):
        return

    @torch_function(f"fft_{name}n")
    def over(input: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        return getattr(xp.fft, f"{name}n")(variable(input), s=s, axes=axes(dim), norm=norm or "backward")

    @torch_function(f"fft_{name}2")
    def plane(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return over(input, s, dim, norm)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _transform(_name)


@torch_function("fft_fftshift")
def fftshift(input: Any, dim: Any = None) -> Any:
    """Return a spectrum with its middle at frequency 0."""
    return xp.fft.fftshift(variable(input), axes=axes(dim))


@torch_function("fft_ifftshift")
def ifftshift(input: Any, dim: Any = None) -> Any:
    """Return what `fftshift` was applied to."""
    return xp.fft.ifftshift(variable(input), axes=axes(dim))
