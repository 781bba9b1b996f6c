"""Fourier transforms along axes of batch elements."""

from collections.abc import Sequence
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.searching import along_axis
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Kernel

row(*[f"fft.{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")])(along_axis)


@row(*[f"fft.{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn", "fftshift", "ifftshift")])
def along_axes(b: Batching, function: Kernel, x: Any, /, *, axes: Sequence[int] | None = None, **options: Any) -> Any:
    """Return a transform along several axes; by default all axes of an element, or the last axes with `s`."""
    s = options.get("s")
    if axes is None and s is not None:
        axes = tuple(range(x.ndim - len(s), x.ndim))
    return b.made(function(x.values, axes=b.axes(axes, x.ndim), **options))
