"""The standard's extension for linear algebra, built on MLX's functions for real matrices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import mlx.core as mx

from xpgrad_mlx.memory import Array
from xpgrad_mlx.namespace import complex_matrices
from xpgrad_mlx.namespace.products import matmul, matrix_transpose, tensordot, vecdot
from xpgrad_mlx.namespace.statistics import prod, sum

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]
Axis = int | tuple[int, ...] | None


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return cross products of vectors with three components."""
    a, b = mx.broadcast_arrays(x1, x2)
    if a.shape[axis] != 3 or x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"cross: expected three components along axis {axis}; got shapes {x1.shape} and {x2.shape}")
    (a1, a2, a3), (b1, b2, b3) = (mx.unstack(x, axis=axis) for x in (a, b))
    return mx.stack([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1], axis)


def outer(x1: Array, x2: Array, /) -> Array:
    """Return the products of all pairs of elements of two vectors."""
    return x1[:, None] * x2[None, :]


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Return the diagonals of matrices."""
    return mx.diagonal(x, offset, -2, -1)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Return the sums of the diagonals of matrices."""
    y = diagonal(x, offset=offset)
    return sum(y, axis=-1, dtype=dtype)


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """Return triangular factors of positive definite matrices."""
    if x.dtype == mx.complex64:
        y = complex_matrices.cholesky(x)
        return mx.conj(matrix_transpose(y)) if upper else y
    return mx.linalg.cholesky(x, upper)


def det(x: Array, /) -> Array:
    """Return determinants, as products of the diagonal of the LU factors: MLX's own lose half the digits of float64."""
    if x.shape[-1] == 0:
        return mx.ones(x.shape[:-2], dtype=x.dtype)
    if x.dtype == mx.complex64:
        return prod(complex_matrices.pivots(x), axis=-1)
    return _sign_of_pivots(x, factors := mx.linalg.lu_factor(x)) * prod(diagonal(factors[0]), axis=-1)


def slogdet(x: Array, /) -> SlogdetResult:
    """Return signs of determinants, and the logarithms of their moduli."""
    if x.shape[-1] == 0:
        return SlogdetResult(mx.ones(x.shape[:-2], dtype=x.dtype), mx.zeros(x.shape[:-2], dtype=x.dtype))
    if x.dtype == mx.complex64:
        values = complex_matrices.pivots(x)
        return SlogdetResult(prod(mx.sign(values), axis=-1), sum(mx.log(mx.abs(values)), axis=-1))
    factors = mx.linalg.lu_factor(x)
    pivots = diagonal(factors[0])
    sign = _sign_of_pivots(x, factors) * prod(mx.sign(pivots), axis=-1)
    return SlogdetResult(sign, sum(mx.log(mx.abs(pivots)), axis=-1))


def _sign_of_pivots(x: Array, factors: tuple[Array, Array]) -> Array:
    """Return -1 or 1: the sign of the permutation in an LU decomposition."""
    moved = factors[1].astype(mx.int32) != mx.arange(x.shape[-1])
    return mx.where(sum(moved.astype(mx.int32), axis=-1) % 2 == 1, -1.0, 1.0).astype(x.dtype)


def inv(x: Array, /) -> Array:
    """Return the inverses of matrices; singular matrices raise ValueError here, not when values are read."""
    if not x.size:
        return mx.zeros_like(x)
    _refuse_singular("inv", x)
    return complex_matrices.inv(x) if x.dtype == mx.complex64 else mx.linalg.inv(x)


def solve(x1: Array, x2: Array, /) -> Array:
    """Return the solutions of linear equations; `x2` is one vector if it has one axis.

    Singular matrices raise ValueError, as in `inv`.
    """
    b = x2[:, None] if x2.ndim == 1 else x2
    batch = mx.broadcast_shapes(x1.shape[:-2], b.shape[:-2])
    shape = (*batch, *b.shape[-2:])
    if 0 in shape:
        return mx.zeros(shape[:-1] if x2.ndim == 1 else shape, dtype=mx.result_type(x1, x2))
    _refuse_singular("solve", x1)
    a, b = mx.broadcast_to(x1, (*batch, *x1.shape[-2:])), mx.broadcast_to(b, shape)
    solved = complex_matrices.solve if mx.complex64 in (a.dtype, b.dtype) else mx.linalg.solve
    y = solved(a, b)
    return y[..., 0] if x2.ndim == 1 else y


def _refuse_singular(name: str, x: Array) -> None:
    """Raise ValueError for singular matrices, before MLX does: after some of its own errors, MLX waits forever."""
    factors, _ = mx.linalg.lu_factor(complex_matrices.real_form(x) if x.dtype == mx.complex64 else x)
    if mx.any(diagonal(factors) == 0).item():
        raise ValueError(
            f"linalg.{name} of a singular matrix, which has no inverse; linalg.pinv gives a pseudo-inverse"
        )


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Return orthonormal columns Q and triangular R; `mode` is "reduced" or "complete"."""
    if x.dtype == mx.complex64:
        return QRResult(*complex_matrices.qr(x, mode == "complete"))
    if mode == "reduced" or x.shape[-2] <= x.shape[-1]:
        q, r = mx.linalg.qr(x)
        return QRResult(q, mx.triu(r))
    unit = mx.broadcast_to(mx.eye(x.shape[-2], dtype=x.dtype), (*x.shape[:-1], x.shape[-2]))
    q, r = mx.linalg.qr(mx.concatenate([x, unit], -1))
    return QRResult(q, mx.triu(r[..., : x.shape[-1]]))


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """Return U, S and Vh."""
    u, s, vh = mx.linalg.svd(x)
    k = s.shape[-1]
    return SVDResult(u, s, vh) if full_matrices else SVDResult(u[..., :, :k], s, vh[..., :k, :])


def svdvals(x: Array, /) -> Array:
    """Return singular values, in descending order."""
    return svd(x).S


def eigh(x: Array, /) -> EighResult:
    """Return eigenvalues in ascending order and eigenvectors of symmetric matrices."""
    return EighResult(*mx.linalg.eigh(x))


def eigvalsh(x: Array, /) -> Array:
    """Return eigenvalues of symmetric matrices in ascending order."""
    return mx.linalg.eigvalsh(x)


def eig(x: Array, /) -> EigResult:
    """Return complex eigenvalues and eigenvectors; MLX returns the conjugates for complex matrices."""
    w, v = mx.linalg.eig(x)
    return EigResult(w, mx.conj(v) if x.dtype == mx.complex64 else v)


def eigvals(x: Array, /) -> Array:
    """Return complex eigenvalues."""
    return mx.linalg.eigvals(x)


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Return pseudo-inverses; singular values up to `rtol` times the largest count as zero."""
    u, s, vh = svd(x, full_matrices=False)
    kept = s > _cutoff(x, s, rtol)
    inverse = mx.where(kept, 1 / mx.where(kept, s, 1.0), 0.0).astype(s.dtype)
    return matmul(mx.conj(matrix_transpose(vh)) * inverse[..., None, :], mx.conj(matrix_transpose(u)))


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Return the numbers of singular values that are not negligible."""
    s = svdvals(x)
    return sum((s > _cutoff(x, s, rtol)).astype(mx.int32), axis=-1)


def _cutoff(x: Array, s: Array, rtol: Any) -> Array:
    """Return the cutoff below which singular values count as zero."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * mx.finfo(s.dtype).eps
    if isinstance(rtol, mx.array):
        rtol = rtol[..., None].astype(s.dtype)
    return rtol * mx.max(s, -1, True) if s.shape[-1] else mx.zeros_like(s)


def matrix_power(x: Array, n: int, /) -> Array:
    """Return `n`-th powers of matrices."""
    base, n = (inv(x), -n) if n < 0 else (x, n)
    y = mx.broadcast_to(mx.eye(x.shape[-1], dtype=x.dtype), x.shape)
    while n:
        y = matmul(y, base) if n & 1 else y
        base, n = (matmul(base, base) if n > 1 else base), n >> 1
    return y


def vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Return norms of vectors along `axis`."""
    size = mx.abs(x)
    if ord == math.inf:
        return mx.max(size, axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return mx.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return sum((x != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return mx.sqrt(sum(size * size, axis=axis, keepdims=keepdims))
    return mx.power(sum(mx.power(size, ord), axis=axis, keepdims=keepdims), 1 / ord)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return norms of matrices."""
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        sums = sum(mx.abs(x), axis=-2 if abs(ord) == 1 else -1, keepdims=True)
        return (mx.max if ord > 0 else mx.min)(sums, (-2, -1), keepdims)
    s = svdvals(x)
    y = sum(s, axis=-1) if ord == "nuc" else (mx.max(s, -1) if ord == 2 else mx.min(s, -1))
    return y[..., None, None] if keepdims else y
