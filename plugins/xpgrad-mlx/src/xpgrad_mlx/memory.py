"""The unified memory of MLX's arrays, and MLX's dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mlx.core as mx

Array = Any
"""An array of MLX: `mlx.core.array`."""

NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64",
)  # fmt: skip
DTYPES = {name: getattr(mx, "bool_" if name == "bool" else name) for name in NAMES}
"""MLX's dtypes by the standard's names; `mlx.core.bool_` is `bool` there."""


@dataclass(frozen=True)
class Memory:
    """The memory that all of MLX's devices share: a computation is on a device, an array is not on any."""

    name: str = "unified"


UNIFIED = Memory()


def checked(device: Memory | None) -> None:
    """Raise ValueError for a device that is not MLX's memory."""
    if device is not None and device != UNIFIED:
        raise ValueError(f"mlx: arrays are in unified memory, which all its devices share; got device={device!r}")


def dtype_name(dtype: Any) -> str:
    """Return the standard's name of a dtype of MLX."""
    name = str(dtype).rpartition(".")[2]
    return "bool" if name == "bool_" else name
