"""Initializers that draw from normal distributions."""

import math
from typing import Any

from xpgrad.backend import random
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.initializers.constant import Constant
from xpgrad.initializers.initializer import Initializer, arrived, get_fans
from xpgrad.types import Array, Dtype, Shape


class Normal(Initializer):
    """Normally distributed numbers with mean 0.

    Real and imaginary parts of complex numbers are independent, with half of the variance each.

    Parameters
    ----------
    scale : float
        The standard deviation.
    dtype : dtype or str, optional
    rng : numpy.random.RandomState or numpy.random.Generator, optional
        Generator of the numbers; by default the stream of `xpgrad.random` for the device.
    """

    def __init__(self, scale: float = 0.05, dtype: Any = None, rng: Any = None) -> None:
        self.scale, self.rng = scale, rng
        super().__init__(dtype)

    def deviation(self, shape: Shape) -> float:
        """Return the standard deviation for an array of this shape."""
        return self.scale

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the numbers."""
        deviation = self.deviation(shape)
        if self.rng is not None:
            drawn = self.rng.normal(0.0, deviation, shape)
            if device.backend.is_kind(dtype, "complex floating"):
                drawn = (drawn + 1j * self.rng.normal(0.0, deviation, shape)) * 0.5**0.5
            return arrived(type(self).__name__, drawn, dtype, device)
        return device.backend.xp.multiply(random.normal(shape, dtype, device), deviation)


class LeCunNormal(Normal):
    """Normally distributed numbers with standard deviation ``scale * sqrt(1 / fan_in)``; parameters as for `Normal`.

    References
    ----------
    LeCun, Bottou, Orr, Müller: Efficient backprop, 1998, section 4.6.
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None, rng: Any = None) -> None:
        super().__init__(scale, dtype, rng)

    def deviation(self, shape: Shape) -> float:
        """Return the standard deviation for an array of this shape."""
        return self.scale * math.sqrt(1.0 / max(get_fans(shape)[0], 1))


class GlorotNormal(LeCunNormal):
    """Normally distributed numbers with standard deviation ``scale * sqrt(2 / (fan_in + fan_out))``, as for `Normal`.

    References
    ----------
    Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks, 2010.
    """

    def deviation(self, shape: Shape) -> float:
        """Return the standard deviation for an array of this shape."""
        return self.scale * math.sqrt(2.0 / max(sum(get_fans(shape)), 1))


class HeNormal(LeCunNormal):
    """Normally distributed numbers with standard deviation ``scale * sqrt(2 / fan)``; other parameters as for `Normal`.

    Parameters
    ----------
    fan_option : "fan_in" or "fan_out"

    References
    ----------
    He, Zhang, Ren, Sun: Delving deep into rectifiers, 2015.
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None, fan_option: str = "fan_in", rng: Any = None) -> None:
        if fan_option not in ("fan_in", "fan_out"):
            raise ValueError(f"HeNormal: fan_option must be 'fan_in' or 'fan_out', got {fan_option!r}")
        self.fan_option = fan_option
        super().__init__(scale, dtype, rng)

    def deviation(self, shape: Shape) -> float:
        """Return the standard deviation for an array of this shape."""
        return self.scale * math.sqrt(2.0 / max(get_fans(shape)[self.fan_option == "fan_out"], 1))


def _get_initializer(initializer: Any) -> Any:
    """Return an initializer: `LeCunNormal` for None, `Constant` for a scalar or array, a callable itself."""
    if initializer is None:
        return LeCunNormal()
    if isinstance(initializer, type):
        name = initializer.__name__
        raise TypeError(f"initializer: expected an initializer, got the class {name}; write {name}()")
    if callable(initializer):
        return initializer
    if not plugins.is_scalar(initializer):
        try:
            plugins.backend_of(initializer)
        except Exception as error:
            raise TypeError(
                f"initializer: expected None, a scalar, an array or a callable, got {type(initializer).__name__}"
            ) from error
    return Constant(initializer)
