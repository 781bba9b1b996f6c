"""Fourier transforms along axes of batch elements."""

from collections.abc import Sequence
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Kernel


@row(*[f"fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")])
def along_one_axis(
    b: Batching, function: Kernel, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    """Return a transform along one axis."""
    return b.made(function(x.values, n=n, axis=b.axis(axis, x.ndim), norm=norm))


@row(*[f"fft.{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn")])
def along_axes(
    b: Batching, function: Kernel, x: Any, /, *, s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None, norm: str = "backward",
) -> Any:  # fmt: skip
    """Return a transform along several axes; by default all axes of an element, or the last axes with `s`."""
    if axes is None and s is not None:
        axes = tuple(range(x.ndim - len(s), x.ndim))
    return b.made(function(x.values, s=s, axes=b.axes(axes, x.ndim), norm=norm))


@row("fft.fftshift", "fft.ifftshift")
def shift(b: Batching, function: Kernel, x: Any, /, *, axes: Any = None) -> Any:
    """Return batch elements with frequency 0 moved to the middle, or back."""
    return b.made(function(x.values, axes=b.axes(axes, x.ndim)))
