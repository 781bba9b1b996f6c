"""`Orthogonal`: random rows or columns at right angles."""

import math
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.initializers.initializer import Initializer
from xpgrad.initializers.normal import Normal
from xpgrad.types import Array, Dtype, Shape

MODES = "auto", "projection", "embedding", "basis"


class Orthogonal(Initializer):
    """A random matrix whose rows or columns, whichever are fewer, are orthonormal, times `scale`.

    Complex rows or columns are orthonormal in the complex inner product. An array of shape (out, *S) counts as a
    matrix with as many columns as S has elements.

    Parameters
    ----------
    scale : float
    dtype : dtype or str, optional
    mode : "auto", "projection", "embedding" or "basis"
        Required shape of the matrix: any, at most as many rows as columns, at least as many, or square.
    rng : numpy.random.RandomState or numpy.random.Generator, optional
        Generator of the numbers; by default the stream of `xpgrad.random` for the device.

    Raises
    ------
    ValueError
        An array has no element, or violates `mode`.

    References
    ----------
    Saxe, McClelland, Ganguli: Exact solutions to the nonlinear dynamics of learning in deep linear networks, 2013.
    """

    def __init__(self, scale: float = 1.1, dtype: Any = None, mode: str = "auto", rng: Any = None) -> None:
        if mode not in MODES:
            raise ValueError(f"Orthogonal: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
        self.scale, self.mode, self.rng = scale, mode, rng
        super().__init__(dtype)

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the array: Q of the QR decomposition of random numbers, where the diagonal of R is not negative."""
        if not math.prod(shape):
            raise ValueError(f"Orthogonal: expected an array that is not empty, got shape {shape}")
        rows, columns = (shape[0] if shape else 1), math.prod(shape[1:])
        fits = {"auto": True, "projection": rows <= columns, "embedding": rows >= columns, "basis": rows == columns}
        if not fits[self.mode]:
            raise ValueError(
                f"Orthogonal: no {self.mode} of shape {shape}, a matrix with {rows} rows, {columns} columns"
            )
        xp, wide = device.backend.xp, device.backend.wide(dtype)  # no library decomposes float16
        drawn = Normal(1.0, rng=self.rng).generate((rows, columns), wide, device)
        q, r = xp.linalg.qr(xp.matrix_transpose(drawn) if rows < columns else drawn, mode="reduced")
        if device.backend.is_kind(wide, "complex floating"):
            q = xp.multiply(q, xp.multiply(xp.sign(xp.linalg.diagonal(r)), self.scale))
            return xp.reshape(xp.conj(xp.matrix_transpose(q)) if rows < columns else q, shape)
        positive = xp.astype(xp.greater_equal(xp.linalg.diagonal(r), 0.0), wide)
        q = xp.multiply(q, xp.multiply(xp.subtract(positive, 0.5), 2.0 * self.scale))
        return xp.astype(xp.reshape(xp.matrix_transpose(q) if rows < columns else q, shape), dtype)
