"""Filters of convolutions that enlarge or shrink images by linear interpolation."""

from typing import Any

from xpgrad.backend.device import Device
from xpgrad.initializers.initializer import Initializer
from xpgrad.types import Array, Dtype, Shape


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
