"""The standard's extension `linalg` over chx arrays."""

from xpgrad.plugin import CHAPTERS
from xpgrad_chx.library import functions

__all__ = [name.removeprefix("linalg.") for name in CHAPTERS["linalg"]]  # pyright: ignore[reportUnsupportedDunderAll]  # names of functions that are made
globals().update(functions(__all__, "linalg."))
