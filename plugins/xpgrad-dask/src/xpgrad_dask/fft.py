"""The extension `fft`: NumPy's transforms, the transformed axes in one chunk each."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xpgrad.types import Array
from xpgrad_dask.blocks import whole
from xpgrad_dask.creation import cut
from xpgrad_dask.libraries import compat, da, host


def _transform(name: str) -> Callable[..., Array]:
    @functools.wraps(getattr(host.fft, name))
    def one(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
        return _blockwise(
            name, x, [normalize_axis_index(axis, x.ndim)], None if n is None else [n], n=n, axis=axis, norm=norm
        )

    return one


def _transform_nd(name: str) -> Callable[..., Array]:
    @functools.wraps(getattr(host.fft, name))
    def several(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Array:
        if axes is None:
            axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
        return _blockwise(
            name,
            x,
            [normalize_axis_index(a, x.ndim) for a in axes],
            None if s is None else list(s),
            s=s,
            axes=axes,
            norm=norm,
        )

    return several


LENGTHS: dict[str, Callable[[int], int]] = {
    "rfft": lambda n: n // 2 + 1,
    "ihfft": lambda n: n // 2 + 1,
    "irfft": lambda n: 2 * (n - 1),
    "hfft": lambda n: 2 * (n - 1),
    "rfftn": lambda n: n // 2 + 1,
    "irfftn": lambda n: 2 * (n - 1),
}
"""The default length of the last transformed axis of the result."""
SHORT = "irfft", "hfft", "irfftn"
"""Transforms whose given length is that of the result."""


def _blockwise(name: str, x: Array, moved: list[int], lengths: list[int] | None, **options: Any) -> Array:
    """Return a NumPy transform, which changes only the lengths of the axes `moved`, chunk by chunk."""
    x = whole(x, moved)
    function = functools.partial(getattr(host.fft, name), **options)
    sample = getattr(host.fft, name)(np.ones((2,) * x.ndim, x.dtype))
    given = [x.shape[a] for a in moved] if lengths is None else lengths
    if name in LENGTHS and (lengths is None or name not in SHORT):
        given = [*given[:-1], LENGTHS[name](given[-1])]
    made = dict(zip(moved, given, strict=True))
    chunks = tuple((made[i],) if i in made else x.chunks[i] for i in range(x.ndim))
    return da.map_blocks(function, x, chunks=chunks, dtype=sample.dtype, meta=np.empty((0,) * x.ndim, sample.dtype))


fft, ifft, rfft, irfft, hfft, ihfft = map(_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_transform_nd, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `fft`."""
    return cut(host.fft.fftfreq(n, d=d, dtype=dtype))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `rfft`."""
    return cut(host.fft.rfftfreq(n, d=d, dtype=dtype))


def __getattr__(name: str) -> Any:
    return getattr(compat.fft, name)
