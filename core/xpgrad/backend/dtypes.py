"""The dtypes of the current library, and mixed precision."""

from typing import Any

from xpgrad.backend.current import current_device
from xpgrad.backend.spellings import resolve
from xpgrad.config import config
from xpgrad.types import Dtype


class _Mixed16:
    """The dtype-like object for mixed precision: arrays are float16, parameters float32."""

    @property
    def dtype(self) -> Dtype:
        """The dtype float16 of the current device's library."""
        return resolve("float16", current_device().backend, "mixed16")

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    def __str__(self) -> str:
        return "mixed16"

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, str) and other == "mixed16")

    def __hash__(self) -> int:
        return hash("mixed16")

    def __reduce__(self) -> str:
        return "mixed16"  # one object in each process


mixed16 = _Mixed16()


def get_dtype(dtype: Any = None, map_mixed16: Any = None) -> Dtype:
    """Return a dtype of the current device's library.

    Parameters
    ----------
    dtype : dtype of any library, str or None
        None means ``config.dtype``.
    map_mixed16 : dtype or str, optional
        The dtype to which `mixed16` is mapped; by default `mixed16` is returned unchanged.
    """
    dtype = config.dtype if dtype is None else dtype
    if mixed16 == dtype:
        if map_mixed16 is None:
            return mixed16
        dtype = map_mixed16
    return resolve(dtype, current_device().backend, "get_dtype")
