"""Nested tuples, lists and dictionaries: arguments, results and gradients."""

from collections.abc import Callable, Iterator
from typing import Any

TREES = tuple, list, dict


def leaves(tree: Any) -> Iterator[Any]:
    """Yield the leaves in order; entries of dictionaries in theirs."""
    if isinstance(tree, dict):
        for value in tree.values():
            yield from leaves(value)
    elif isinstance(tree, (tuple, list)):
        for value in tree:
            yield from leaves(value)
    else:
        yield tree


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Return a tree of the same structure with ``function(leaf, *leaves of others)`` for each leaf."""
    if not isinstance(tree, TREES):
        return function(tree, *others)
    if isinstance(tree, dict):
        pairs = [(key, mapped(function, value, *[other[key] for other in others])) for key, value in tree.items()]
        return type(tree)(pairs) if type(tree) is not dict else dict(pairs)
    made = [mapped(function, *each) for each in zip(tree, *others, strict=True)]
    return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)


def filled(tree: Any, values: Iterator[Any], chosen: Callable[[Any], bool]) -> Any:
    """Return the tree with the next of `values` in place of each chosen leaf."""
    if not isinstance(tree, TREES):
        return next(values) if chosen(tree) else tree
    return mapped(lambda leaf: next(values) if chosen(leaf) else leaf, tree)
