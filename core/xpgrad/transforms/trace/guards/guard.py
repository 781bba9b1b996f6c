"""`Guard`: one value that a call has read from outside, and the check whether it is unchanged."""

import math
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.containers import container_of
from xpgrad.transforms.trace.guards.objects import DATES, PLAIN, SIMPLE, kind_of, values


class Absent:
    """The value of a missing attribute or item."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT, referent = Absent(), weakref.ref.__call__


class Guard(NamedTuple):
    """A value that a call has read from outside: ``READ[kind](owner, key)`` was `value`."""

    kind: str
    owner: Any
    key: Any
    value: Any

    @property
    def title(self) -> str:
        """Name in messages."""
        return f"{TITLES.get(self.kind, self.kind)}{self._name} of {self._owner}"

    @property
    def _name(self) -> str:
        return "" if self.key is None or self.kind in ("call", "cell") else f" {self.key!r}"

    @property
    def _owner(self) -> str:
        if self.kind == "global":
            return f"the module {self.owner.get('__name__', '?')}"
        if isinstance(self.owner, types.ModuleType):
            return f"the module {self.owner.__name__}"
        if isinstance(self.owner, (type, types.FunctionType, types.BuiltinFunctionType)):
            return self.owner.__qualname__
        return f"a {type(self.owner).__name__}"

    def now(self) -> Any:
        """Return the current value, or `ABSENT` if deleted."""
        try:
            return READ[self.kind](self.owner, self.key)
        except Exception:  # raised by the owner, which has changed
            return ABSENT

    def holds(self) -> bool:
        """Return whether the value is unchanged."""
        now = self.now()
        if self.kind == "values":
            return bool(now == self.value)
        return same_tree(now, self.value) if self.kind == "tree" else same(now, self.value)

    def __str__(self) -> str:
        shown = "its contents" if self.kind in ("contents", "values", "tree") else f"{self.value!r:.60}"
        return f"{self.title}: {shown}"


def inherited(kind: type, name: str) -> Any:
    """Return the attribute in the classes of `kind` under a name, without running a descriptor."""
    for each in kind.__mro__:
        if name in each.__dict__:
            return each.__dict__[name]
    return ABSENT


def above(o: Any, name: str) -> Any:
    """Return the attribute that ``super`` finds under a name, without running a descriptor."""
    line = o.__self_class__.__mro__
    return next((vars(kind)[name] for kind in line[line.index(o.__thisclass__) + 1 :] if name in vars(kind)), ABSENT)


def in_c(kind: type, name: str) -> Any:
    """Return the method of a class that is written in C, which those in Python call in the end."""
    found = (vars(each)[name] for each in kind.__mro__ if name in vars(each))
    return next(f for f in found if not isinstance(f, types.FunctionType))


def contents(box: Any) -> tuple[Any, ...]:
    """Return the contents of a container, for a dictionary including the keys."""
    return (*box, *box.values()) if not isinstance(box, tuple) and hasattr(box, "values") else tuple(box)


def _item(owner: Any, key: Any) -> Any:
    try:
        return ABSENT if hasattr(owner, "keys") and key not in owner else owner[key]
    except IndexError:
        return ABSENT


READ: dict[str, Callable[[Any, Any], Any]] = {
    "global": lambda o, k: o.get(k, ABSENT),
    "attribute": lambda o, k: getattr(o, k, ABSENT),
    "method": lambda o, k: getattr(getattr(o, k, ABSENT), "__func__", ABSENT),
    "class attribute": lambda o, k: getattr(type(o), k, ABSENT),
    "inherited": lambda o, k: inherited(type(o), k),
    "of class": inherited,
    "above": above,
    "own": lambda o, k: getattr(o, "__dict__", {}).get(k, ABSENT),
    "class": lambda o, k: type(o),
    "cell": lambda o, k: o.cell_contents,
    "item": _item,
    "element": lambda o, k: o[k],
    "membership": lambda o, k: k in o,
    "length": lambda o, k: len(o),
    "contents": lambda o, k: contents(o),
    "listed": lambda o, k: contents(getattr(o, k)),
    "values": lambda o, k: values(o),
    "context": lambda o, k: o.get(ABSENT),
    "tree": lambda o, k: o,
    "call": lambda o, k: o(*k),
    "setting": lambda o, k: repr(o()),
    "type": lambda o, k: type(READ[k[0]](o, k[1])),
    "alive": lambda o, k: referent(o) is not None,
    "weak": lambda o, k: READ[k[0]](referent(o), k[1]),
}
"""How each kind is read again."""
TITLES = {
    "global": "the variable", "cell": "a variable", "method": "the method", "item": "the item", "class": "the class",
    **dict.fromkeys(("attribute", "own", "of class", "above", "inherited", "class attribute"), "the attribute"),
    "element": "the element", "length": "the length", **dict.fromkeys(("contents", "listed"), "the items"),
    "call": "the result", "setting": "the result", "values": "the values", "context": "the value",
}  # fmt: skip
SOURCE = {
    "global": "{o}[{k}]", "attribute": "{o}.{n}", "method": "{o}.{n}.__func__", "class attribute": "type({o}).{n}",
    "class": "type({o})", "cell": "{o}.cell_contents", "membership": "({k} in {o})", "length": "len({o})",
    "plain item": "{o}[{k}]",  # of a list or dictionary
}  # fmt: skip
"""How the source of an entry reads what is there; all else is read by `READ`."""


def same(a: Any, b: Any) -> bool:
    """Return whether two values are the same to a program: one object, or equal numbers or strings of one type."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is tuple or hasattr(kind, "_fields"):
        return len(a) == len(b) and all(map(same, a, b))
    if kind is float:
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if kind is complex or kind in DATES or (kind not in PLAIN and plugins.is_scalar(a)):
        return repr(a) == repr(b)
    if kind is slice:
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if kind is frozenset:
        return all(type(x) in PLAIN for x in (*a, *b)) and sorted(map(repr, a)) == sorted(map(repr, b))
    if kind in PLAIN:
        return bool(a == b)
    return False


def same_tree(x: Any, known: tuple[type, Any]) -> bool:
    """Return whether a model or another tree has the known type and structure, with any leaves."""
    kind, empty = known
    container = container_of(kind)
    return container is not None and type(x) is kind and container.same(x, empty)


def name_of(key: Any) -> Any:
    """Return a key of a dictionary as a name of a guard."""
    if type(key) is tuple:
        return tuple(map(name_of, key))
    return (type(key), key) if type(key) in (str, int) else repr(key) if kind_of(key) is SIMPLE else id(key)


def weaken(guards: dict[Any, Guard]) -> None:
    """Let guards refer weakly to objects that a call has by weak references: a program must not keep them alive."""
    found = {id(g.value): g.key[0] for g in guards.values() if g.owner is referent and g.value is not None}
    for place, (kind, owner, key, value) in guards.items() if found else ():
        if id(owner) in found and kind not in ("values", "tree"):
            guards[place] = Guard("weak", found[id(owner)], (kind, key), value)
        elif owner is referent and value is not None:
            guards[place] = Guard("alive", key[0], None, True)


def is_constant(value: Any) -> bool:
    """Return whether a value is plain, or a tuple of such: it can be set again at each run."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_constant, value))
    return isinstance(value, (*PLAIN, Absent))
