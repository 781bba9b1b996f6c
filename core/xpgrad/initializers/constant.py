"""Initializers without random numbers: constants, the identity, and filters of linear interpolation."""

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


class UpsamplingDeconvFilter(Initializer):
    """Filters with which a deconvolution of stride ``(ksize + 1) // 2`` enlarges each channel separately.

    Parameters
    ----------
    interpolation : "linear"
    dtype : dtype or str, optional

    Raises
    ------
    ValueError
        `interpolation` is another, or an array has not the shape (C, C, k, ..., k) or (C, 1, k, ..., k).

    References
    ----------
    Long, Shelhamer, Darrell: Fully convolutional networks for semantic segmentation, 2015, section 3.3.
    """

    normalized = False

    def __init__(self, interpolation: str = "linear", dtype: Any = None) -> None:
        if interpolation != "linear":
            raise ValueError(f"{type(self).__name__}: interpolation must be 'linear', got {interpolation!r}")
        super().__init__(dtype)

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the filters."""
        if len(shape) < 3 or shape[1] not in (1, shape[0]) or len(set(shape[2:])) != 1:
            expected = "an array of shape (C, C, k, ..., k) or (C, 1, k, ..., k)"
            raise ValueError(f"{type(self).__name__}: expected {expected}, got {shape}")
        xp, size, ndim = device.backend.xp, shape[2], len(shape) - 2
        factor = (size + 1) // 2
        centre = factor - (1.0 if size % 2 else 0.5)
        line = [1.0 - abs(i - centre) / factor for i in range(size)]
        total = sum(line) if self.normalized else 1.0
        ramp = device.backend.asarray([each / total for each in line], dtype, device.handle)
        if shape[1] == 1:
            values = xp.ones((shape[0], *(1,) * (ndim + 1)), dtype=dtype, device=device.handle)
        else:
            eye = xp.eye(shape[0], dtype=dtype, device=device.handle)
            values = xp.reshape(eye, (*shape[:2], *(1,) * ndim))
        for axis in range(ndim):
            values = xp.multiply(values, xp.reshape(ramp, tuple(size if i == axis else 1 for i in range(ndim))))
        return values


class DownsamplingConvFilter(UpsamplingDeconvFilter):
    """Filters with sum 1 with which a convolution of stride ``(ksize + 1) // 2`` shrinks each channel separately.

    Parameters and errors are the same as for `UpsamplingDeconvFilter`.
    """

    normalized = True
