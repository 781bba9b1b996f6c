"""Scatter-add, by MLX's own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import mlx.core as mx

from xpgrad.plugin import flat_index
from xpgrad_mlx.memory import Array


def scatter_add(spec: Any, updates: Iterable[tuple[Any, Array]]) -> Array:
    """Return zeros of `spec` with all values added at their index, values at one position one after another."""
    total = mx.zeros(math.prod(spec.shape), spec.dtype)
    for index, values in updates:
        places = flat_index(index, spec)
        if places.size:
            flat = mx.broadcast_to(values, places.shape).reshape(-1)
            total = total.at[places.reshape(-1)].add(flat.astype(spec.dtype))
    return total.reshape(spec.shape)
