"""Small tools for authors of functions, under Chainer's names."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.utils import type_check

__all__ = ["CooMatrix", "WalkerAlias", "to_coo", "type_check"]

_LATE = {
    "CooMatrix": "xpgrad.functions.coo_matrix",
    "WalkerAlias": "xpgrad.utils.walker_alias",
    "to_coo": "xpgrad.functions.coo_matrix",
}

if TYPE_CHECKING:
    from xpgrad.functions.coo_matrix import CooMatrix as CooMatrix
    from xpgrad.functions.coo_matrix import to_coo as to_coo
    from xpgrad.utils.walker_alias import WalkerAlias as WalkerAlias
else:
    __getattr__, __dir__ = _listed(__name__, __all__, _LATE)
