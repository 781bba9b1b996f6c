"""Routines that call NumPy's functions for shapes, mathematics, products and statistics."""

from xpgrad_chx.library import functions

_NAMES = """
array_split atleast_1d atleast_2d atleast_3d dsplit dstack fliplr flipud hsplit hstack pad ravel rollaxis split swapaxes
transpose vsplit vstack
cumprod cumsum fmod nan_to_num nanmax nanmean nanmin nansum nanvar
diagflat dot einsum
average
"""
NAMES = _NAMES.split()
globals().update(functions(NAMES))

__all__ = NAMES  # pyright: ignore[reportUnsupportedDunderAll]  # names of functions that are made
