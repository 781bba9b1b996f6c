"""Limits of floating-point dtypes, as the standard defines them."""

from typing import Any


class FloatLimits:
    """A library's `finfo`, with the standard's attributes as Python floats.

    Parameters
    ----------
    info : object
    """

    def __init__(self, info: Any) -> None:
        self._info = info
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.smallest_normal = float(info.smallest_normal)
        self.dtype = info.dtype

    def __getattr__(self, name: str) -> Any:
        if name == "_info":  # not set yet, while the object is being copied
            raise AttributeError(name)
        return getattr(self._info, name)

    def __repr__(self) -> str:
        return repr(self._info)
