"""Scatter-add, by MLX's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mlx.core as mx

from xpgrad.plugin import flat_index
from xpgrad_mlx.memory import Array


def scatter_add(spec: Any, updates: Iterable[tuple[Any, Array]]) -> Array:
    """Return zeros of `spec` with all values added at their index, values at one position one after another."""
    total = mx.zeros(spec.shape, spec.dtype)
    for index, values in updates:
        parts = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(part, mx.array) for part in parts):
            total = total.at[index].add(values)
            continue
        places = flat_index(spec.backend, spec.shape, index, spec.device)
        if places.size:
            flat = mx.broadcast_to(values, places.shape).reshape(-1).astype(spec.dtype)
            total = total.reshape(-1).at[places.reshape(-1)].add(flat).reshape(spec.shape)
    return total
