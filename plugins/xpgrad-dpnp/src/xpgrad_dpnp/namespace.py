"""dpnp as an Array API namespace."""

from typing import Any

import dpnp

from xpgrad.types import Array
from xpgrad_dpnp import exchange
from xpgrad_dpnp import fft as fft
from xpgrad_dpnp import linalg as linalg
from xpgrad_dpnp.layouts import on_plain

einsum = on_plain(dpnp.einsum)
matmul = on_plain(dpnp.matmul)
tensordot = on_plain(dpnp.tensordot)
vecdot = on_plain(dpnp.vecdot)


def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """Return elements of `x1` where `condition` holds, of `x2` elsewhere.

    In C order: dpnp's own choice of an order reads foreign memory where the strides of operands are negative.
    """
    return dpnp.where(condition, x1, x2, order="C")


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
