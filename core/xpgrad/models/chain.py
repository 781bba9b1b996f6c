"""`Chain`: a link with child links in attributes."""

import warnings
from collections.abc import Iterable
from typing import Any

from xpgrad.models.link import Link


class Chain(Link):
    """A link whose child links are attributes, assigned within ``with self.init_scope():``.

    Parameters
    ----------
    **links : Link
        Children and their names.
    """

    _children: set[str]

    def __init__(self, **links: Link) -> None:
        super().__init__()
        self._children = set()
        for name, link in links.items():
            self.add_link(name, link)

    def __getitem__(self, name: str) -> Any:
        """Return the child or attribute called `name`."""
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Link):
            if self._within_init_scope:
                if hasattr(self, name):
                    title = f"{name!r} of {type(self).__name__}"
                    raise AttributeError(f"cannot register a new link {title}: attribute exists; delete it first")
                self._children.add(name)
            if name in self.__dict__.get("_children", ()):
                value.name = name
            else:
                self._check_registered(name, value)
        elif name in self.__dict__.get("_children", ()):
            raise TypeError(
                f"{type(self).__name__}.{name}: expected a link in place of a link, got {type(value).__name__}; delete "
                "the attribute first"
            )
        elif self._within_init_scope and isinstance(value, (list, tuple)):
            self._warn_list(name, value)
        super().__setattr__(name, value)

    def _warn_list(self, name: str, value: Iterable[Any]) -> None:
        if any(isinstance(item, Link) and item.name is None for item in value):
            warnings.warn(
                f"{type(self).__name__}.{name}: the links in a {type(value).__name__} belong to no model: optimizers "
                "and serializers do not see them. Put them into a ChainList or Sequential",
                UserWarning,
                stacklevel=3,
            )

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._children.discard(name)

    def add_link(self, name: str, link: Link) -> None:
        """Register a child link."""
        if not isinstance(link, Link):
            raise TypeError(f"add_link: expected a link called {name!r}, got {type(link).__name__}")
        with self.init_scope():
            setattr(self, name, link)

    def __copy__(self) -> Any:
        made = super().__copy__()
        made.__dict__["_children"] = set(self._children)
        return made

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        found = self.__dict__
        return [(name, found[name]) for name in sorted(found.get("_children", ()))]

    def __str__(self) -> str:
        return nested(self, ((name, str(child)) for name, child in self._named_children()))

    __repr__ = __str__


def nested(link: Link, parts: Iterable[tuple[str, str]]) -> str:
    """Return the text of a link with the indented texts of its parts."""
    lines = [f"  {line}" for name, text in parts for line in f"({name}): {text},".splitlines()]
    return f"{type(link).__name__}(" + "".join(f"\n{line}" for line in lines) + ("\n)" if lines else ")")
