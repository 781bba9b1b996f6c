"""The Python values from outside that a function reads: constants of its programs, and checked before each run."""

import math
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.types import Array

PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Constant(NamedTuple):
    """A value that a function reads from outside of its arguments.

    Attributes
    ----------
    kind : str
        "cell", "global" or "attribute"; "items" for what is in a list, tuple or dictionary, "contents" for the elements
        of an array.
    holder : object
        The cell, the dictionary of the module, the object, or the container.
    name : str
        Of the variable or attribute.
    value : object
        What it was when the function was traced; for "items" a tuple of the items, in a dictionary also of its keys.
    """

    kind: str
    holder: Any
    name: str
    value: Any

    @property
    def title(self) -> str:
        """What messages call it."""
        if self.kind == "contents":
            return "an array"
        if self.kind == "items":
            return f"a {type(self.holder).__name__}"
        return f"the {'variable' if self.kind in ('cell', 'global') else 'attribute'} {self.name!r}"

    def now(self) -> Any:
        """Return its value now; an object of its own if there is none."""
        if self.kind == "cell":
            try:
                return self.holder.cell_contents
            except ValueError:  # it was deleted
                return self
        if self.kind == "global":
            return self.holder.get(self.name, self)
        if self.kind == "contents":
            return contents(self.holder)
        return items(self.holder) if self.kind == "items" else getattr(self.holder, self.name, self)

    def holds(self) -> bool:
        """Return whether it is what it was."""
        now = self.now()
        if self.kind == "contents":
            return bool(now == self.value)
        return same_items(now, self.value) if self.kind == "items" else same(now, self.value)


def contents(array: Array) -> Any:
    """Return a value that changes when an array is written to."""
    return plugins.backend_of(array).fingerprint(array)


def items(container: Any) -> tuple[Any, ...]:
    """Return what a list, tuple or dictionary contains, of a dictionary also the keys."""
    return (*container, *container.values()) if isinstance(container, dict) else tuple(container)


def same(a: Any, b: Any) -> bool:
    """Return whether two constants are the same to a program: one object, or equal numbers or strings of one type."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is tuple:
        return same_items(a, b)
    if kind not in PLAIN:
        return False
    if kind is float:
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    return bool(a == b) if kind is not complex else repr(a) == repr(b)


def same_items(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Return whether two containers had the same contents."""
    return len(a) == len(b) and all(map(same, a, b))
