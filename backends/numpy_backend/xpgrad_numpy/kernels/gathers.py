"""What gathers need in their gradients: adding into positions, and into a buffer that belongs to the sweep."""

from typing import Any

import numpy as np

from xpgrad.plugin import Spec
from xpgrad.types import Array, Index

_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, written into `total`."""
    if total.dtype is not g.dtype or total.shape != g.shape:
        return total + g
    return np.add(total, g, out=total)


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate."""
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        if _is_basic(index):
            total[index] += value
        else:
            np.add.at(total, index, value)
    return total


def _is_basic(index: Any) -> bool:
    if type(index) is tuple:
        return all(isinstance(item, _BASIC) and not isinstance(item, bool) for item in index)
    return isinstance(index, _BASIC) and not isinstance(index, bool)
