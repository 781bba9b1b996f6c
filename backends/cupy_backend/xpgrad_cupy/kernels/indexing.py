"""Indexing: CuPy silently wraps indices that are out of range, so debug mode checks them first.

To look is to wait for the GPU, so it is done in debug mode only. Outside of it a number in an index array that is
beyond the ends counts on from the other end, as often as it takes. These kernels do not compute: having looked, they
decline.
"""

from typing import Any

import cupy

from xpgrad.plugin import config
from xpgrad.types import Array, Index, Kernel


def getitem(x: Array, /, index: Index) -> Any:
    """Check the index of ``x[index]``."""
    if config.debug:
        check_index(x, index)
    return NotImplemented


def setitem(x: Array, u: Array, /, index: Index) -> Any:
    """Check the index of an assignment."""
    if config.debug:
        check_index(x, index)
    return NotImplemented


def take(x: Array, indices: Array, /, axis: int | None = None) -> Any:
    """Check positions along one axis."""
    if config.debug:
        check(indices, x.shape[axis or 0])
    return NotImplemented


def take_along_axis(x: Array, indices: Array, /, axis: int = -1) -> Any:
    """Check positions along one axis, line by line."""
    if config.debug:
        check(indices, x.shape[axis])
    return NotImplemented


def check_index(x: Array, index: Index) -> None:
    """Raise `IndexError` if an integer array in `index` has numbers out of range for its axis."""
    items: Any = index if type(index) is tuple else (index,)
    used, axis = sum(map(_axes_of, items)), 0
    for item in items:
        if _kind_of(item) in "iu":
            check(item, x.shape[axis])
        axis += x.ndim - used if item is Ellipsis else _axes_of(item)


def check(places: Array, length: int) -> None:
    """Raise `IndexError` unless all numbers are from ``-length`` to ``length - 1``; this waits for the GPU."""
    outside = places >= length
    if places.dtype.kind == "i":
        outside |= places < -length
    if bool(outside.any()):
        raise IndexError(f"an index array has numbers that are out of range for an axis of length {length}")


def _kind_of(item: Any) -> str:
    """Return the kind of an array's dtype, a blank for other objects."""
    return str(item.dtype.kind) if type(item) is cupy.ndarray else " "


def _axes_of(item: Any) -> int:
    """Return the number of axes that an item of an index consumes; an ellipsis consumes the rest."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if _kind_of(item) == "b" else 1


WATCHED: dict[str, Kernel] = {"getitem": getitem, "setitem": setitem, "take": take, "take_along_axis": take_along_axis}
