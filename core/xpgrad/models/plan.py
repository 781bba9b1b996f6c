"""`LinkPlan`: a tree of links without its leaves, to compare with other plans and to fill with new leaves."""

import functools
import operator
import types
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xpgrad.graph.parameter import Parameter
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.guards.guard import same

OWN = frozenset(["_params", "_persistent", "_children", "_layers", "_local_link_hooks"])
"""Attributes of a link that each copy has for itself."""
PLAIN = frozenset([bool, int, float, complex, str, type(None)])


class Ref:
    """Placeholder for a link of the tree, with its number."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Leaf(Ref):
    """Placeholder for a leaf of the tree, with its number."""

    __slots__ = ()


class Method(NamedTuple):
    """Placeholder for a method of a link of the tree."""

    function: Any
    owner: Ref


class Partial(NamedTuple):
    """Placeholder for a partial function that contains links or leaves."""

    func: Any
    args: Any
    keywords: Any


class Row(NamedTuple):
    """One link of the tree.

    Attributes
    ----------
    kind : type
    template : dict
        Its attributes, with a `Ref` or `Leaf` for each link or leaf, at any depth.
    leaves, children : tuple of pairs
        The attributes that are leaves and links, and their numbers.
    shared : tuple of pairs
        The attributes in which there are no links and no leaves.
    lists : tuple of str
        The attributes that are lists of links and other objects.
    nested : tuple of str
        All other attributes in which there are links or leaves.
    own : tuple of str
        The attributes that are copied rather than shared.
    """

    kind: type
    template: dict[str, Any]
    shared: tuple[tuple[str, Any], ...]
    leaves: tuple[tuple[str, int], ...]
    children: tuple[tuple[str, int], ...]
    lists: tuple[str, ...]
    nested: tuple[str, ...]
    own: tuple[str, ...]


class LinkPlan:
    """A tree of links without its leaves, which are its parameters; it keeps no link and no leaf alive.

    A parameter in several places is one leaf. Lists, tuples, dictionaries, methods and partial functions in attributes
    that refer to a link or a leaf are a part of the tree.

    Attributes
    ----------
    paths : tuple of str
        The first path of each leaf.
    tied : bool
        Whether a leaf is in several places.
    lasting : bool
        Whether it may be kept: no attribute is in a graph, which it would keep alive.
    """

    def __init__(self, root: Any) -> None:
        found: dict[int, tuple[str, Any]] = {}
        for path, link in root.namedlinks():
            found.setdefault(id(link), (path.rstrip("/"), link))
        links = [Ref(i) for i in range(len(found))]
        swaps: dict[int, Any] = dict(zip(found, links, strict=True))
        known: dict[int, Leaf] = {}
        leaves: list[Leaf] = []
        paths: list[str] = []
        places: list[tuple[tuple[str, int], ...]] = []
        for path, link in found.values():
            ties, own = link.__dict__.get("_ties", {}), []
            for name in sorted(link._params):
                value = link.__dict__[name]
                token = ties.get(name, value)
                leaf = known.get(id(token)) if isinstance(token, (Parameter, Leaf)) else None
                if leaf is None:
                    leaf = known[id(token)] = Leaf(len(leaves))
                    leaves.append(leaf)
                    paths.append(f"{path}/{name}")
                own.append((name, leaf.index))
                if hasattr(value, "__weakref__"):  # not None and numbers, which may be in several places
                    swaps[id(value)] = leaf
            places.append(tuple(own))
        self.paths = tuple(paths)
        self.tied = sum(map(len, places)) > len(paths)
        self.rows = [_row(link, own, swaps) for (_, link), own in zip(found.values(), places, strict=True)]
        self._links, self._leaves = links, leaves
        self._alive = [weakref.ref(link) for _, link in found.values()]
        self._fixed = not any(row.nested for row in self.rows)
        values = (value for row in self.rows for _, value in row.shared)
        self.lasting = not any(isinstance(x, Variable) and x.creator_node is not None for x in values)

    def is_of(self, root: Any) -> bool:
        """Return whether this is the plan of `root` and the tree is unchanged."""
        return self._alive[0]() is root and self.holds()

    def holds(self) -> bool:
        """Return whether the tree is unchanged."""
        if not self._fixed:
            return False
        leaves: dict[int, Any] = {}
        for row, alive in zip(self.rows, self._alive, strict=True):
            link = alive()
            if link is None or not self._row_holds(row, link.__dict__):
                return False
            for name, i in row.leaves:
                if leaves.setdefault(i, link.__dict__[name]) is not link.__dict__[name]:
                    return False
        parameters = [id(leaf) for leaf in leaves.values() if isinstance(leaf, Parameter)]
        return len(set(parameters)) == len(parameters)

    def _row_holds(self, row: Row, now: dict[str, Any]) -> bool:
        if now.keys() != row.template.keys() and not (self.tied and now.keys() ^ row.template.keys() == {"_ties"}):
            return False
        for name, value in row.shared:
            if now[name] is not value:
                return False
        for name in row.own:
            if not equal(now[name], row.template[name]):
                return False
        for name, i in row.children:
            if now[name] is not self._alive[i]():
                return False
        return all(self._same_items(now[name], row.template[name]) for name in row.lists)

    def _same_items(self, now: Any, before: Any) -> bool:
        if type(now) is not type(before) or len(now) != len(before):
            return False
        return all(
            item is (self._alive[old.index]() if type(old) is Ref else old)
            for item, old in zip(now, before, strict=True)
        )

    def build(self, leaves: Sequence[Any]) -> Any:
        """Return a copy of the tree with these leaves; objects that contain no links or leaves are shared."""
        made: list[Any] = [object.__new__(row.kind) for row in self.rows]
        swaps: dict[int, Any] = {}
        if not self._fixed:
            swaps = {id(ref): link for ref, link in zip(self._links, made, strict=True)}
            swaps |= {id(ref): leaf for ref, leaf in zip(self._leaves, leaves, strict=True)}
        for link, row in zip(made, self.rows, strict=True):
            copied = link.__dict__
            copied.update(row.template)
            for name, i in row.leaves:
                copied[name] = leaves[i]
            for name, i in row.children:
                copied[name] = made[i]
            for name in row.own:
                copied[name] = copied[name].copy()
            for name in row.lists:
                copied[name] = type(copied[name])(made[x.index] if type(x) is Ref else x for x in copied[name])
            for name in row.nested:
                copied[name] = swapped(copied[name], swaps)
            if self.tied:
                copied["_ties"] = {name: self._leaves[i] for name, i in row.leaves}
        if self._fixed and self.lasting:
            object.__setattr__(made[0], "_plan", self._of(made))
        return made[0]

    def _of(self, links: Sequence[Any]) -> "LinkPlan":
        """Return the same plan for other links."""
        made = object.__new__(LinkPlan)
        made.__dict__.update(self.__dict__, _alive=[weakref.ref(link) for link in links])
        return made

    def equals(self, other: "LinkPlan") -> bool:
        """Return whether two trees are equal but for their leaves."""
        if self.rows is other.rows:
            return True
        if len(self.rows) != len(other.rows) or self.paths != other.paths:
            return False
        return all(
            a.kind is b.kind and a.leaves == b.leaves and equal(a.template, b.template)
            for a, b in zip(self.rows, other.rows, strict=True)
        )


def plan_of(root: Any) -> LinkPlan:
    """Return the plan of a tree of links; the link keeps it until the tree changes."""
    plan: LinkPlan | None = getattr(root, "_plan", None)
    if plan is None or not plan.is_of(root):
        plan = LinkPlan(root)
        object.__setattr__(root, "_plan", plan if plan.lasting else None)
    return plan


def _row(link: Any, leaves: tuple[tuple[str, int], ...], swaps: Mapping[int, Any]) -> Row:
    template: dict[str, Any] = {}
    shared: list[Any] = []
    children: list[Any] = []
    lists: list[str] = []
    nested: list[str] = []
    own: list[str] = []
    named = dict(leaves)
    for name, value in link.__dict__.items():
        if name == "_ties":
            continue
        found = template[name] = value if type(value) in PLAIN else swapped(value, swaps)
        if name in named:
            template[name] = None
        elif type(found) is Ref:
            children.append((name, found.index))
        elif found is value:
            if name in OWN and type(value) in (set, list, dict):
                template[name] = value.copy()
                own.append(name)
            else:
                shared.append((name, value))
        else:
            flat = type(found) in (list, tuple)
            flat = flat and all(type(new) is Ref or new is old for new, old in zip(found, value, strict=True))
            (lists if flat else nested).append(name)
    found = tuple(shared), leaves, tuple(children), tuple(lists), tuple(nested), tuple(own)
    return Row(type(link), template, *found)


def swapped(value: Any, swaps: Mapping[int, Any]) -> Any:
    """Return `value` with objects replaced by identity, at any depth; `value` if it contains no such object."""
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
        return value if found is None else Method(value.__func__, found)
    if kind is Method:
        return types.MethodType(value.function, swaps[id(value.owner)])
    if kind is functools.partial:
        parts = value.func, value.args, value.keywords
        found = swapped(parts, swaps)
        return value if found is parts else Partial(*found)
    if kind is Partial:
        func, args, keywords = (swapped(part, swaps) for part in (value.func, value.args, value.keywords))
        return functools.partial(func, *args, **keywords)
    return value


def equal(a: Any, b: Any) -> bool:
    """Return whether an attribute of a link is the same in two plans."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is Ref or kind is Leaf:
        return bool(a.index == b.index)
    if kind is list or kind is tuple or kind is Method or kind is Partial:
        return len(a) == len(b) and all(map(equal, a, b))
    if kind is dict:
        return list(a) == list(b) and all(map(equal, a.values(), b.values()))
    if kind is set:
        return bool(a == b)
    if kind is types.MethodType:
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    if kind is functools.partial:
        return equal((a.func, a.args, a.keywords), (b.func, b.args, b.keywords))
    return same(a, b)
