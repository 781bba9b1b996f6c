"""`scipy.spatial` of Variables: distances between points."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.spatial import distance

__all__ = ["distance"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
