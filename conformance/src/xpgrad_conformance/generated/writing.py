"""Writes to arrays of the backend, where its library allows them."""

from typing import Any

from xpgrad.types import Array

WRITES = "in_place_update", "index_assignment"
"""The facts without which arrays are not written to."""


def overwrite(array: Array, value: Any) -> bool:
    """Write an array or a number to `array`; return False if its library rejects the write, as for read-only arrays."""
    try:
        array[...] = value
    except (TypeError, ValueError, RuntimeError):
        return False
    return True
