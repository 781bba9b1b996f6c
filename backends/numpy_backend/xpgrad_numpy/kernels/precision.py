"""Half precision by way of single precision: NumPy's loops add in the dtype of the array, which stalls at 2,048."""

import functools

import numpy as np

from xpgrad.types import Array, Dtype

SINGLE = np.dtype(np.float32)


@functools.lru_cache(64)
def is_half(dtype: Dtype) -> bool:
    """Tell whether numbers of `dtype` are floating-point and narrower than single precision."""
    dtype = np.dtype(dtype)
    return dtype.itemsize < SINGLE.itemsize and np.issubdtype(dtype, np.floating)


def wide(dtype: Dtype) -> Dtype:
    """Return the dtype in which sums and counts for arrays of `dtype` are made."""
    return SINGLE if is_half(dtype) else dtype


def divided(g: Array, count: int | Array) -> Array:
    """Return ``g / count`` in the dtype of `g`, in which the count need not fit."""
    dtype = g.dtype
    if is_half(dtype):
        return (g.astype(SINGLE) / np.asarray(count, SINGLE)).astype(dtype)
    return g / np.asarray(count, dtype)
