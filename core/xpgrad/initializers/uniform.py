"""Initializers that draw from uniform distributions around 0."""

import math
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.device import Device
from xpgrad.errors import DtypeError
from xpgrad.initializers.initializer import Initializer, arrived, get_fans
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
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(3 / fan_in)``.

    Parameters
    ----------
    scale : float
    dtype : dtype or str, optional
    rng : numpy.random.RandomState or numpy.random.Generator, optional

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
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(6 / (fan_in + fan_out))``.

    Parameters are the same as for `LeCunUniform`.

    References
    ----------
    Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks, 2010.
    """

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale * math.sqrt(6.0 / max(sum(get_fans(shape)), 1))


class HeUniform(LeCunUniform):
    """Uniformly distributed numbers from ``-s`` to ``s = scale * sqrt(6 / fan_in)``.

    Parameters are the same as for `LeCunUniform`.

    References
    ----------
    He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015.
    """

    def bound(self, shape: Shape) -> float:
        """Return the end of the interval for an array of this shape."""
        return self.scale * math.sqrt(6.0 / max(get_fans(shape)[0], 1))
