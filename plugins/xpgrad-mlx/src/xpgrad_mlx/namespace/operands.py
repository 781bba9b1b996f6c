"""Functions of two operands, one of which may be a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpgrad_mlx.memory import Array
from xpgrad_mlx.namespace.creation import asarray


def taking_large_numbers(function: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Array]:
    """Return a function of two operands that accepts integers of 2 ** 63 and more with uint64, which MLX rejects."""

    def call(x1: Any, x2: Any, /) -> Array:
        try:
            return function(x1, x2)
        except RuntimeError:
            if not any(isinstance(x, int) and x >= 2**63 for x in (x1, x2)):
                raise
            a, b = (asarray(x) if isinstance(x, int) else x for x in (x1, x2))
            return function(a, b)

    return call
