"""`scipy.sparse` of Variables: matrices whose elements are Variables at constant places, and `linalg`."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.sparse import linalg
from xpgrad.scipy.sparse.matrices import coo_array, csc_array, csr_array

__all__ = ["coo_array", "csc_array", "csr_array", "linalg"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
