"""Containers of other libraries as trees, known when the first of them is met."""

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any

LIBRARIES = {"xarray": "xpgrad.transforms.labelled", "xpgrad.models": "xpgrad.models.tree"}
"""Libraries, or packages in them, and modules whose `container_of` returns the `Container` of a type, or None."""


@dataclasses.dataclass(frozen=True)
class Container:
    """Rules to flatten and rebuild objects of a type.

    Attributes
    ----------
    keys : callable
        ``keys(x)`` returns the keys of the children.
    child : callable
        ``child(x, key)`` returns a child.
    emptied : callable
        ``emptied(x)`` returns a copy without the children's memory.
    build : callable
        ``build(empty, children)`` returns an object with other children.
    fits : callable
        ``fits(x, empty)`` returns whether the children of `x` have the same meaning as the children of the original of
        `empty`.
    same : callable
        ``same(x, empty)`` returns whether all but the children is equal.
    array : bool
        Whether it represents one array.
    """

    keys: Callable[[Any], tuple[Any, ...]]
    child: Callable[[Any, Any], Any]
    emptied: Callable[[Any], Any]
    build: Callable[[Any, Sequence[Any]], Any]
    fits: Callable[[Any, Any], bool]
    same: Callable[[Any, Any], bool]
    array: bool = False


_known: dict[type, Container | None] = {}


def container_of(kind: type) -> Container | None:
    """Return the `Container` for objects of a type; None if they are leaves."""
    try:
        return _known[kind]
    except KeyError:
        found = _known[kind] = _found(kind)
        return found


def is_array_like(kind: type) -> bool:
    """Return whether objects of a type represent one array."""
    container = container_of(kind)
    return container is not None and container.array


def _found(kind: type) -> Container | None:
    for base in kind.__mro__:
        library, _, rest = base.__module__.partition(".")
        module = LIBRARIES.get(library) or LIBRARIES.get(f"{library}.{rest.partition('.')[0]}")
        if module is not None:
            made: Container | None = importlib.import_module(module).container_of(kind)
            return made
    return None
