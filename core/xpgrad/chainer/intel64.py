"""Chainer's `backends.intel64`: whether a plugin serves Intel's arrays, under iDeep's names."""

from xpgrad.chainer.moves import intel64

LEVELS = "==always", ">=auto"


def is_ideep_available() -> bool:
    """Return whether an installed backend is called ``intel64``, or claims this prefix, and can be used."""
    return intel64() is not None


def should_use_ideep(level: str) -> bool:
    """Return whether functions should use iDeep's arrays by themselves; they never do, arrays are sent there.

    Parameters
    ----------
    level : "==always" or ">=auto"
    """
    if level not in LEVELS:
        raise ValueError(f"should_use_ideep: expected one of {', '.join(LEVELS)}, got {level!r}")
    return False
