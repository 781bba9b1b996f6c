"""The backend: what of MLX differs from what `ArrayAPIBackend` expects."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from xpgrad.plugin import ArrayAPIBackend, Capabilities
from xpgrad_mlx import namespace
from xpgrad_mlx.kernels.indexing import scatter_add
from xpgrad_mlx.memory import UNIFIED, Array, dtype_name
from xpgrad_mlx.namespace.creation import of_host

MISSING = {
    "several_devices": "all of MLX's devices share one memory, and an array is not on any of them",
    "complex128": "MLX has complex64 only",
    "checked_index_arrays": "MLX does not check indices: those out of range read other memory",
    "dlpack_shares_memory": "MLX copies what comes in by DLPack",
    "memory_used": "MLX's CPU build does not count memory",
}
EXPECTED = {
    "D06*": "MLX's arrays have no reflected bitwise operators: 1 | x is a TypeError",
    "K01[operator-shift-scalar*": "MLX's arrays have no reflected bitwise operators: 1 & x is a TypeError",
    "P04*": "MLX computes an array that is not yet computed only in the thread that made it",
    "J12*": "MLX computes an array that is not yet computed only in the thread that made it",
    "R03*": "MLX pickles float64 as float32",
}


class MlxBackend(ArrayAPIBackend):
    """MLX's arrays, in the memory that all of its devices share."""

    def __init__(self) -> None:
        super().__init__(
            name="mlx",
            namespace=namespace,
            array_types=(mx.array,),
            devices={None: UNIFIED},
            scatter_add=
            module=mx,
            capabilities=Capabilities(MISSING, expected=EXPECTED),
        )

    def handle_of(self, array: Array) -> Any:
        """Return MLX's memory, where all arrays are."""
        return UNIFIED

    def dtype_name(self, dtype: Any) -> str:
        """Return the short name of `dtype`: ``float32``."""
        return dtype_name(dtype)

    def move(self, array: Array, device: Any) -> Array:
        """Return a copy of `array`."""
        return mx.array(array)

    def to_host(self, array: Array) -> Any:
        """Return a copy of `array` as a NumPy array."""
        return np.array(array)

    def from_host(self, array: Any, device: Any) -> Array:
        """Return a copy of a NumPy array."""
        return of_host(array)

    def synchronize(self, device: Any) -> None:
        """Wait for all that has been started."""
        mx.synchronize()
