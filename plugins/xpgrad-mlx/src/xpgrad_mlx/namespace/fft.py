"""The standard's extension for Fourier transforms, which MLX computes in complex64."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import Array, checked

Lengths = tuple[int, ...] | None
OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the discrete Fourier transform along one axis."""
    return mx.fft.fft(x, n, axis, norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse of `fft`."""
    return mx.fft.ifft(x, n, axis, norm)


def fftn(x: Array, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Array:
    """Return the discrete Fourier transform along several axes."""
    return mx.fft.fftn(x, s, _axes(x, s, axes), norm)


def ifftn(x: Array, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Array:
    """Return the inverse of `fftn`."""
    return mx.fft.ifftn(x, s, _axes(x, s, axes), norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the first half of the transform of real data."""
    return mx.fft.rfft(x, n, axis, norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse of `rfft`."""
    return mx.fft.irfft(x, n, axis, norm)


def rfftn(x: Array, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Array:
    """Return the transform of real data along several axes, the nonnegative frequencies along the last axis."""
    return mx.fft.rfftn(x, s, _axes(x, s, axes), norm)


def irfftn(x: Array, /, *, s: Lengths = None, axes: Lengths = None, norm: str = "backward") -> Array:
    """Return the inverse of `rfftn`."""
    return mx.fft.irfftn(x, s, _axes(x, s, axes), norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the real spectrum of the first half of Hermitian data."""
    return mx.fft.irfft(mx.conj(x), 2 * (x.shape[axis] - 1) if n is None else n, axis, OPPOSITE[norm])


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """Return the inverse of `hfft`."""
    return mx.conj(mx.fft.rfft(x, n, axis, OPPOSITE[norm]))


def fftshift(x: Array, /, *, axes: Any = None) -> Array:
    """Return a spectrum with frequency 0 in the middle."""
    return mx.fft.fftshift(x, axes)


def ifftshift(x: Array, /, *, axes: Any = None) -> Array:
    """Return the inverse of `fftshift`."""
    return mx.fft.ifftshift(x, axes)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `fft`."""
    checked(device)
    k = mx.arange(n, dtype=dtype or mx.float32)
    return mx.where(k < (n + 1) // 2, k, k - n) / (n * d)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `rfft`."""
    checked(device)
    return mx.arange(n // 2 + 1, dtype=dtype or mx.float32) / (n * d)


def _axes(x: Array, s: Lengths, axes: Lengths) -> Lengths:
    """Return the axes to transform: the last axes if only lengths are given."""
    return tuple(range(-len(s), 0)) if axes is None and s is not None else axes
