"""`LinkHook`: observes the calls of links."""

import dataclasses
from contextvars import ContextVar
from typing import Any

_active: ContextVar[dict[str, "LinkHook"] | None] = ContextVar("xpgrad_link_hooks", default=None)
_NONE: dict[str, "LinkHook"] = {}

Link = Any
"""A `Link`, a class of the module above; hooks may annotate it so."""


@dataclasses.dataclass
class ForwardPreprocessArgs:
    """Arguments of a hook before a link is called.

    Attributes
    ----------
    link : Link
    forward_name : str
        The name of the method, "forward".
    args, kwargs : tuple, dict
        Its arguments.
    """

    link: Link
    forward_name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclasses.dataclass
class ForwardPostprocessArgs(ForwardPreprocessArgs):
    """Arguments of a hook after a link was called.

    Attributes
    ----------
    out : object
        Result of the method.
    """

    out: Any


class LinkHook:
    """Base class of link hooks.

    ``with hook:`` registers it for all links that this thread calls; ``link.add_hook(hook)`` for one link. Derive from
    this class and override methods. A program of `xpgrad.compile` calls no hooks: hooks observe only the traced calls.

    Attributes
    ----------
    name : str
        Two hooks of one name cannot be active together.
    """

    name = "LinkHook"

    def __repr__(self) -> str:
        active = ", active" if get_link_hooks().get(self.name) is self else ""
        return f"<{type(self).__name__} {self.name!r}{active}>"

    def __enter__(self) -> "LinkHook":
        active = get_link_hooks()
        if self.name in active:
            raise KeyError(f"link hook {self.name!r} is active already")
        try:
            _active.set({**active, self.name: self})
            self.added(None)
        except BaseException:
            _active.set(active)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _active.set({name: hook for name, hook in get_link_hooks().items() if name != self.name} or None)
        self.deleted(None)

    def added(self, link: Link | None) -> None:
        """Called when the hook is registered, with the link it was added to, or None for a thread."""

    def deleted(self, link: Link | None) -> None:
        """Called when the hook is removed."""

    def forward_preprocess(self, args: ForwardPreprocessArgs) -> None:
        """Called before a link's `forward`."""

    def forward_postprocess(self, args: ForwardPostprocessArgs) -> None:
        """Called after a link's `forward`."""


def get_link_hooks() -> dict[str, LinkHook]:
    """Return this thread's active link hooks by name."""
    return _active.get() or _NONE
