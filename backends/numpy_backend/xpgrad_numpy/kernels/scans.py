"""Cumulative sums and products, and products of others, of large arrays in C, with the bits of many calls of NumPy."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.plugin import Spec
from xpgrad.types import Array, Dtype, Kernel
from xpgrad_numpy.kernels.precision import SINGLE, is_half
from xpgrad_numpy.namespace import NAMESPACE

LEAST = 2**13  # elements from which a call of C is worth it


@functools.cache
def loops(dtype: Dtype) -> dict[str, Any] | None:
    """Return the functions in C for numbers of a dtype, by ufuncs, or None."""
    from xpgrad_numpy.kernels import sources  # only for large arrays, as it takes time to import

    library = sources.loaded("scan", BYTES=dtype.itemsize)
    if library is None:
        return None
    kinds = sources.INT, *[sources.POINTER] * 2, *[sources.LONG] * 5
    found = {name: sources.function(library, name, *kinds) for name in ("add", "multiply")}
    of_two = sources.INT, *[sources.POINTER] * 3, *kinds[-3:]
    return found | {name: sources.function(library, name, *of_two) for name in ("others", "cumulative_prod_backward")}


def build() -> bool:
    """Compile the libraries; return whether that was possible."""
    from xpgrad_numpy.kernels import sources  # as above

    return sources.build("scan", {"BYTES": 4}, {"BYTES": 8})


def scanned(ufunc: str, x: Array, axis: int | None) -> Any:
    """Return the cumulative results of a ufunc along an axis, or `NotImplemented`."""
    if type(x) is not np.ndarray or x.size < LEAST or x.dtype.char not in "fd" or not x.dtype.isnative:
        return NotImplemented
    if not x.flags.aligned or (x.ndim != 1 if axis is None else not -x.ndim <= axis < x.ndim):
        return NotImplemented
    axis = (axis or 0) % x.ndim
    forward = x.flags.c_contiguous
    if not (forward or np.flip(x, axis).flags.c_contiguous) or (found := loops(x.dtype)) is None:
        return NotImplemented
    from xpgrad_numpy.kernels.sources import in_threads  # as above

    y, rows, inner = np.empty(x.shape, x.dtype), math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    step = 1 if forward else -1
    in_threads(found[ufunc], rows, x.ctypes.data, y.ctypes.data, x.shape[axis], inner, step)
    return y if np.isfinite(y[(slice(None),) * axis + (-1,)]).all() else NotImplemented  # NumPy warns


def _cumulative(name: str, ufunc: str) -> Kernel:
    def kernel(
        x: Array, /, axis: int | None = None, dtype: Dtype | None = None, include_initial: bool = False
    ) -> Array:
        if dtype is None and is_half(x.dtype):
            return kernel(x.astype(SINGLE), axis, None, include_initial).astype(x.dtype)
        found = NotImplemented if dtype is not None or include_initial else scanned(ufunc, x, axis)
        if found is NotImplemented:
            return getattr(NAMESPACE, name)(x, axis=axis, dtype=dtype, include_initial=include_initial)
        return found

    return kernel


def prod_x(gy: Array, x: Array, x_spec: Spec, axis: Any, /) -> Any:
    """Return the gradient of `prod`: the cotangent times the products of all other elements, or `NotImplemented`."""
    if x.size < LEAST or x.dtype.char not in "fd" or gy.dtype != x.dtype or not (x.flags.c_contiguous and x.ndim):
        return NotImplemented
    axes = sorted(
        a % x.ndim for a in (range(x.ndim) if axis is None else axis if isinstance(axis, Sequence) else (axis,))
    )
    if not axes or axes != list(range(axes[0], x.ndim)) or not x.flags.aligned or (found := loops(x.dtype)) is None:
        return NotImplemented
    from xpgrad_numpy.kernels.sources import in_threads  # as above

    y, count = np.empty(x.shape, x.dtype), math.prod(x.shape[axes[0] :])
    given = np.require(gy, None, ["C", "A"])
    in_threads(found["others"], x.size // count, x.ctypes.data, given.ctypes.data, y.ctypes.data, count)
    return y


def cumulative_prod_x(gy: Array, x: Array, x_spec: Spec, axis: int | None, include_initial: bool, /) -> Any:
    """Return the gradient of `cumulative_prod` along the last axis, with the bits of the rule, or `NotImplemented`."""
    if x.size < LEAST or x.dtype.char not in "fd" or gy.dtype != x.dtype or gy.shape != x.shape or not x.ndim:
        return NotImplemented
    if include_initial or axis not in (x.ndim - 1, -1, None) or not (x.flags.c_contiguous and x.flags.aligned):
        return NotImplemented
    if (found := loops(x.dtype)) is None:
        return NotImplemented
    from xpgrad_numpy.kernels.sources import in_threads  # as above

    y, count = np.empty(x.shape, x.dtype), x.shape[-1]
    given = np.require(gy, None, ["C", "A"])
    arrays = x.ctypes.data, given.ctypes.data, y.ctypes.data
    in_threads(found["cumulative_prod_backward"], x.size // count, *arrays, count)
    return y if np.isfinite(y).all() else NotImplemented  # NumPy warns


SCANS: dict[str, Kernel] = {
    "cumulative_sum": _cumulative("cumulative_sum", "add"),
    "cumulative_prod": _cumulative("cumulative_prod", "multiply"),
    "cumulative_prod.x": cumulative_prod_x,
    "prod.x": prod_x,
}
