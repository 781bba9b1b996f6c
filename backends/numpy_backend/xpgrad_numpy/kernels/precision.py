"""Half precision computed in single: NumPy's loops add in the dtype of the array, where sums of ones stall at 2048."""

import functools
from typing import Any

import numpy as np

from xpgrad.types import Array, Dtype

SINGLE = np.dtype(np.float32)


def is_foreign(dtype: Dtype) -> bool:
    """Return whether another package has added `dtype` to NumPy: ml_dtypes its bfloat16 and float8."""
    return dtype.isbuiltin == 2  # type: ignore[no-any-return]  # an int


@functools.lru_cache(64)
def is_foreign_float(dtype: Dtype) -> bool:
    """Return whether such a dtype is of real floating-point numbers."""
    if not is_foreign(dtype) or not np.can_cast(dtype, SINGLE):
        return False
    try:
        foreign_limits(dtype)
    except (ImportError, ValueError, KeyError, TypeError):
        return False
    return True


def foreign_limits(dtype: Dtype) -> Any:
    """Return the limits of a floating-point dtype of ml_dtypes."""
    import ml_dtypes  # which defines the dtype, so it is installed

    limits: Any = ml_dtypes.finfo
    return limits(dtype)


@functools.lru_cache(64)
def is_half(dtype: Dtype) -> bool:
    """Return whether numbers of `dtype` are floating-point and narrower than single precision."""
    dtype = np.dtype(dtype)
    return dtype.itemsize < SINGLE.itemsize and (np.issubdtype(dtype, np.floating) or is_foreign_float(dtype))


def wide(dtype: Dtype) -> Dtype:
    """Return the dtype in which sums and counts of arrays of `dtype` are computed."""
    return SINGLE if is_half(dtype) else dtype


def divided(g: Array, count: int | Array) -> Array:
    """Return ``g / count`` in the dtype of `g`, which need not be able to represent the count."""
    dtype = g.dtype
    if is_half(dtype):
        return (g.astype(SINGLE) / np.asarray(count, SINGLE)).astype(dtype)
    return g / np.asarray(count, dtype)


def kept(y: Array, dtype: Dtype) -> Array:
    """Return a result in the dtype of the operands if a package other than NumPy defines it; NumPy widens it."""
    return y.astype(dtype) if y.dtype is not dtype and is_foreign(dtype) else y
