"""Random numbers, from the stream that `xpgrad.random.seed` sets for this thread and device."""

from typing import Any

import xpgrad
from xpgrad.types import Shape
from xpgrad_chx.array import ndarray
from xpgrad_chx.device import get_device

__all__ = ["normal", "uniform"]


def normal(loc: float = 0.0, scale: float = 1.0, size: int | Shape | None = None, device: Any = None) -> ndarray:
    """Return normal random numbers with mean `loc` and standard deviation `scale`, by default a single number."""
    drawn: Any = xpgrad.random.normal(_shape(size), device=get_device(device).place)
    return loc + scale * drawn  # type: ignore[no-any-return]  # of this class


def uniform(low: float = 0.0, high: float = 1.0, size: int | Shape | None = None, device: Any = None) -> ndarray:
    """Return numbers from the uniform distribution over the half-open range [low, high), by default a single number."""
    drawn: Any = xpgrad.random.uniform(_shape(size), device=get_device(device).place)
    return low + (high - low) * drawn  # type: ignore[no-any-return]  # of this class


def _shape(size: int | Shape | None) -> Shape:
    if size is None:
        return ()
    return (size,) if isinstance(size, int) else tuple(size)
