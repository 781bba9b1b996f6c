"""Calls that `consumers.py` differentiates, by library, as text, so that missing libraries are only skipped.

Each line is an expression with the names of the library, the names in `INPUTS`, `xp` and `np`; every floating-point
input is differentiated. A call that does not differentiate, or only to a larger tolerance, has a comment with one word
for the result (docs/interop.md explains these words) or the tolerance, and the reason.
"""

from consumed.arrays import ARRAYS
from consumed.library import INPUTS, Library
from consumed.science import SCIENCE
from consumed.scipy_modules import MODULES
from consumed.scipy_statistics import STATISTICS

__all__ = ["INPUTS", "LIBRARIES", "Library"]

LIBRARIES: tuple[Library, ...] = STATISTICS + MODULES + ARRAYS + SCIENCE
