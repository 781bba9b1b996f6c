"""Trees: nested dictionaries, lists, tuples, named tuples and dataclasses, flattened and rebuilt.

So are `DataArray` and `Dataset` of xarray, whose labels belong to the structure, and models, whose leaves are their
parameters. Any other object is a leaf; None is a tree without leaves. A field of a dataclass that is declared with
``field(metadata={"static": True})`` belongs to the structure: names, sizes, functions.
"""

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

from xpgrad.errors import StructureError
from xpgrad.transforms.containers import Container, container_of

Path = tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Structure:
    """A tree without its leaves.

    Attributes
    ----------
    kind : type or None
        Type of the container; None is a leaf.
    keys : tuple
        Key, position or field name of each child.
    children : tuple of Structure
    empty : object
        A copy of a dictionary or dataclass without its children.
    """

    kind: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple["Structure", ...] = ()
    empty: Any = None

    def build(self, leaves: Iterable[Any]) -> Any:
        """Return the tree with these leaves, in the order of `flatten`."""
        remaining = iter(leaves)
        if self.kind is None:
            return next(remaining)
        if self.kind is type(None):
            return None
        children = []
        for child in self.children:
            children.append(next(remaining) if child is LEAF else child.build(remaining))
        if issubclass(self.kind, dict):
            made = copy.copy(self.empty)
            made.update(zip(self.keys, children, strict=True))
            return made
        if issubclass(self.kind, tuple) and hasattr(self.kind, "_fields"):
            return self.kind(*children)
        if issubclass(self.kind, (tuple, list)):
            return self.kind(children)
        container = container_of(self.kind)
        if container is not None:
            return container.build(self.empty, children)
        made = copy.copy(self.empty)
        for name, child in zip(self.keys, children, strict=True):
            object.__setattr__(made, name, child)  # the dataclass may be frozen
        return made

    def paths(self, path: Path = ()) -> list[Path]:
        """Return the path to each leaf."""
        if self.kind is None:
            return [path]
        found: list[Path] = []
        for key, child in zip(self.keys, self.children, strict=True):
            if child is LEAF:
                found.append((*path, key))
            else:
                found += child.paths((*path, key))
        return found

    def leaves_of(self, tree: Any, what: str, path: Path = ()) -> list[Any]:
        """Return the leaves of `tree`, which must have this structure, in the order of the structure.

        Raises
        ------
        StructureError
            The structures differ; the text begins with `what`, and names the path.
        """
        if self.kind is None:
            return [tree]
        given = opened(tree)
        if given is None or (given[0] is not self.kind and not {given[0], self.kind} <= {list, tuple}):
            got = "None" if tree is None else type(tree).__name__
            wanted = "None" if self.kind is type(None) else f"a {self.kind.__name__}"
            raise StructureError(f"{what}{where(path)}: expected {wanted}, got {got}")
        found = dict(zip(given[1], given[2], strict=True))
        if found.keys() != set(self.keys):
            wanted, got = (", ".join(map(repr, keys)) or "nothing" for keys in (self.keys, found))
            raise StructureError(f"{what}{where(path)}: expected {self.kind.__name__} with {wanted}; got {got}")
        container = container_of(self.kind)
        if container is not None and not container.fits(tree, self.empty):
            raise StructureError(
                f"{what}{where(path)}: expected the labels of {_labels(self.empty)}, got {_labels(tree)}"
            )
        leaves: list[Any] = []
        for key, child in zip(self.keys, self.children, strict=True):
            if child is LEAF:
                leaves.append(found[key])
            else:
                leaves += child.leaves_of(found[key], what, (*path, key))
        return leaves


LEAF = Structure()
MAX_UNCHECKED = 10_000
"""Containers that are opened before a tree is checked for containing itself."""


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """Return the leaves of `tree`, and its structure."""
    if _container(type(tree)) is None:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _flattened(tree, leaves)


def _flattened(tree: Any, leaves: list[Any]) -> Structure:
    found = opened(tree)
    assert found is not None
    kind, keys, items = found
    empty = None
    container = _container(kind)
    if isinstance(container, Container):
        empty = container.emptied(tree)
    elif kind is not type(None) and not issubclass(kind, (tuple, list)):
        empty = copy.copy(tree)
        for key in keys:
            if issubclass(kind, dict):
                empty[key] = None
            else:
                object.__setattr__(empty, key, None)
    children = []
    for item in items:
        if _container(type(item)) is None:
            leaves.append(item)
            children.append(LEAF)
        else:
            children.append(_flattened(item, leaves))
    return Structure(kind, keys, tuple(children), empty)


def leaves_in(tree: Any) -> list[Any]:
    """Return the leaves of `tree`, in any order."""
    leaves, waiting, opened_before = [], [tree], 0
    while waiting:
        item = waiting.pop()
        container = _container(type(item))
        if container is None:
            leaves.append(item)
            continue
        opened_before += 1
        if opened_before == MAX_UNCHECKED:
            flatten(tree)  # raises RecursionError where the tree contains itself
        if container is tuple:
            waiting.extend(item)
        elif container is dict:
            waiting.extend(item.values())
        elif container is not type(None):
            found: Any = opened(item)  # no leaf
            waiting.extend(found[2])
    return leaves


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return `tree` with ``function(leaf)`` in place of each leaf."""
    if _container(type(tree)) is None:
        return function(tree)
    leaves, structure = flatten(tree)
    return structure.build(map(function, leaves))


def where(path: Path) -> str:
    """Return the text for a path in a tree, such as `` at ['w'][0]``; the empty text for the tree itself."""
    return " at " + "".join(f"[{key!r}]" for key in path) if path else ""


def opened(tree: Any) -> tuple[type, tuple[Any, ...], tuple[Any, ...]] | None:
    """Return type, keys and children of a container; None for a leaf."""
    kind: Any = type(tree)
    container = _container(kind)
    if container is None:
        return None
    if container is tuple:
        return kind, tuple(range(len(tree))), tuple(tree)
    if container is dict:
        return kind, tuple(tree), tuple(tree.values())
    if container is type(None):
        return kind, (), ()
    if isinstance(container, Container):
        keys = container.keys(tree)
        return kind, keys, tuple(container.child(tree, key) for key in keys)
    fields = (f for f in dataclasses.fields(tree) if not f.metadata.get("static"))
    names = tuple(f.name for f in fields if hasattr(tree, f.name))  # a deleted slot is missing
    return kind, names, tuple(getattr(tree, name) for name in names)


def _container_of(kind: type) -> type | Container | None:
    """Return the treatment of a type: `tuple`, also for lists, `dict`, `NoneType`, `object` for dataclasses, or None.

    A type of another library is handled by its `Container`.
    """
    if kind is type(None):
        return kind
    for container in (dict, tuple):
        if issubclass(kind, (tuple, list) if container is tuple else container):
            return container
    return object if dataclasses.is_dataclass(kind) else container_of(kind)


_container: Callable[[Any], type | Container | None] = functools.lru_cache(maxsize=1024)(_container_of)


def _labels(tree: Any) -> str:
    return f"{type(tree).__name__} {dict(tree.sizes)}"
