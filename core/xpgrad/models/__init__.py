"""Models as Chainer has them: links with parameters, chains of links, and hooks that see them called."""

import typing as _typing

from xpgrad.listing import listed as _listed
from xpgrad.models.chain import Chain
from xpgrad.models.chain_list import ChainList
from xpgrad.models.link import Link, Running
from xpgrad.models.link_hook import LinkHook, get_link_hooks
from xpgrad.models.sequential import Sequential

if _typing.TYPE_CHECKING:
    from xpgrad.models.tree import stack as stack

__all__ = ["Chain", "ChainList", "Link", "LinkHook", "Running", "Sequential", "get_link_hooks", "stack"]
__getattr__, __dir__ = _listed(__name__, __all__, {"stack": "xpgrad.models.tree"})
