"""Small tools for authors of functions, under Chainer's names."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.utils import type_check

__all__ = ["type_check"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
