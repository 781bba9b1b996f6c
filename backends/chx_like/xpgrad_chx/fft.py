"""The standard's extension `fft` over chx arrays."""

from typing import Any

from xpgrad.plugin import CHAPTERS
from xpgrad.types import Dtype
from xpgrad_chx.array import ndarray
from xpgrad_chx.device import get_device
from xpgrad_chx.library import functions
from xpgrad_chx.memory import over


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return the sample frequencies of `fft` for `n` samples at distance `d`."""
    return _made("fftfreq", n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return the sample frequencies of `rfft` for `n` samples at distance `d`."""
    return _made("rfftfreq", n, d, dtype, device)


def _made(name: str, n: int, d: float, dtype: Dtype | None, device: Any) -> ndarray:
    place = get_device(device)
    data = place.function(f"fft.{name}")(n, d=d, dtype=dtype, device=place.handle)
    return over(ndarray, data, place)  # type: ignore[no-any-return]  # of this class


__all__ = [name.removeprefix("fft.") for name in CHAPTERS["fft"]]  # pyright: ignore[reportUnsupportedDunderAll]  # names of functions that are made
globals().update(functions((name for name in __all__ if name not in globals()), "fft."))
