"""dpnp as an Array API namespace."""

from typing import Any

import dpnp

from xpgrad.types import Array, Kernel
from xpgrad_dpnp import exchange
from xpgrad_dpnp import fft as fft
from xpgrad_dpnp import linalg as linalg
from xpgrad_dpnp.layouts import on_plain
from xpgrad_dpnp.order import settled

LARGE = frozenset(map(dpnp.dtype, ("uint32", "uint64")))
"""Dtypes to which dpnp converts no floating-point numbers beyond those of the signed dtype of their size."""

einsum = on_plain(dpnp.einsum)
matmul = on_plain(dpnp.matmul)
tensordot = on_plain(dpnp.tensordot)
vecdot = on_plain(dpnp.vecdot)


def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """Return elements of `x1` where `condition` holds, else elements of `x2`.

    In C order: dpnp's own choice of an order reads foreign memory where the strides of operands are negative.
    """
    return dpnp.where(condition, x1, x2, order="C")


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype.

    Conversion goes through int64 where dpnp would convert large numbers of uint32 and uint64 to 2**31 and 2**63.
    """
    dtype = dpnp.dtype(dtype)
    if x.dtype.kind != "f" or dtype not in LARGE:
        return dpnp.astype(x, dtype, copy=copy, device=device)
    if dtype == dpnp.uint32:
        return dpnp.astype(dpnp.astype(x, dpnp.int64), dtype, device=device)
    large = x >= 2.0**63
    low = dpnp.astype(dpnp.where(large, x - 2.0**63, x), dpnp.int64)
    y = dpnp.astype(low, dtype, device=device)
    return y + dpnp.astype(large, dtype, device=device) * dtype.type(2**63)


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the first position of a maximum, or of a NaN; dpnp's function returns any of several NaN."""
    return _first(dpnp.argmax, x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first minimum, or of the first NaN."""
    return _first(dpnp.argmin, x, axis, keepdims)


def _first(function: Kernel, x: Array, axis: int | None, keepdims: bool) -> Array:
    found = function(x, axis=axis, keepdims=keepdims)
    if x.dtype.kind not in "fc":
        return found
    nan = dpnp.isnan(x)
    first = dpnp.argmax(nan, axis=axis, keepdims=keepdims)
    return dpnp.where(dpnp.any(nan, axis=axis, keepdims=keepdims), first, found)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return `x` sorted, stably, by merging.

    The driver for CPUs may crash when it compiles dpnp's other algorithm, its choice for integers of 8 and 16 bits.
    """
    return dpnp.sort(x, axis=axis, kind="mergesort", descending=descending)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort `x`, stably, by merging for the same reason."""
    return dpnp.argsort(x, axis=axis, kind="mergesort", descending=descending)


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """Return elements at `indices` of an axis, after dpnp has finished its tasks."""
    return settled(dpnp.take(x, indices, axis=axis))


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Return an element at each of `indices` along an axis, after dpnp has finished its tasks."""
    return settled(dpnp.take_along_axis(x, indices, axis=axis))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return another library's array as a dpnp array; host memory is copied, by default to the default device.

    dpnp's own function gives a NumPy array for host memory, or fails over layouts.
    """
    if int(x.__dlpack_device__()[0]) != exchange.HOST:
        return dpnp.from_dlpack(x, device=device, copy=copy)
    if copy is False:
        raise BufferError("from_dlpack: expected memory of a SYCL device, got the host's, which copy=False cannot move")
    return exchange.from_host(exchange.seen(x), device)


def __getattr__(name: str) -> Any:
    return getattr(dpnp, name)
