"""The standard's Fourier transforms: dpnp's, of arrays in plain memory."""

from collections.abc import Sequence
from typing import Any

import dpnp

from xpgrad.types import Array
from xpgrad_dpnp.devices import is_processor
from xpgrad_dpnp.layouts import on_plain

LONG = 8192
"""Beyond this, oneMKL gives wrong results of one real transform of even length in single precision on CPUs."""
SINGLE = frozenset(map(dpnp.dtype, ("complex64", "float32")))


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """Return the inverse of `rfft`, from a copy, because dpnp overwrites its input."""
    return _in_dtype_of(x, dpnp.fft.irfft(_copied(x, n, axis), n=n, axis=axis, norm=norm))


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str | None = "backward") -> Array:
    """Return the transform of a signal with Hermitian symmetry, from a copy for the same reason."""
    return _in_dtype_of(x, dpnp.fft.hfft(_copied(x, n, axis), n=n, axis=axis, norm=norm))


def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = "backward",
) -> Array:
    """Return the inverse of `rfftn`, from a copy for the same reason."""
    n, axis = s[-1] if s else None, axes[-1] if axes else -1
    return _in_dtype_of(x, dpnp.fft.irfftn(_copied(x, n, axis), s=s, axes=axes, norm=norm))


def _copied(x: Array, n: int | None, axis: int) -> Array:
    """Return a copy of `x` in C order, in double precision where oneMKL's single precision may be wrong."""
    length = (2 * (x.shape[axis] - 1) if n is None else n) if x.ndim else 0
    if x.dtype in SINGLE and length > LONG and length % 2 == 0 and is_processor(x.device):
        return dpnp.astype(x, "complex128", order="C")
    return dpnp.copy(x, order="C")


def _in_dtype_of(x: Array, y: Array) -> Array:
    return dpnp.astype(y, "float32", copy=False) if x.dtype in SINGLE else y


def __getattr__(name: str) -> Any:
    found = getattr(dpnp.fft, name)
    return on_plain(found) if callable(found) and not isinstance(found, type) else found
