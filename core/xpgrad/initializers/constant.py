"""Initializers without random numbers: constants and the identity."""

from typing import Any

from xpgrad.backend.device import Device
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.initializers.initializer import Initializer, arrived
from xpgrad.types import Array, Dtype, Shape


class Constant(Initializer):
    """A scalar or an array, which broadcasts.

    Parameters
    ----------
    fill_value : scalar or array
    dtype : dtype or str, optional

    Raises
    ------
    ShapeError
        The value does not broadcast to an array.
    DtypeError
        The value is complex, but an array is real.
    """

    def __init__(self, fill_value: Any, dtype: Any = None) -> None:
        self.fill_value = fill_value
        super().__init__(dtype)

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return an array full of the value."""
        xp, values = device.backend.xp, arrived(type(self).__name__, self.fill_value, dtype, device)
        while values.ndim > len(shape) and values.shape[0] == 1:  # as NumPy assigns
            values = values[0, ...]
        own = tuple(values.shape)
        if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)):
            raise ShapeError(f"{type(self).__name__}: expected values that broadcast to shape {shape}, got shape {own}")
        return xp.asarray(xp.broadcast_to(values, shape), copy=True)


class Zero(Constant):
    """Zeros, in `dtype` if it is given."""

    def __init__(self, dtype: Any = None) -> None:
        super().__init__(0.0, dtype)


class One(Constant):
    """Ones, in `dtype` if it is given."""

    def __init__(self, dtype: Any = None) -> None:
        super().__init__(1.0, dtype)


class NaN(Constant):
    """NaN everywhere, in `dtype` if it is given: what is used before it is set shows.

    Raises
    ------
    DtypeError
        An array of integers or booleans, which have no NaN.
    """

    def __init__(self, dtype: Any = None) -> None:
        super().__init__(float("nan"), dtype)

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return an array of NaN."""
        if not device.backend.is_kind(dtype, ("real floating", "complex floating")):
            name = device.backend.dtype_name(dtype)
            raise DtypeError(f"NaN: expected an array of floating-point numbers, got {name}; use Zero, or Constant")
        return super().generate(shape, dtype, device)


class Identity(Initializer):
    """The identity matrix times `scale`.

    Parameters
    ----------
    scale : float
    dtype : dtype or str, optional

    Raises
    ------
    ValueError
        An array is not a square matrix.
    """

    def __init__(self, scale: float = 1.0, dtype: Any = None) -> None:
        self.scale = scale
        super().__init__(dtype)

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the matrix."""
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"Identity: expected an array of shape (N, N), got {shape}")
        xp, scale = device.backend.xp, arrived("Identity", self.scale, dtype, device)
        diagonal = xp.eye(shape[0], dtype=device.backend.namespace.bool, device=device.handle)
        return xp.where(diagonal, scale, xp.zeros_like(scale))
