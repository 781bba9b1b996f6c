"""Arrays of the backend under test in every layout: transposed, with strides, reversed, with an offset, broadcast."""

from typing import Any

import numpy as np

from xpgrad import as_array, as_variable
from xpgrad.testing.arrays import placed
from xpgrad.types import Array
from xpgrad_conformance.subject import Subject

NEEDS: dict[str, tuple[str, ...]] = {
    "contiguous": (),
    "transposed": ("permute_dims",),
    "strided": (),
    "offset": (),
    "reversed": ("flip",),
    "broadcast": ("broadcast_to",),
}
"""Each layout with the functions that make it."""
LAYOUTS = tuple(NEEDS)


def constant_along(host: Any) -> Any:
    """Return a host array like `host` whose elements are the same along its first axis, as in a broadcast one."""
    return np.broadcast_to(host[:1], host.shape).copy() if host.ndim and host.size else host


def laid_out(s: Subject, host: Any, layout: str) -> Array:
    """Return a host array as one of the backend in a layout.

    "transposed": of an array in C order with reversed axes; "strided": every second element along each axis of a larger
    one, whose others are NaN; "offset": without the first row and column of a larger one; "reversed": flipped along all
    axes; "broadcast": the first element along the first axis for all of that axis.
    """
    if layout == "contiguous" or host.ndim == 0 or host.size == 0:
        return placed(host, s.device)
    if layout == "transposed":
        return as_array(s.xp.permute_dims(_placed(s, host.T), tuple(range(host.ndim))[::-1]))
    if layout == "reversed":
        return as_array(s.xp.flip(_placed(s, np.flip(host))))
    if layout == "broadcast":
        return as_array(s.xp.broadcast_to(_placed(s, host[:1]), host.shape))
    larger, inside = _surrounded(host, layout)
    return as_array(as_variable(_placed(s, larger))[inside])


def _placed(s: Subject, host: Any) -> Array:
    return placed(np.ascontiguousarray(host), s.device)


def _surrounded(host: Any, layout: str) -> tuple[Any, tuple[slice, ...]]:
    """Return a larger array around `host`, and the slices that lead to it."""
    if layout == "offset":
        shape, inside = tuple(n + 1 for n in host.shape), (slice(1, None),) * host.ndim
    else:
        shape, inside = tuple(2 * n for n in host.shape), (slice(None, None, 2),) * host.ndim
    filler = np.nan if host.dtype.kind in "fc" else 1
    larger = np.full(shape, filler, host.dtype)
    larger[inside] = host
    return larger, inside
