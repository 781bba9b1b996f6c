"""Kernels of functions with several outputs or shared gradients, which a backend may replace."""

from typing import Any

from xpgrad.backend.kernels import kernel
from xpgrad.types import Array, Namespace


@kernel(arrays=1, extension="linalg")
def eig(xp: Namespace, x: Array, /) -> Any:
    """Return complex eigenvalues and eigenvectors of length 1."""
    return xp.linalg.eig(x)


@kernel(arrays=1, extension="linalg")
def eigh(xp: Namespace, x: Array, /) -> Any:
    """Return ascending eigenvalues and orthonormal eigenvectors of Hermitian matrices."""
    return xp.linalg.eigh(x)


@kernel(arrays=1, parameters=("mode",), extension="linalg")
def qr(xp: Namespace, x: Array, /, mode: str) -> Any:
    """Return Q and R; `mode` is "reduced" or "complete"."""
    return xp.linalg.qr(x, mode=mode)


@kernel(arrays=1, extension="linalg")
def slogdet(xp: Namespace, x: Array, /) -> Any:
    """Return sign and logarithm of the modulus of determinants."""
    return xp.linalg.slogdet(x)


@kernel(arrays=2, extension="linalg")
def solve(xp: Namespace, x1: Array, x2: Array, /) -> Array:
    """Return the solution of linear equations; `x2` is one vector if it has one axis, else a stack of matrices."""
    return xp.linalg.solve(x1, x2)


@kernel(arrays=1, parameters=("full_matrices",), extension="linalg")
def svd(xp: Namespace, x: Array, /, full_matrices: bool) -> Any:
    """Return U, S and Vh."""
    return xp.linalg.svd(x, full_matrices=full_matrices)
