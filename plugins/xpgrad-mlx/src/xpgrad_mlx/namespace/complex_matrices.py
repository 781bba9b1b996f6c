"""Linear algebra of complex matrices, for which MLX has only eigenvalues and singular values."""

from __future__ import annotations

import mlx.core as mx

from xpgrad_mlx.memory import Array
from xpgrad_mlx.namespace.elementwise import complex_of


def real_form(x: Array) -> Array:
    """Return real matrices of twice the size, whose products, inverses and solutions represent the complex results."""
    a, b = mx.real(x), mx.imag(x)
    return mx.concatenate([mx.concatenate([a, -b], -1), mx.concatenate([b, a], -1)], -2)


def stacked(x: Array) -> Array:
    """Return the real parts of the rows of `x` above their imaginary parts."""
    return mx.concatenate([mx.real(x), mx.imag(x)], -2)


def unstacked(x: Array) -> Array:
    """Return complex matrices from stacked parts: the inverse of `stacked`."""
    half = x.shape[-2] // 2
    return complex_of(x[..., :half, :], x[..., half:, :])


def inv(x: Array) -> Array:
    """Return the inverses of complex matrices."""
    return unstacked(mx.linalg.inv(real_form(x))[..., : x.shape[-1]])


def solve(x1: Array, x2: Array) -> Array:
    """Return the solutions of complex equations; both have the same batch axes."""
    return unstacked(mx.linalg.solve(real_form(x1), stacked(x2)))


def pivots(x: Array) -> Array:
    """Return the pivots of Gaussian elimination, whose product is the determinant, the signs of exchanges included."""
    if not x.size:
        return mx.ones(x.shape[:-1], dtype=x.dtype)
    found = []
    while x.shape[-1]:
        best = mx.argmax(mx.abs(x[..., :, :1]), -2, True)
        row = mx.take_along_axis(x, best, -2)
        rest = mx.where(mx.arange(x.shape[-2])[:, None] == best, x[..., :1, :], x)[..., 1:, :]
        pivot = row[..., :1]
        found.append(mx.where(best == 0, pivot, -pivot)[..., 0, 0])
        factors = rest[..., :1] / mx.where(pivot == 0, 1.0, pivot).astype(x.dtype)
        x = rest[..., 1:] - factors * row[..., 1:]
    return mx.stack(found, -1)


def cholesky(x: Array) -> Array:
    """Return lower triangular factors of Hermitian matrices, column by column."""
    n = x.shape[-1]
    places = mx.arange(n)
    columns: list[Array] = []
    for j in range(n):
        column = x[..., :, j]
        for done in columns:
            column = column - done * mx.conj(done[..., j : j + 1])
        pivot = mx.sqrt(mx.real(column[..., j : j + 1]))
        columns.append(mx.where(places >= j, column / pivot, 0.0).astype(x.dtype))
    return mx.stack(columns, -1) if columns else x


def qr(x: Array, complete: bool) -> tuple[Array, Array]:
    """Return Q and R of complex matrices, computed with Householder reflections."""
    m, n = x.shape[-2:]
    q = mx.broadcast_to(mx.eye(m, dtype=x.dtype), (*x.shape[:-2], m, m))
    if not x.size:
        return q[..., : m if complete else min(m, n)], x[..., : m if complete else min(m, n), :]
    r, places = x, mx.arange(m)
    for j in range(min(m, n)):
        below = mx.where(places >= j, r[..., :, j], 0.0).astype(x.dtype)
        largest = mx.max(mx.abs(below), -1, True)
        below = below / mx.where(largest == 0, 1.0, largest)  # so that no square overflows
        length = mx.sqrt(mx.sum(mx.square(mx.abs(below)), -1, True))
        first = below[..., j : j + 1]
        size = mx.abs(first)
        turn = mx.where(size == 0, 1.0, first / mx.where(size == 0, 1.0, size)).astype(x.dtype)
        normal = below + mx.where(places == j, turn * length, 0.0).astype(x.dtype)
        square = mx.sum(mx.square(mx.abs(normal)), -1, True)
        factor = mx.where(square == 0, 0.0, 2.0 / mx.where(square == 0, 1.0, square))[..., None]
        v = normal[..., None]
        vh = mx.conj(mx.swapaxes(v, -1, -2))
        r = r - v @ (factor.astype(x.dtype) * (vh @ r))
        q = q - (factor.astype(x.dtype) * (q @ v)) @ vh
    kept = m if complete else min(m, n)
    return q[..., :kept], mx.triu(r[..., :kept, :])
