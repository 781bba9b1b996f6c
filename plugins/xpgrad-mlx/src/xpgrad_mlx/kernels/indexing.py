"""Scatter-add by MLX's function, and assignment to arrays without elements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mlx.core as mx

from xpgrad.plugin import flat_index
from xpgrad.types import Kernel
from xpgrad_mlx.memory import Array


def scatter_add(spec: Any, updates: Iterable[tuple[Any, Array]]) -> Array:
    """Return zeros of `spec` with all values added at their index, values at one position one after another."""
    total = mx.zeros(spec.shape, spec.dtype)
    for index, values in updates if total.size else ():  # MLX ends the process for arrays without elements
        parts = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(part, mx.array) for part in parts):
            total = total.at[index].add(values)
            continue
        places = flat_index(spec.backend, spec.shape, index, spec.device)
        if places.size:
            flat = mx.broadcast_to(values, places.shape).reshape(-1).astype(spec.dtype)
            total = total.reshape(-1).at[places.reshape(-1)].add(flat).reshape(spec.shape)
    return total


def setitem(x: Array, u: Array, *, index: Any) -> Any:
    """Return a copy of `x` with `u` at integers and slices, or at no element, where MLX crashes; else decline."""
    y = mx.array(x)
    arrays = [part for part in (index if isinstance(index, tuple) else (index,)) if isinstance(part, mx.array)]
    if not x.size or (arrays and _takes_nothing(x, index, arrays, u)):
        return y
    if not isinstance(u, mx.array) or u.dtype != x.dtype:
        return NotImplemented
    if arrays:
        taken = _taken(x, index, arrays)
        if not u.ndim or u.shape[0] != 1 or taken is None:
            return NotImplemented
        if 0 in taken:
            return y
        u = mx.broadcast_to(u, taken)  # MLX does not broadcast one row to all elements of a mask
    y[index] = u
    return y


def _taken(x: Array, index: Any, arrays: list[Array]) -> tuple[int, ...] | None:
    """Return the shape of ``x[mask]`` if the index is one mask; None for other indices."""
    if len(arrays) > 1 or arrays[0].dtype != mx.bool_ or (isinstance(index, tuple) and len(index) > 1):
        return None
    return int(mx.sum(arrays[0]).item()), *x.shape[arrays[0].ndim :]


def _takes_nothing(x: Array, index: Any, arrays: list[Array], u: Any) -> bool:
    """Return whether `index` takes no element of `x`; MLX itself takes no elements by masks, but has no empty `u`."""
    masks = [part for part in arrays if part.dtype == mx.bool_]
    if not masks:
        return not x[index].size
    return isinstance(u, mx.array) and not u.size and any(not mx.any(mask).item() for mask in masks)


KERNELS: dict[str, Kernel] = {"setitem": setitem}
