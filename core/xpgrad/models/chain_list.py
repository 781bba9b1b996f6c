"""`ChainList`: a link with a list of child links."""

from collections.abc import Iterable, Iterator, MutableSequence
from typing import Any

from xpgrad.models.chain import nested
from xpgrad.models.link import Link


class ChainList(Link, MutableSequence[Any]):
    """A link whose child links are a list; their names are their positions.

    Parameters
    ----------
    *links : Link
    """

    _children: list[Link]

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.append(link)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Link):
            if self._within_init_scope:
                raise TypeError(
                    f"{type(self).__name__}.{name}: the links of a ChainList have no names; append it to the list, or "
                    "derive from Chain"
                )
            self._check_registered(name, value)
        super().__setattr__(name, value)

    def __getitem__(self, index: Any) -> Any:
        """Return the child at an index; a list for a slice."""
        return self._children[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        for item in value if isinstance(index, slice) else [value]:
            self._check_item(item)
        items = self._contents()
        items[index] = value
        self._settle(items)

    def __delitem__(self, index: Any) -> None:
        items = self._contents()
        del items[index]
        self._settle(items)

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children)

    def insert(self, index: int, value: Any) -> None:
        """Insert an item before an index."""
        self._check_item(value)
        items = self._contents()
        items.insert(index, value)
        self._settle(items)

    def extend(self, values: Iterable[Any]) -> None:
        """Append all items of another list, or no item if an item is invalid."""
        self[len(self) :] = list(values)

    def add_link(self, link: Link) -> None:
        """Append a child."""
        self.append(link)

    def _contents(self) -> list[Any]:
        return list(self._children)

    def _check_item(self, item: Any) -> None:
        if not isinstance(item, Link):
            raise TypeError(f"ChainList: expected links, got {type(item).__name__}; a Sequential takes any function")

    def _settle(self, children: list[Any]) -> None:
        """Set the children, with positions as names; this step cannot fail."""
        for i, link in enumerate(children):
            link.__dict__["name"] = str(i)
        self._children[:] = children

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Any:
        made = super().__copy__()
        made.__dict__["_children"] = list(self._children)
        return made

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        return [(str(i), link) for i, link in enumerate(self.__dict__.get("_children", ()))]

    def _child_at(self, name: str) -> Link:
        return self._children[int(name)]

    def __str__(self) -> str:
        return nested(self, ((name, str(child)) for name, child in self._named_children()))

    __repr__ = __str__
