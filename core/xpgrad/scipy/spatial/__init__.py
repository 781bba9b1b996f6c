"""`scipy.spatial` of Variables: distances between points, and rotations."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.spatial import distance, transform

__all__ = ["distance", "transform"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
