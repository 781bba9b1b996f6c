"""`Effect` and `Set`: outer state that a call sets, and the part that a program sets at each run."""

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from typing import Any, NamedTuple

from xpgrad.locks import shared_lock
from xpgrad.transforms.trace.guards.guard import ABSENT, Guard, in_c, is_constant
from xpgrad.transforms.trace.guards.objects import BOX, TRACED, is_inside, kind_of
from xpgrad.transforms.trees import flatten


class Effect(Guard):
    """An outer assignment by a call: ``READ[kind](owner, key)`` was `value` before."""

    __slots__ = ()

    def is_at(self, other: Guard) -> bool:
        """Return whether another effect sets, or a guard reads, the same attribute, item or variable."""
        return self.owner is other.owner and self.key == other.key

    def set(self, value: Any) -> None:
        """Assign a value; `ABSENT` deletes the target."""
        kind, owner, key, _ = self
        if value is ABSENT is self.now():
            return
        if kind == "contents":
            refill(owner, value)
        elif kind == "context":
            with suppress(LookupError):  # in another context it has its own default
                owner.set(value if value is not ABSENT else Context().run(owner.get))
        else:  # a `__setattr__` in Python was followed, and is not called again
            given = (value,) if value is not ABSENT else ()
            name = f"__{'set' if given else 'del'}{'attr' if kind in ('attribute', 'cell') else 'item'}__"
            in_c(type(owner), name)(owner, "cell_contents" if kind == "cell" else key, *given)


class Set(NamedTuple):
    """An outer assignment of a program at each run, or an append to a list: a constant, or, if `arrays`, computed."""

    effect: Effect
    value: Any
    arrays: bool

    def run(self, computed: Any) -> None:
        """Perform the assignment, with the computed result of a run if it contains arrays."""
        value = computed if self.arrays else self.value
        if self.effect.kind == "contents":
            self.effect.owner.extend(value)
        else:
            self.effect.set(value)

    def first(self, value: Any) -> None:
        """Perform the assignment after the recorded run, which has set its own arrays."""
        if not self.arrays:
            return
        if self.effect.kind == "contents":
            for i, x in enumerate(value, len(self.effect.owner) - len(value)):
                self.effect.owner[i] = x
        else:
            self.effect.set(value)


increasing = shared_lock()  # held while programs increase numbers


class Increase(Set):
    """A number outside to which a program adds the numbers in `value` at each run: a counter."""

    __slots__ = ()

    def run(self, computed: Any) -> None:
        """Increase the number, while no other thread does."""
        with increasing:
            self.effect.set(functools.reduce(operator.add, self.value, self.effect.now()))


def repeated_call(
    sets: Sequence[Set], given: Sequence[tuple[Effect, Any]], f: Callable[[], Any]
) -> tuple[Any, list[Any]]:
    """Return the result of another call, and the arrays that it sets outside, which is as before afterwards.

    `given` are places outside, and what the call finds there.
    """
    effects = [*(place for place, _ in given), *(each.effect for each in sets)]
    before = [effect.now() for effect in effects]
    try:
        for place, value in given:
            place.set(value)
        result = f()
        now = [each.effect.now() for each in sets]
    finally:
        for effect, value in zip(effects, before, strict=True):
            effect.set(value)
    found = [
        None if not each.arrays else list(new[-len(each.value) :]) if each.effect.kind == "contents" else new
        for each, new in zip(sets, now, strict=True)
    ]
    return result, found


def refill(box: Any, items: tuple[Any, ...]) -> None:
    """Restore the contents of a container: the keys and values of a dictionary, or items."""
    box.clear()
    if isinstance(box, dict):
        count = len(items) // 2
        box.update(zip(items[:count], items[count:], strict=True))
    elif hasattr(box, "update"):
        box.update(items)
    else:
        box.extend(items)


def _appended(effect: Effect, now: Any) -> Any:
    """Return the items that were appended to a list or a deque; None if it has changed otherwise.

    A full deque drops its first items: which are new is known if all new ones were made by the call.
    """
    old = effect.value
    dropped = range(len(old) + 1) if len(now) == getattr(effect.owner, "maxlen", None) else range(1)
    for kept in (old[first:] for first in dropped if len(now) >= len(old) - first):
        if all(map(operator.is_, now, kept)):
            new = now[len(kept) :]
            return None if len(kept) < len(old) and any(map(is_constant, new)) else new
    return None


def repeated(effect: Effect, now: Any, guards: Iterable[Guard], known: Mapping[int, Any]) -> Set | None:
    """Return the assignment that a program repeats at each run, or None if it cannot.

    It can set constants, objects from outside that the call has met, and arrays that it computes.
    """
    if effect.kind == "contents":
        appended = _appended(effect, now) if isinstance(effect.owner, (list, deque)) else None
        if appended is None or any(guard.owner is effect.owner for guard in guards):
            return None
        now = appended
    if is_constant(now) or (id(now) in known and not is_inside(now)):
        return Set(effect, now, False)
    leaves = flatten(now)[0] if kind_of(now) in (BOX, TRACED) else []
    return Set(effect, now, True) if leaves and all(is_inside(x) or is_constant(x) for x in leaves) else None
