"""The boxes of arrays."""

from xpgrad_autograd.boxes import ArrayBox, Box

__all__ = ["ArrayBox", "Box"]
