"""Chainer's `backends.intel64`: whether a plugin serves Intel's arrays, under iDeep's names."""

from typing import TYPE_CHECKING

from xpgrad import backend
from xpgrad.backend.current import intel64
from xpgrad.listing import missing_name

__all__ = ["is_ideep_available", "should_use_ideep"]

LEVELS = "==always", ">=auto"

if TYPE_CHECKING:
    from xpgrad.backend import Intel64Device as Intel64Device
else:

    def __getattr__(name: str) -> type:
        """Return Intel64Device, resolved lazily so that importing this module loads no plugin."""
        if name != "Intel64Device":
            raise missing_name(__name__, name, lambda: [*__all__, "Intel64Device"])
        return backend.Intel64Device


def is_ideep_available() -> bool:
    """Return whether an installed backend is called ``intel64``, or claims this prefix, and can be used."""
    return intel64() is not None


def should_use_ideep(level: str) -> bool:
    """Return False: functions never convert arrays to iDeep arrays; users send arrays to the device.

    Parameters
    ----------
    level : "==always" or ">=auto"
    """
    if level not in LEVELS:
        raise ValueError(f"should_use_ideep: expected one of {', '.join(LEVELS)}, got {level!r}")
    return False
