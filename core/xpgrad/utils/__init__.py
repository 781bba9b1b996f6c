"""Small tools for authors of functions, under Chainer's names."""

from typing import TYPE_CHECKING

from xpgrad.listing import listed as _listed
from xpgrad.utils import type_check

__all__ = ["CooMatrix", "WalkerAlias", "to_coo", "type_check"]

_LATE = {
    "CooMatrix": "xpgrad.functions.sparse",
    "WalkerAlias": "xpgrad.utils.walker_alias",
    "to_coo": "xpgrad.functions.sparse",
}

if TYPE_CHECKING:
    from xpgrad.functions.sparse import CooMatrix as CooMatrix
    from xpgrad.functions.sparse import to_coo as to_coo
    from xpgrad.utils.walker_alias import WalkerAlias as WalkerAlias
else:
    __getattr__, __dir__ = _listed(__name__, __all__, _LATE)
