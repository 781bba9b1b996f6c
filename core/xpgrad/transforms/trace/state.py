"""`OuterState`: arrays outside of a function that it reads and replaces, which its programs take and return."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.guards.effects import Effect
from xpgrad.transforms.trace.guards.objects import ARRAY, is_inside, kind_of

KEY = "(state)"
"""The keyword argument by which a recorded function gets the arrays of its state."""
KINDS = "attribute", "item", "cell", "global"
MAX_PLACES, MAX_GROWTHS = 64, 4
"""Limits on places, and on how often some are added: a function that exceeds them has another state at each call."""


class OuterState:
    """Attributes, items and variables outside of a function that hold arrays, which the function reads and replaces."""

    def __init__(self, places: Sequence[Effect] = (), growths: int = 0) -> None:
        self.places, self._growths = tuple(places), growths

    def grown(self, places: Sequence[Effect]) -> "OuterState | None":
        """Return a state with more places, or None where none is new or there are too many."""
        more = [place for place in places if not any(place.is_at(known) for known in self.places)]
        if not more or len(more) + len(self.places) > MAX_PLACES or self._growths >= MAX_GROWTHS:
            return None
        return OuterState((*self.places, *more), self._growths + 1)

    def given(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return keyword arguments together with the arrays in all places, and which of them are no Variables."""
        values = tuple([x if is_state(x) else None for x in (place.now() for place in self.places)])
        return {**kwargs, KEY: (values, tuple([type(x) in plugins.by_type for x in values]))}

    def entering(self, kwargs: Mapping[str, Any]) -> Iterator[tuple[Effect, Any]]:
        """Yield the places that hold arrays, and what a function gets there."""
        for place, x, is_plain in zip(self.places, *kwargs.get(KEY, ((), ())), strict=False):
            if x is not None:
                yield place, x._array if is_plain else x


def without_state(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments without the arrays of a state."""
    return {name: value for name, value in kwargs.items() if name != KEY} if KEY in kwargs else kwargs


def is_state(x: Any) -> bool:
    """Return whether a value is an array, a Variable, or a tuple of Variables."""
    return is_array(x) or (type(x) is tuple and bool(x) and all(isinstance(each, Variable) for each in x))


def is_place(effect: Effect) -> bool:
    """Return whether a function has replaced an array from outside by one that it, or its library, has computed."""
    now = effect.now()
    found = now if type(now) is tuple else (now,)
    computed = is_state(now) and all(map(is_inside, found))
    return (
        effect.kind in KINDS
        and is_state(effect.value)
        and (computed or kind_of(now) is ARRAY or plugins.is_scalar(now))
    )
