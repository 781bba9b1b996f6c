"""Indexing by NumPy's rules where PyTorch differs: negative steps, and integers next to arrays."""

from typing import Any

import torch

from xpgrad.types import Array, Index, Shape

_BASIC = frozenset((int, slice, type(None), type(...)))


def getitem(x: Array, /, index: Index) -> Array:
    """Return ``x[index]``."""
    if type(index) is int:
        return x[index]
    index, flipped = forward(index, x.shape)
    return (x.flip(flipped) if flipped else x)[index]


def setitem(x: Array, u: Array, /, index: Index) -> Array:
    """Return a copy of `x` with `u` at `index`."""
    index, flipped = forward(index, x.shape)
    y = x.flip(flipped) if flipped else x.clone()
    y[index] = u
    return y.flip(flipped) if flipped else y


def take(x: Array, indices: Array, /, axis: int | None = None) -> Array:
    """Return the elements at `indices` along one axis; negative ones count from the end."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis= is needed for an array of {x.ndim} axes")
        axis = 0
    if x.device.type == "cpu":
        try:
            return torch.index_select(x, axis, _numbers(indices))
        except (IndexError, RuntimeError):
            pass  # negative or out of range: indexing handles or reports them
    x.size(axis)  # an error if there is no such axis
    return x[(slice(None),) * (axis % max(x.ndim, 1)) + (_numbers(indices),)]


def forward(index: Index, shape: Shape) -> tuple[Index, tuple[int, ...]]:
    """Return an index that PyTorch takes as NumPy does, and the axes of the array to flip before.

    A slice with a negative step becomes a slice of a flipped axis. A whole number next to arrays becomes an array,
    because PyTorch treats it as a slice that is dropped, and puts the axis of the arrays at another position. Index
    arrays are cast to a dtype that is not a mask.
    """
    items = index if type(index) is tuple else (index,)
    if all(type(item) in _BASIC and (type(item) is not slice or not _backward(item)) for item in items):
        return index, ()
    items = _whole(items, len(shape))
    arrays = [item for item in items if isinstance(item, torch.Tensor)]
    ndim = max((1 if a.dtype is torch.bool else a.ndim for a in arrays), default=0)
    flipped, found, axis = [], [], 0
    for item in items:
        if isinstance(item, torch.Tensor):
            found.append(_numbers(item))
            axis += item.ndim if item.dtype is torch.bool else 1
            continue
        if type(item) is slice and _backward(item):
            item = _reversed(item, shape[axis])
            flipped.append(axis)
        elif type(item) is int and ndim:
            item = torch.full((1,) * ndim, item, device=arrays[0].device)
        found.append(item)
        axis += item is not None
    return tuple(found), tuple(flipped)


def _backward(item: slice) -> bool:
    return item.step is not None and item.step < 0


def _reversed(item: slice, length: int) -> slice:
    """Return the slice of the flipped axis that selects the same elements as `item`, whose step is negative."""
    start, stop, step = item.indices(length)
    return slice(length - 1 - start, max(length - 1 - stop, length - 1 - start), -step)


def _whole(items: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """Return the items with slices in place of an ellipsis."""
    place = next((i for i, item in enumerate(items) if item is ...), None)
    if place is None:
        return items
    used = sum(0 if item is None or item is ... else item.ndim if _is_mask(item) else 1 for item in items)
    return *items[:place], *(slice(None),) * (ndim - used), *items[place + 1 :]


def _is_mask(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.dtype is torch.bool


def _numbers(item: torch.Tensor) -> torch.Tensor:
    return item if item.dtype in (torch.int64, torch.int32, torch.bool) else item.to(torch.int64)


INDEXING = {"getitem": getitem, "setitem": setitem, "take": take}
