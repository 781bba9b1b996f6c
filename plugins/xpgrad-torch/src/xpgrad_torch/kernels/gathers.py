"""The gradients of gathers: adding at positions, and into a buffer of the sweep."""

from typing import Any

import torch

from xpgrad.plugin import Spec
from xpgrad.types import Array, Index
from xpgrad_torch.kernels.indexing import forward

LARGE = 2**12
"""Elements from which it is worth looking at the numbers of rows."""


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, written into `total` if a new tensor would have the same layout."""
    if total.dtype is g.dtype and total.shape == g.shape and total.stride() == g.stride():
        return total.add_(g)
    return total + g


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate."""
    total = torch.zeros(spec.shape, dtype=spec.dtype, device=spec.device)
    for index, value in parts:
        index, flipped = forward(index, spec.shape)
        target = total if not flipped else torch.zeros_like(total)
        _add(target, index, value.to(spec.dtype))
        if flipped:
            total += target.flip(flipped)
    return total


def _add(total: torch.Tensor, index: Index, value: torch.Tensor) -> None:
    items = index if type(index) is tuple else (index,)
    arrays = [item for item in items if isinstance(item, torch.Tensor)]
    if not arrays:
        total[index] += value
        return
    boolean = any(not a.ndim and a.dtype is torch.bool for a in arrays)  # selects all or no elements
    if value.numel() >= LARGE and total.is_cpu and _is_whole(items[1:]) and _are_rows(items[0], total):
        total.index_add_(0, items[0], value.expand(len(items[0]), *total.shape[1:]))
        return
    if len(items) == len(arrays) and not boolean:  # numbers of rows, a mask, or an array for each axis
        total.index_put_(tuple(arrays), value, accumulate=True)
        return
    cells = torch.arange(total.numel(), device=total.device).reshape(total.shape)[index]
    total.view(-1).index_put_((cells.reshape(-1),), value.expand(cells.shape).reshape(-1), accumulate=True)


def _are_rows(index: Any, total: torch.Tensor) -> bool:
    """Return whether an index is numbers of rows, none of them negative or out of range."""
    if not isinstance(index, torch.Tensor) or index.ndim != 1 or index.dtype is not torch.int64 or not index.numel():
        return False
    if torch.compiler.is_compiling():
        return False
    low, high = torch.aminmax(index)
    return bool(low >= 0) and bool(high < total.shape[0])


def _is_whole(items: tuple[Any, ...]) -> bool:
    return all(item is ... or (type(item) is slice and item == slice(None)) for item in items)
