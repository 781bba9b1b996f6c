"""Indexing and assignment, as NumPy does them."""

import numpy as np

from xpgrad.types import Array, Index, Kernel


def getitem(x: Array, /, index: Index) -> Array:
    """Return ``x[index]``; with the ellipsis, NumPy returns 0-d arrays instead of scalars."""
    return x[index, ...] if type(index) is int else x[index]


def setitem(x: Array, u: Array, /, index: Index) -> Array:
    """Return a copy of `x` with `u` at `index`."""
    y = np.array(x, copy=True)
    y[index] = u
    return y


def take(x: Array, indices: Array, /, axis: int | None = None) -> Array:
    """Return the elements at `indices` along one axis."""
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis= is needed for an array of {x.ndim} axes")
    return x.take(indices, axis)


INDEXING: dict[str, Kernel] = {"getitem": getitem, "setitem": setitem, "take": take}
