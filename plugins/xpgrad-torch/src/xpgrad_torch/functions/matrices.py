"""PyTorch's products of matrices, linear algebra and Fourier transforms, with its names of arguments, for Variables."""

import functools
from typing import Any, Literal, NamedTuple

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad_torch.functions.elementwise import add
from xpgrad_torch.functions.table import Function, axes, torch_function, torch_functions, variable


@torch_function("matmul", "mm", "bmm", "mv", "linalg_matmul", "__matmul__")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of matrices."""
    return xp.matmul(variable(input), variable(other))


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


def _scaled(y: Any, input: Any, beta: Any, alpha: Any) -> Any:
    return alpha * y if beta == 0 else add(beta * variable(input), y, alpha=alpha)


class Sign(NamedTuple):
    """Sign of determinants, and the logarithms of their moduli."""

    sign: Any
    logabsdet: Any


def _of_one(name: str, ours: str, *aliases: str) -> None:
    @torch_function(name, *aliases)
    def function(A: Any, **options: Any) -> Any:
        return getattr(xp.linalg, ours)(variable(A), **options)


_of_one("linalg_det", "det", "det")
_of_one("linalg_inv", "inv", "inverse")
_of_one("linalg_svdvals", "svdvals")
_of_one("linalg_eigvals", "eigvals")
_of_one("linalg_eig", "eig")


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


@torch_function("linalg_qr")
def linalg_qr(A: Any, mode: Literal["reduced", "complete"] = "reduced") -> Any:
    """Return the QR decomposition."""
    return xp.linalg.qr(variable(A), mode=mode)


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


ROWS: dict[str, Function] = {
    "__rmatmul__": lambda input, other: matmul(other, input),
    "dot": lambda input, tensor: xp.matmul(variable(input), variable(tensor)),
    "vdot": lambda input, other: xp.vecdot(variable(input), variable(other)),
    "linalg_vecdot": lambda x, y, *, dim=-1: xp.vecdot(variable(x), variable(y), axis=dim),
    "kron": lambda input, other: ops.kron(variable(input), variable(other)),
    "addmm baddbmm addmv": lambda input, mat1, mat2, *, beta=1, alpha=1: _scaled(
        matmul(mat1, mat2), input, beta, alpha
    ),
    "addr": lambda input, vec1, vec2, *, beta=1, alpha=1: _scaled(outer(vec1, vec2), input, beta, alpha),
    "linalg_cross": lambda input, other, *, dim=-1: xp.linalg.cross(variable(input), variable(other), axis=dim),
    "trace": lambda input: variable(input).trace(),
    "linalg_multi_dot chain_matmul": lambda tensors: functools.reduce(xp.matmul, map(variable, tensors)),
    "slogdet linalg_slogdet": lambda A: Sign(*xp.linalg.slogdet(variable(A))),
    "linalg_cholesky cholesky": lambda A, upper=False: xp.linalg.cholesky(variable(A), upper=upper),
    "linalg_svd": lambda A, full_matrices=True, *, driver=None: xp.linalg.svd(variable(A), full_matrices=full_matrices),
    "linalg_matrix_power matrix_power": lambda A, n: xp.linalg.matrix_power(variable(A), n),
    "linalg_matrix_rank": lambda A, tol=None, *, rtol=None: xp.linalg.matrix_rank(
        variable(A), rtol=rtol if tol is None else tol
    ),
    "fft_fftshift": lambda input, dim=None: xp.fft.fftshift(variable(input), axes=axes(dim)),
    "fft_ifftshift": lambda input, dim=None: xp.fft.ifftshift(variable(input), axes=axes(dim)),
}
torch_functions(ROWS)
