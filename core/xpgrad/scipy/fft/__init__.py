"""`scipy.fft` of Variables: the cosine and sine transforms; `xpgrad.fft` has the Fourier transforms."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.scipy.fft.real_transforms import dct, dctn, dst, dstn, idct, idctn, idst, idstn

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
