"""Functions of matrices by their eigenvalues and singular values, and the same without any decomposition."""

from collections.abc import Callable
from typing import Any

import numpy as np

Namespace = Any
# A function of eigenvalues, and the function of matrices in another library `t`.
SPECTRAL: tuple[tuple[Callable[[Namespace, Any], Any], Callable[[Any, Any], Any]], ...] = (
    (lambda xp, w: w, lambda t, x: x),
    (lambda xp, w: w * w, lambda t, x: x @ x),
    (lambda xp, w: w**3 - w, lambda t, x: x @ x @ x - x),
    (lambda xp, w: 1 / w, lambda t, x: t.linalg.inv(x)),
    (lambda xp, w: xp.exp(w), lambda t, x: t.linalg.matrix_exp(x)),
    (lambda xp, w: xp.sqrt(w), lambda t, x: square_root(t, x)),
    (lambda xp, w: 1 / xp.sqrt(w), lambda t, x: t.linalg.inv(square_root(t, x))),
    (lambda xp, w: w**0, lambda t, x: x @ t.linalg.inv(x)),
)


def square_root(t: Any, x: Any) -> Any:
    """Return the square root of positive definite matrices by the iteration of Denman and Beavers."""
    scale = t.trace(x).detach()
    y, z = x / scale, t.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)
    for _ in range(14):
        y, z = 0.5 * (y + t.linalg.inv(z)), 0.5 * (z + t.linalg.inv(y))
    return y * scale**0.5


def values_with_ties(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return positive numbers, most of them with equal or nearly equal values."""
    few = rng.choice([0.5, 1.0, 1.5, 2.25], size)
    near = rng.choice([0.0, 0.0, 0.0, 1e-14, 1e-11, 1e-9, 1e-7, 1e-4])
    return few + near * np.arange(size)


def symmetric(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return a positive definite matrix with equal eigenvalues; now and then diagonal, where they are equal exactly."""
    w = values_with_ties(rng, size)
    if rng.random() < 0.3:
        return np.diag(w)
    q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    x = (q * w) @ q.T
    return (x + x.T) / 2


def rectangular(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return a matrix of full column rank with equal singular values."""
    rows = size + int(rng.integers(0, 3))
    u, _ = np.linalg.qr(rng.normal(size=(rows, size)))
    v, _ = np.linalg.qr(rng.normal(size=(size, size)))
    if rng.random() < 0.3:
        u, v = np.eye(rows, size), np.eye(size)
    return (u * values_with_ties(rng, size)) @ v.T
