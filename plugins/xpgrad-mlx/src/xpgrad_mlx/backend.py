"""The MLX backend: differences from the defaults of `ArrayAPIBackend`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from xpgrad.plugin import ArrayAPIBackend, Device
from xpgrad_mlx import namespace
from xpgrad_mlx.capabilities import capabilities
from xpgrad_mlx.kernels.indexing import scatter_add
from xpgrad_mlx.memory import UNIFIED, Array, dtype_name
from xpgrad_mlx.namespace.creation import of_host


class MlxBackend(ArrayAPIBackend):
    """MLX's arrays, in the memory that all of its devices share."""

    def __init__(self) -> None:
        super().__init__(
            name="mlx",
            namespace=namespace,
            array_types=(mx.array,),
            devices={None: UNIFIED},
            scatter_add=scatter_add,
            module=mx,
            capabilities=capabilities(),
        )

    def handle_of(self, array: Array) -> Any:
        """Return MLX's memory, which holds all arrays."""
        return UNIFIED

    def dtype_name(self, dtype: Any) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return dtype_name(dtype)

    def move(self, array: Array, device: Device) -> Array:
        """Return a copy of `array`."""
        return mx.array(array)

    def to_host(self, array: Array) -> Any:
        """Return a copy of `array` as a NumPy array."""
        return np.array(array)

    def from_host(self, array: Any, device: Device) -> Array:
        """Return a copy of a NumPy array."""
        return of_host(array)

    def evaluate(self, arrays: Sequence[Array]) -> None:
        """Compute arrays, which MLX does when values are read."""
        mx.eval(*arrays)

    def synchronize(self, device: Device) -> None:
        """Wait for all computations in progress."""
        mx.synchronize()

    def memory_used(self, device: Device) -> int | None:
        """Return the bytes that MLX's arrays use, which it counts on GPUs only."""
        return int(mx.get_active_memory()) if mx.default_device().type == mx.gpu else None

    def free_memory(self, device: Device) -> None:
        """Give the memory back that MLX keeps for new arrays."""
        mx.clear_cache()
