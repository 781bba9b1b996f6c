"""Scatter-add, by MLX's own, and assignment to arrays without elements."""

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
    """Return an array without elements as it is, or decline: MLX ends the process for an index array there."""
    return NotImplemented if x.size else mx.array(x)


KERNELS: dict[str, Kernel] = {"setitem": setitem}
