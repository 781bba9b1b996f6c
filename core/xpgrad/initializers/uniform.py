"""Initializers that draw from uniform distributions around 0, and `Orthogonal`: rows at right angles."""

import math
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.device import Device
from xpgrad.errors import DtypeError
from xpgrad.initializers.initializer import Initializer, arrived, get_fans
from xpgrad.initializers.normal import Normal
from xpgrad.types import Array, Dtype, Shape


class Uniform(Initializer):
    """Uniformly distributed numbers from ``-scale`` to ``scale``.

    Parameters
    ----------
    scale : float
    dtype : dtype or str, optional
    rng : numpy.random.RandomState or numpy.random.Generator, optional
        Generator of the numbers; by default the stream of `xpgrad.random` for the device.

    Raises
    ------
    DtypeError
        An array is complex.
    """

    def __init__(self, scale: float = 0.05, dtype: Any = None, rng: Any = None) -> None:
        self.scale, self.rng = scale, rng
        super().__init__(dtype)

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the numbers."""
        bound = self.bound(shape)
        if not device.backend.is_kind(dtype, "real floating"):
            name = device.backend.dtype_name(dtype)
            raise DtypeError(
                f"{type(self).__name__}: expected an array of real floating-point numbers, got {name}; draw complex "
                "numbers by Normal, LeCunNormal, GlorotNormal or HeNormal"
            )
        if self.rng is not None:
            return arrived(type(self).__name__, self.rng.uniform(-bound, bound, shape), dtype, device)
        xp = device.backend.xp
        return xp.multiply(xp.subtract(random.uniform(shape, dtype, device), 0.5), 2.0 * bound)


class LeCunUniform(Uniform):
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(3 / fan_in)``; parameters as for `Uniform`.

    References
    ----------
    LeCun, Bottou, Orr, Müller: Efficient backprop, 1998, section 4.6.
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None, rng: Any = None) -> None:
        super().__init__(scale, dtype, rng)

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale * math.sqrt(3.0 / max(get_fans(shape)[0], 1))


class GlorotUniform(LeCunUniform):
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(6 / (fan_in + fan_out))``, as for `Uniform`.

    References
    ----------
    Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks, 2010.
    """

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale * math.sqrt(6.0 / max(sum(get_fans(shape)), 1))


class HeUniform(LeCunUniform):
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(6 / fan_in)``; parameters as for `Uniform`.

    References
    ----------
    He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015.
    """

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale * math.sqrt(6.0 / max(get_fans(shape)[0], 1))


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
