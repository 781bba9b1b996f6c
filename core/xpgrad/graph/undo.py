"""`undone_by_errors` and `attributes_restored`: an object is changed whole, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.graph.node import VariableNode
from xpgrad.graph.parameter import STATE
from xpgrad.graph.variable import Variable
from xpgrad.types import Array

OF_NODES: tuple[str, ...] = ("device", "loss_scale", "successor")
"""What calls on a Variable change in its node."""


class UndoJournal:
    """Earlier contents of an object and of all objects serialized with it: Variables, nodes, arrays, attributes.

    Parameters
    ----------
    *objects : object with a method `serialize`
    """

    def __init__(self, *objects: Any) -> None:
        self._seen: dict[int, Any] = {}
        self._held: list[tuple[Any, Any]] = []
        self._nodes: list[tuple[VariableNode, dict[str, Any]]] = []
        self._written: list[tuple[Array, Array]] = []
        self._attributes: list[tuple[dict[str, Any], str, Any]] = []
        waiting = [*objects]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Variable) and id(item) not in self._seen:
                self.note(item)
                waiting.append(getattr(item, "update_rule", None))
            elif id(item) not in self._seen:
                self._seen[id(item)] = item
                waiting.extend(self._note(item))

    def _note(self, item: Any) -> list[Any]:
        """Record the contents of an object, and return the objects in it."""
        if isinstance(item, (dict, list)):
            self._held.append((item, item.copy()))
            return list(item.values() if isinstance(item, dict) else item)
        if isinstance(item, tuple):
            return list(item)
        if hasattr(type(item), "serialize") and type(getattr(item, "__dict__", None)) is dict:
            self._held.append((item, dict(item.__dict__)))
            return list(item.__dict__.values())
        return []

    def note(self, *variables: Variable) -> None:
        """Record the contents of Variables, unless they were recorded before."""
        for x in variables:
            if id(x) in self._seen:
                continue
            self._seen[id(x)] = x
            self._held.append((x, before := {}))
            for name in STATE:
                if hasattr(x, name):
                    before[name] = getattr(x, name)
            extra = x._node.extra
            kept = dict.fromkeys(OF_NODES) if extra is None else {name: getattr(extra, name) for name in OF_NODES}
            self._nodes.append((x._node, kept))

    def note_attribute(self, attributes: dict[str, Any], name: str) -> None:
        """Record an attribute of an object."""
        self._attributes.append((attributes, name, attributes.get(name, self)))

    def write(self, array: Array, values: Array) -> None:
        """Write values of the array's dtype, shape and device into it."""
        self.keep(array)
        call_on(array, array.__setitem__, ..., values)

    def keep(self, array: Any) -> None:
        """Keep the elements of an array, which will be written to; ignore other objects."""
        backend = plugins.by_type.get(type(array))
        if backend is not None and not backend.immutable:
            self._written.append((array, backend.copy(array)))

    def restore(self) -> None:
        """Restore the recorded contents of all objects."""
        for node, before in self._nodes:
            for name, value in before.items() if node.extra is not None else ():
                setattr(node.extra, name, value)
        for array, before in reversed(self._written):
            call_on(array, array.__setitem__, ..., before)
        for attributes, name, value in reversed(self._attributes):
            if value is self:  # there was none
                attributes.pop(name, None)
            else:
                attributes[name] = value
        for item, before in self._held:
            if isinstance(item, Variable):
                for name, value in before.items():
                    object.__setattr__(item, name, value)
            elif isinstance(item, list):
                item[:] = before
            else:
                held = item if isinstance(item, dict) else item.__dict__
                held.clear()
                held.update(before)


@contextmanager
def attributes_restored(obj: Any) -> Iterator[None]:
    """Restore the attributes of `obj`, and of attributes with a method `serialize`, if the block raises.

    It is cheaper than `undone_by_errors`, for objects that replace their attributes and do not write into these.
    """
    waiting, held, seen = [obj], [], set[int]()
    while waiting:
        item = waiting.pop()
        if id(item) not in seen and hasattr(type(item), "serialize") and type(getattr(item, "__dict__", None)) is dict:
            seen.add(id(item))
            held.append((item.__dict__, item.__dict__.copy()))
            waiting.extend(item.__dict__.values())
    try:
        yield
    except BaseException:
        for now, before in held:
            now.clear()
            now.update(before)
        raise


@contextmanager
def undone_by_errors(obj: Any) -> Iterator[UndoJournal]:
    """Restore `obj` if the block raises."""
    journal = UndoJournal(obj)
    try:
        yield journal
    except BaseException:
        journal.restore()
        raise
