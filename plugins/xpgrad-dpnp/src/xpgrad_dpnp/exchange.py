"""Copies between dpnp arrays and host arrays."""

from typing import Any

import dpnp
import numpy as np

from xpgrad.types import Array, DeviceHandle
from xpgrad_dpnp.order import finish

HOST = 1
"""DLPack's device type of host memory."""


def to_host(x: Array) -> Array:
    """Return a copy as a NumPy array in C order.

    `asnumpy` would copy all the memory that `x` is a part of, and does not wait for other threads.
    """
    whole = x.flags.c_contiguous and x.nbytes == x.get_array().usm_data.nbytes
    y = x if whole or not x.size else dpnp.copy(x, order="C")
    if not y.size:
        return np.empty(y.shape, y.dtype)
    finish(y.sycl_queue)
    return y.get_array().usm_data.copy_to_host().view(y.dtype).reshape(y.shape)


def from_host(array: Any, device: DeviceHandle | None) -> Array:
    """Return a copy of a NumPy array, possibly byte-swapped or unaligned, on a device or on the default device."""
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return dpnp.asarray(np.require(native, requirements="A"), order="C", device=device, copy=True)


def seen(x: Any) -> Any:
    """Return another library's array in host memory as a NumPy array over that memory."""
    return x if isinstance(x, np.ndarray) else np.from_dlpack(x)
