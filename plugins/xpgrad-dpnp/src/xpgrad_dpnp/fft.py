"""The standard's Fourier transforms: dpnp's, of arrays in plain memory."""

from collections.abc import Sequence
from typing import Any

import dpnp

from xpgrad.types import Array
from xpgrad_dpnp.layouts import on_plain


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """Return the inverse of `rfft`, from a copy, because dpnp overwrites its input."""
    return dpnp.fft.irfft(dpnp.copy(x, order="C"), n=n, axis=axis, norm=norm)


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = "backward",
) -> Array:
    """Return the inverse of `rfftn`, from a copy for the same reason."""
    return dpnp.fft.irfftn(dpnp.copy(x, order="C"), s=s, axes=axes, norm=norm)


def __getattr__(name: str) -> Any:
    found = getattr(dpnp.fft, name)
    return on_plain(found) if callable(found) and not isinstance(found, type) else found
