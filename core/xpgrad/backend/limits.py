"""Limits of floating-point dtypes, as the standard has them."""

from typing import Any


class FloatLimits:
    """What a library's `finfo` says, with Python's floats for the numbers that the standard names.

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
        if name == "_info":  # before there is one, when it is copied
            raise AttributeError(name)
        return getattr(self._info, name)

    def __repr__(self) -> str:
        return repr(self._info)
