"""Objects in place of links: as in Chainer, an attribute that was a link takes anything callable, such as a mock."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from xpgrad.models import Chain, Link

_assign: Callable[[Chain, str, Any], None] = Chain.__setattr__


@functools.wraps(_assign)  # by which `compile` finds it
def assign(chain: Chain, name: str, value: Any) -> None:
    """Set an attribute; what is no link has no part in the model until a link replaces it."""
    if not isinstance(value, Link) and name in vars(chain).get("_children", ()):
        Link.__setattr__(chain, name, value)
    else:
        _assign(chain, name, value)


def named_children(chain: Chain) -> Iterable[tuple[str, Link]]:
    """Return the names of the links of a chain and the links."""
    found = vars(chain)
    named = [(name, found[name]) for name in sorted(found.get("_children", ()))]
    return [(name, child) for name, child in named if isinstance(child, Link)]


MEMBERS: tuple[tuple[type, str, Any], ...] = (
    (Chain, "__setattr__", assign),
    (Chain, "_named_children", named_children),
)
"""Methods of chains as Chainer has them."""
