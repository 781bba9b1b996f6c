"""Chainer's modules for its two optional libraries: `backends.cuda` and `backends.intel64`.

They are for programs written for Chainer: `xpgrad.get_device` and `Variable.to_device` replace all of them, for every
library.
"""

from typing import TYPE_CHECKING

from xpgrad.backends import cuda, intel64
from xpgrad.listing import listed as _listed

__all__ = ["cuda", "intel64"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
