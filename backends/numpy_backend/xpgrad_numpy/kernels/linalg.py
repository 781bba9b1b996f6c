"""Linear algebra: NumPy functions that are faster than the standard's, with the same results."""

from typing import Any

import numpy as np

from xpgrad.types import Array, Dtype, Kernel

LIMITS = {np.dtype("float32"): (2.0**-48, 125), np.dtype("float64"): (2.0**-384, 1020)}
"""Norms above which no square of interest underflows, and largest exponents of factors, by dtype."""


def diagonal(x: Array, /, offset: int = 0) -> Array:
    """Return the diagonals of the last two axes."""
    return x.diagonal(offset, -2, -1)


def trace(x: Array, /, offset: int = 0, dtype: Dtype | None = None) -> Array:
    """Return the sums of these diagonals."""
    return x.trace(offset, -2, -1, dtype)


def expand_diagonal(x: Array, /, rows: int, columns: int, offset: int = 0) -> Array:
    """Return zeros with the vectors `x` on a diagonal."""
    y, length = np.zeros((*x.shape[:-1], rows, columns), x.dtype), x.shape[-1]
    row, column = max(-offset, 0), max(offset, 0)
    if y.size and length:
        np.einsum("...ii->...i", y[..., row : row + length, column : column + length])[...] = x
    return y


def lower_half(x: Array, /) -> Array:
    """Return the lower triangles with half their diagonals."""
    y = np.tril(x)
    on = np.einsum("...ii->...i", y)
    on *= 0.5
    return y


def euclidean_norm(x: Array, /, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the square root of the sum of squared moduli, rescaled where squares are no normal numbers."""
    y = _norm(x, axis, keepdims)
    smallest, limit = LIMITS.get(y.dtype, (-np.inf, 0))
    if ((y > smallest) & (y < np.inf)).all():
        return y
    _, exponent = np.frexp(np.max(np.abs(x), axis=axis, keepdims=True, initial=0))
    factor = np.ldexp(y.dtype.type(1), -np.clip(exponent, -limit, limit))
    y = _norm(x * factor, axis, keepdims)
    return y / factor.reshape(y.shape)


def _norm(x: Array, axis: Any, keepdims: bool) -> Array:
    """Return the square root of the sum of squared moduli; `vdot` needs no array of squares."""
    if axis is None and not keepdims:
        line = x.ravel(order="K")
        return np.sqrt(np.vdot(line, line).real)
    with np.errstate(over="ignore"):  # the caller rescales them
        squares = np.square(x) if x.dtype.kind == "f" else np.square(x.real) + np.square(x.imag)
        return np.sqrt(np.sum(squares, axis, keepdims=keepdims))


LINALG: dict[str, Kernel] = {
    "linalg.diagonal": diagonal,
    "linalg.euclidean_norm": euclidean_norm,
    "linalg.expand_diagonal": expand_diagonal,
    "linalg.lower_half": lower_half,
    "linalg.solve": np.linalg.solve,  # since NumPy 2 only a 1-d array is a vector, as in the standard
    "linalg.trace": trace,
}
