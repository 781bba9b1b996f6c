"""The extension `fft`: NumPy's transforms, the transformed axes in one chunk each."""

import functools
from collections.abc import Callable
from typing import Any

import array_api_compat.numpy.fft as host
import dask.array as da
import numpy as np
from array_api_compat.dask.array import fft as compat

from xpgrad.types import Array
from xpgrad_dask.blocks import whole


def _transform(name: str) -> Callable[..., Array]:
    function = getattr(host, name)

    @functools.wraps(function)
    def one(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
        return _blockwise(function, x, [axis % x.ndim], n=n, axis=axis, norm=norm)

    return one


def _transform_nd(name: str) -> Callable[..., Array]:
    function = getattr(host, name)

    @functools.wraps(function)
    def several(x: Array, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Array:
        if axes is None:
            axes = tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))
        return _blockwise(function, x, [a % x.ndim for a in axes], s=s, axes=axes, norm=norm)

    return several


def _blockwise(function: Callable[..., Any], x: Array, axes: list[int], **options: Any) -> Array:
    """Return ``function(x, **options)``, which changes the lengths of `axes` only, chunk by chunk."""
    x = whole(x, axes)
    sample = function(np.zeros(tuple(n if i in axes else 1 for i, n in enumerate(x.shape)), x.dtype), **options)
    chunks = tuple((sample.shape[i],) if i in axes else x.chunks[i] for i in range(x.ndim))
    return da.map_blocks(function, x, chunks=chunks, meta=np.empty((0,) * x.ndim, sample.dtype), **options)


fft, ifft, rfft, irfft, hfft, ihfft = map(_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_transform_nd, ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `fft`."""
    return da.from_array(host.fftfreq(n, d=d, dtype=dtype))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `rfft`."""
    return da.from_array(host.rfftfreq(n, d=d, dtype=dtype))


def __getattr__(name: str) -> Any:
    return getattr(compat, name)
