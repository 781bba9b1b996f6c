"""Copies of a tree of links, with other objects in place of its parameters."""

import functools
import operator
import types
from collections.abc import Mapping
from typing import Any

OWN = frozenset(["_params", "_persistent", "_children", "_layers", "_local_link_hooks"])
"""Attributes of a link that each copy has for itself."""
PLAIN = frozenset([bool, int, float, str, type(None)])

Leaves = Mapping[tuple[int, str], Any]
"""What stands in a copy for each parameter, by the identity of its link and its name."""


def clone(root: Any, leaves: Leaves) -> Any:
    """Return a copy of a link and of all below it, which shares all but the parameters with it.

    Lists, tuples, dictionaries, methods and partial functions in attributes are copied where they refer to a link or to
    a parameter of the tree.
    """
    links = list(root.links())
    swaps: dict[int, Any] = {}
    for link in links:
        swaps[id(link)] = object.__new__(type(link))
        for name in link._params:
            old = link.__dict__[name]
            if hasattr(old, "__weakref__"):  # not None and numbers, which may stand in several places
                swaps[id(old)] = leaves[id(link), name]
    for link in links:
        copied = swaps[id(link)].__dict__
        for name, value in link.__dict__.items():
            if name in link._params:
                copied[name] = leaves[id(link), name]
                continue
            if type(value) in PLAIN:
                copied[name] = value
                continue
            kept = swapped(value, swaps)
            copied[name] = kept.copy() if kept is value and name in OWN else kept
    return swaps[id(root)]


def swapped(value: Any, swaps: Mapping[int, Any]) -> Any:
    """Return `value` with the objects of these identities replaced, at any depth; itself if there are none in it."""
    if id(value) in swaps:
        return swaps[id(value)]
    kind = type(value)
    if kind is list or kind is tuple:
        items = [swapped(item, swaps) for item in value]
        return value if all(map(operator.is_, items, value)) else kind(items)
    if kind is dict:
        items = [swapped(item, swaps) for item in value.values()]
        return value if all(map(operator.is_, items, value.values())) else dict(zip(value, items, strict=True))
    if kind is types.MethodType:
        found = swaps.get(id(value.__self__))
        return value if found is None else types.MethodType(value.__func__, found)
    if kind is functools.partial:
        parts = value.func, value.args, value.keywords
        func, args, kwargs = swapped(parts, swaps)
        return (
            value if all(map(operator.is_, parts, (func, args, kwargs))) else functools.partial(func, *args, **kwargs)
        )
    return value
