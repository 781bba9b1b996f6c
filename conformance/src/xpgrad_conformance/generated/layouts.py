"""Arrays of the backend under test in every layout: transposed, with strides, reversed, with an offset, broadcast."""

from typing import Any

import numpy as np

from xpgrad import as_array, as_variable
from xpgrad.testing.arrays import placed
from xpgrad.types import Array, Shape
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
    """Return a host array like `host` whose elements are equal along one axis, as in a broadcast array.

    It is the first axis, or for some shapes the middle of three or the last of two axes.
    """
    if not host.ndim or not host.size:
        return host
    axis = host.ndim // 2 if sum(host.shape) % 2 else 0
    return np.broadcast_to(np.take(host, [0], axis), host.shape).copy()


def constant_axis(host: Any) -> int:
    """Return the axis along which elements are equal: the first or the middle axis."""
    if host.ndim < 2:
        return 0
    middle = host.ndim // 2
    first = np.take(host, [0], middle)
    return middle if np.broadcast_to(first, host.shape).tobytes() == np.ascontiguousarray(host).tobytes() else 0


def laid_out(s: Subject, host: Any, layout: str) -> Array:
    """Return a host array as one of the backend in a layout.

    "transposed": an array in C order with reversed axes; "strided": every second element along each axis of a larger
    array, whose other elements are NaN; "offset": a larger array without its first row and column, or for some shapes
    without only the first column; "reversed": flipped along all axes; "broadcast": the first element along the first or
    the middle axis for all of that axis.
    """
    if layout == "contiguous" or host.ndim == 0 or host.size == 0:
        return placed(host, s.device)
    if layout == "transposed":
        return as_array(s.xp.permute_dims(_placed(s, host.T), tuple(range(host.ndim))[::-1]))
    if layout == "reversed":
        return as_array(s.xp.flip(_placed(s, np.flip(host))))
    if layout == "broadcast":
        return as_array(s.xp.broadcast_to(_placed(s, np.take(host, [0], constant_axis(host))), host.shape))
    larger, inside = _surrounded(host, layout)
    return as_array(as_variable(_placed(s, larger))[inside])


def _placed(s: Subject, host: Any) -> Array:
    return placed(np.ascontiguousarray(host), s.device)


def _surrounded(host: Any, layout: str) -> tuple[Any, tuple[slice, ...]]:
    """Return a larger array around `host`, and the slices that select `host`."""
    shape, inside = surrounding(host.shape, layout)
    filler = np.nan if host.dtype.kind in "fc" else host.flat[-1]  # an index in range, where `host` has indices
    larger = np.full(shape, filler, host.dtype)
    larger[inside] = host
    return larger, inside


def surrounding(shape: Shape, layout: str) -> tuple[Shape, tuple[slice, ...]]:
    """Return the shape of a larger array around one in the layout "strided" or "offset", and the slices to that."""
    if layout == "strided":
        return tuple(2 * n for n in shape), (slice(None, None, 2),) * len(shape)
    axes = {1} if len(shape) > 1 and sum(shape) % 2 else {*range(len(shape))}
    inside = tuple(slice(1 if axis in axes else None, None) for axis in range(len(shape)))
    return tuple(n + (axis in axes) for axis, n in enumerate(shape)), inside
