"""Arrays whose elements share memory: oneMKL rejects them, or gives wrong results, if dpnp passes them on."""

import functools
from typing import Any

import dpnp

from xpgrad.types import Array, Kernel


def plain(x: Any) -> Any:
    """Return `x`, or a copy if its elements share memory because of a stride of zero."""
    return dpnp.copy(x, order="C") if isinstance(x, dpnp.ndarray) and x.size and 0 in x.strides else x


def on_plain(function: Kernel) -> Kernel:
    """Return `function` so that it gets copies of spread arrays."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Array:
        return function(*map(plain, args), **kwargs)

    return call
