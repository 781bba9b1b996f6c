"""Links as trees for `xpgrad.transforms`: the leaves are the parameters of a link and of all below it.

A parameter that is in several places is one leaf, under the first of its paths. Rebuilding gives a copy of the links
with other objects in place of the parameters; persistent values and all else are shared. `xpgrad.transforms` imports
the module when it first meets a link.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from xpgrad.array_api import stack as stack_arrays
from xpgrad.chainer.parameter import Parameter
from xpgrad.errors import StructureError, UnknownArray
from xpgrad.models.cloning import clone
from xpgrad.models.link import Link
from xpgrad.transforms.containers import Container
from xpgrad.transforms.trace.constants import same
from xpgrad.transforms.trees import flatten


class Place:
    """Stands for one leaf in a link without its parameters."""

    __slots__ = ("__weakref__",)


def container_of(kind: type) -> Container | None:
    """Return how links are taken apart; None for other types."""
    return LINK if issubclass(kind, Link) else None


def stack(links: Sequence[Link]) -> Any:
    """Return a link whose parameters are those of `links`, along a new first axis: a batch of models for `vmap`.

    Parameters
    ----------
    links : sequence of Link
        Models of one structure. Persistent values are those of the first.

    Raises
    ------
    StructureError
        There are none, or their structures differ.
    """
    if not links:
        raise StructureError("stack: expected one link or more, got none")
    leaves, structure = flatten(links[0])
    rows = [leaves, *(structure.leaves_of(link, f"stack: link {i}") for i, link in enumerate(links[1:], 1))]
    return structure.build([stack_arrays(list(column)) for column in zip(*rows, strict=True)])


def _places(root: Link) -> Iterator[tuple[str, Link, str, Any]]:
    """Yield path, link and name of each place of a leaf, and the object that it is known by."""
    seen: set[int] = set()
    for path, link in root.namedlinks():
        if id(link) in seen:
            continue
        seen.add(id(link))
        ties = link.__dict__.get("_ties", {})
        for name in sorted(link._params):
            yield f"{path.rstrip('/')}/{name}", link, name, ties.get(name, link.__dict__[name])


def _keys(root: Link) -> tuple[str, ...]:
    """Return the paths of the leaves."""
    seen: set[int] = set()
    paths = []
    for path, _, _, known in _places(root):
        if isinstance(known, (Parameter, Place)):  # two gradients may be one array by chance
            if id(known) in seen:
                continue
            seen.add(id(known))
        paths.append(path)
    return tuple(paths)


@functools.lru_cache(maxsize=4096)
def _parts(path: str) -> tuple[list[str], str]:
    *names, last = path[1:].split("/")
    return names, last


def _child(root: Link, path: str) -> Any:
    """Return the leaf at a path."""
    names, last = _parts(path)
    for name in names:
        root = root._child_at(name)
    return root.__dict__[last]


def _emptied(root: Link) -> Link:
    """Return a copy with a `Place` for each leaf."""
    made: dict[int, Place] = {}
    leaves: dict[tuple[int, str], Place] = {}
    for path, link, name, known in _places(root):
        if isinstance(known, Parameter) and known._array is None:
            raise UnknownArray(
                f"{type(root).__name__}: the Parameter {path} is uninitialised; call the model once, or initialize its "
                "parameters, before a transform gets it"
            )
        shared = isinstance(known, (Parameter, Place))
        leaves[id(link), name] = made.setdefault(id(known), Place()) if shared else Place()
    empty: Link = clone(root, leaves)
    for link in empty.links():
        link.__dict__.pop("_ties", None)
    return empty


def _build(empty: Link, children: Sequence[Any]) -> Link:
    """Return a copy of `empty` with these leaves; leaves in several places stay known as one."""
    remaining = iter(children)
    values: dict[int, Any] = {}
    counts: dict[int, int] = {}
    leaves: dict[tuple[int, str], Any] = {}
    for _, link, name, place in _places(empty):
        if id(place) not in values:
            values[id(place)] = next(remaining)
        counts[id(place)] = counts.get(id(place), 0) + 1
        leaves[id(link), name] = values[id(place)]
    made: Link = clone(empty, leaves)
    if len(counts) != len(leaves):
        for old, link in zip(empty.links(), made.links(), strict=True):
            ties = {name: old.__dict__[name] for name in old._params if counts[id(old.__dict__[name])] > 1}
            link.__dict__["_ties"] = ties
    return made


def _fits(root: Link, empty: Link) -> bool:
    return True  # the keys are compared


def _same(root: Link, empty: Link) -> bool:
    """Return whether two trees of links are equal but for their leaves."""
    links, others = list(root.links()), list(empty.links())
    if len(links) != len(others) or any(type(a) is not type(b) for a, b in zip(links, others, strict=True)):
        return False
    pairs = {id(a): b for a, b in zip(links, others, strict=True)}
    for link, other in zip(links, others, strict=True):
        a, b = link.__dict__, other.__dict__
        if link._params != other._params or (a.keys() ^ b.keys()) - {"_ties"}:
            return False
        for name in link._params:
            pairs[id(a[name])] = b[name]
    return all(
        _equal(value, pairs[id(link)].__dict__[name], pairs)
        for link in links
        for name, value in link.__dict__.items()
        if name not in link._params and name != "_ties"
    )


def _equal(a: Any, b: Any, pairs: dict[int, Any]) -> bool:
    """Return whether an attribute of a link is what it was; `pairs` has what stands for links and leaves."""
    if a is b or pairs.get(id(a), pairs) is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is list or kind is tuple:
        return len(a) == len(b) and all(_equal(x, y, pairs) for x, y in zip(a, b, strict=True))
    if kind is dict:
        return list(a) == list(b) and all(_equal(a[key], b[key], pairs) for key in a)
    if kind is set:
        return bool(a == b)
    if hasattr(a, "__func__"):
        return a.__func__ is b.__func__ and _equal(a.__self__, b.__self__, pairs)
    if kind is functools.partial:
        parts = ("func", "args", "keywords")
        return all(_equal(getattr(a, part), getattr(b, part), pairs) for part in parts)
    return same(a, b)


LINK = Container(_keys, _child, _emptied, _build, _fits, _same)
