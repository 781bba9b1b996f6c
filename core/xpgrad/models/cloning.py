"""Copies of a tree of links, with other objects in place of its parameters."""

import functools
import types
from collections.abc import Mapping
from typing import Any

OWN = frozenset(["_params", "_persistent", "_children", "_layers", "_local_link_hooks", "_ties"])
"""Attributes of a link that each copy has for itself."""


def clone(root: Any, replacements: Mapping[int, Any]) -> Any:
    """Return a copy of a link and of all below it, which shares every other object with it.

    Lists, tuples, dictionaries, methods and partial functions in attributes are copied where they refer to a link or to
    a parameter of the tree.

    Parameters
    ----------
    root : Link
    replacements : mapping
        What stands in the copy for an object of this identity: for each parameter, another.
    """
    links = list(root.links())
    made = {id(link): object.__new__(type(link)) for link in links}
    swaps = {**replacements, **made}
    for link in links:
        copied = made[id(link)].__dict__
        for name, value in link.__dict__.items():
            kept = swapped(value, swaps)
            copied[name] = kept.copy() if kept is value is not None and name in OWN else kept
    return made[id(root)]


def swapped(value: Any, swaps: Mapping[int, Any]) -> Any:
    """Return `value` with the objects of these identities replaced, at any depth; itself if there are none in it."""
    if id(value) in swaps:
        return swaps[id(value)]
    kind = type(value)
    if kind is list or kind is tuple:
        items = [swapped(item, swaps) for item in value]
        return value if all(map(_is, items, value)) else kind(items)
    if kind is dict:
        items = [swapped(item, swaps) for item in value.values()]
        return value if all(map(_is, items, value.values())) else dict(zip(value, items, strict=True))
    if kind is types.MethodType:
        found = swaps.get(id(value.__self__))
        return value if found is None else types.MethodType(value.__func__, found)
    if kind is functools.partial:
        func, args, kwargs = (swapped(part, swaps) for part in (value.func, value.args, value.keywords))
        unchanged = func is value.func and args is value.args and kwargs is value.keywords
        return value if unchanged else functools.partial(func, *args, **kwargs)
    return value


def _is(a: Any, b: Any) -> bool:
    return a is b
