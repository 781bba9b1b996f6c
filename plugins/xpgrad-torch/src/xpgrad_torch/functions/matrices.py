"""PyTorch's products of matrices, linear algebra and Fourier transforms, with its names of arguments, for Variables."""

import functools
import math
from typing import Any, Literal, NamedTuple

import torch

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.errors import DtypeError, ShapeError
from xpgrad_torch.functions.elementwise import add
from xpgrad_torch.functions.table import (
    TABLE,
    Function,
    NoRule,
    axes,
    axis,
    expect_fitting,
    torch_function,
    torch_functions,
    variable,
    with_ndim,
)


@torch_function("matmul", "linalg_matmul", "__matmul__")
def matmul(input: Any, other: Any) -> Any:
    """Return the product of matrices."""
    return xp.matmul(variable(input), variable(other))


@torch_function("inner")
def inner(input: Any, other: Any) -> Any:
    """Return the sum of products over the last axes."""
    x, y = variable(input), variable(other)
    if not x.ndim or not y.ndim:
        return x * y
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(f"torch.inner: expected last axes of one length, got shapes {x.shape} and {y.shape}")
    return tensordot(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


@torch_function("outer", "ger")
def outer(input: Any, vec2: Any) -> Any:
    """Return all products of the elements of two vectors."""
    return xp.linalg.outer(variable(input), variable(vec2))


@torch_function("einsum")
def einsum(equation: str, *tensors: Any) -> Any:
    """Return the sum of products that `equation` specifies."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    operands = [variable(x) for x in given]
    if any(x.dtype == torch.bool for x in operands):
        raise DtypeError("torch.einsum: expected numbers, got torch.bool; cast the operands")
    return ops.einsum(equation, *operands)


@torch_function("tensordot")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Return the sum of products over some axes."""
    x, y = variable(a), variable(b)
    if isinstance(dims, int):
        return xp.tensordot(x, y, axes=dims)
    first, second = (tuple(axis(i, z.ndim, "tensordot") for i in each) for z, each in zip((x, y), dims, strict=True))
    for i, j in zip(first, second, strict=False):  # PyTorch broadcasts axes of length 1
        if x.shape[i] == 1 != y.shape[j]:
            y = xp.sum(y, axis=j, keepdims=True)
        elif y.shape[j] == 1 != x.shape[i]:
            x = xp.sum(x, axis=i, keepdims=True)
    return xp.tensordot(x, y, axes=(first, second))


def _scaled(name: str) -> None:
    product = TABLE[{"addmm": "mm", "baddbmm": "bmm", "addmv": "mv", "addr": "outer"}[name]]

    @torch_function(name)
    def scaled(input: Any, *factors: Any, beta: Any = 1, alpha: Any = 1, **named: Any) -> Any:
        x, y = variable(input), product(*factors, *(named[key] for key in sorted(named)))  # mat1, mat2; mat, vec
        expect_fitting(name, x.dtype, beta=beta, alpha=alpha)
        if beta == 0:
            return y if alpha == 1 else alpha * y
        return add(xp.broadcast_to(x if beta == 1 else beta * x, shape=y.shape), y, alpha=alpha)


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
    _check_lower(UPLO)
    return xp.linalg.eigh(variable(A))


@torch_function("linalg_eigvalsh")
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Return the eigenvalues of Hermitian matrices."""
    _check_lower(UPLO)
    return xp.linalg.eigvalsh(variable(A))


def _check_lower(UPLO: str) -> None:
    if UPLO != "L":
        raise NoRule


@torch_function("linalg_pinv", "pinverse")
def pinv(A: Any, rcond: Any = None, *, rtol: Any = None, atol: Any = None, hermitian: bool = False) -> Any:
    """Return pseudo-inverses."""
    if atol is not None or hermitian:
        raise NoRule
    return xp.linalg.pinv(variable(A), rtol=rcond if rtol is None else rtol)


@torch_function("linalg_solve")
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """Return the solution of linear equations."""
    a, b = variable(A), variable(B)
    if b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1]):  # vectors
        return solve(a, b[..., None], left=left).squeeze(-1)
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
        x, along = variable(input), (dim,) if isinstance(dim, int) else axes(dim)
        if s is not None:
            along = tuple(range(-len(s), 0)) if along is None else along
            s = [x.shape[i] if n == -1 else n for n, i in zip(s, along, strict=True)]
        return getattr(xp.fft, f"{name}n")(x, s=s, axes=along, norm=norm or "backward")

    @torch_function(f"fft_{name}2")
    def plane(input: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return over(input, s, dim, norm)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _transform(_name)


def _along(function: Any, first: Any, second: Any, dim: int, name: str) -> Any:
    """Return a product of the vectors along `dim`, an axis of the arrays that are broadcast."""
    x, y = xp.broadcast_arrays(variable(first), variable(second))
    return function(x, y, axis=axis(dim, x.ndim, name) - x.ndim)


@torch_function("linalg_cross")
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the cross products of vectors with three elements."""
    x = variable(input)
    (y,) = with_ndim("linalg.cross", other=(other, x.ndim))
    along = axis(dim, x.ndim, "linalg.cross")
    if not x.ndim or (x.shape[along], y.shape[along]) != (3, 3):
        raise ShapeError(f"torch.linalg.cross: expected length 3 along dim {dim}, got shapes {x.shape} and {y.shape}")
    return _along(xp.linalg.cross, x, y, dim, "linalg.cross")


def _chain(tensors: Any) -> list[Any]:
    given = [variable(x) for x in tensors]
    return with_ndim("linalg.multi_dot", **{f"tensors[{i}]": (x, min(x.ndim, 2)) for i, x in enumerate(given)})


@torch_function("cdist")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """Return the distances of all pairs of vectors."""
    if p < 0:
        raise ValueError(f"torch.cdist: expected p from 0 on, got {p}")
    x, y = variable(x1), variable(x2)
    return xp.linalg.vector_norm(x[..., :, None, :] - y[..., None, :, :], axis=-1, ord=p)


def _logdet(sign: Any, log: Any) -> Any:
    return log + xp.log(sign) if sign.dtype.is_complex else xp.where(sign < 0, math.nan, log)


ROWS: dict[str, Function] = {
    "__rmatmul__": lambda input, other: matmul(other, input),
    "linalg_vecdot": lambda x, y, *, dim=-1: _along(xp.vecdot, x, y, dim, "linalg.vecdot"),
    "kron": lambda input, other: ops.kron(variable(input), variable(other)),
    "mm": lambda input, mat2: xp.matmul(*with_ndim("mm", input=(input, 2), mat2=(mat2, 2))),
    "bmm": lambda input, mat2: xp.matmul(*with_ndim("bmm", input=(input, 3), mat2=(mat2, 3))),
    "mv": lambda input, vec: xp.matmul(*with_ndim("mv", input=(input, 2), vec=(vec, 1))),
    "dot": lambda input, tensor: xp.matmul(*with_ndim("dot", input=(input, 1), tensor=(tensor, 1))),
    "vdot": lambda input, other: xp.vecdot(*with_ndim("vdot", input=(input, 1), other=(other, 1))),
    "trace": lambda input: with_ndim("trace", input=(input, 2))[0].trace(),
    "linalg_multi_dot": lambda tensors: functools.reduce(xp.matmul, _chain(tensors)),
    "chain_matmul": lambda *tensors: functools.reduce(xp.matmul, _chain(tensors)),
    "slogdet linalg_slogdet": lambda A: Sign(*xp.linalg.slogdet(variable(A))),
    "linalg_cholesky cholesky": lambda A, upper=False: xp.linalg.cholesky(variable(A), upper=upper),
    "linalg_svd": lambda A, full_matrices=True, *, driver=None: xp.linalg.svd(variable(A), full_matrices=full_matrices),
    "qr": lambda input, some=True: xp.linalg.qr(variable(input), mode="reduced" if some else "complete"),
    "logdet": lambda A: _logdet(*xp.linalg.slogdet(variable(A))),
    "linalg_matrix_power matrix_power": lambda A, n: xp.linalg.matrix_power(variable(A), n),
    "linalg_matrix_rank": lambda A, tol=None, *, rtol=None: xp.linalg.matrix_rank(
        variable(A), rtol=rtol if tol is None else tol
    ),
    "fft_fftshift": lambda input, dim=None: xp.fft.fftshift(variable(input), axes=axes(dim)),
    "fft_ifftshift": lambda input, dim=None: xp.fft.ifftshift(variable(input), axes=axes(dim)),
}
torch_functions(ROWS)
for _name in ("addmm", "baddbmm", "addmv", "addr"):
    _scaled(_name)
