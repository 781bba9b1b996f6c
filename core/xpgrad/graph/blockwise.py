"""Raw vjps of elementwise functions of large arrays, which a backend may compute in blocks and in place."""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.kernels import OWNER
from xpgrad.backend.programs import programs_of
from xpgrad.graph.definition import Definition, identity
from xpgrad.graph.pullback import Pullback, getter, rule_of


class Blockwise:
    """The vjps of a pullback for one large cotangent, which replace the pullback.

    Attributes
    ----------
    pull : callable
        Label of the pullback; it returns None for a gradient that it has added to a total.
    elementwise, only_first, several : bool
        Slots of the pullback.
    """

    __slots__ = ("elementwise", "only_first", "pull", "several")

    def __init__(self, pullback: Pullback, pull: Callable[..., Sequence[Any]]) -> None:
        self.pull, self.elementwise = pull, True
        self.only_first, self.several = pullback.only_first, pullback.several


class Blocks:
    """The vjps of a pullback that a backend computes in blocks.

    Attributes
    ----------
    places : list of int
        Of the inputs that get a gradient.
    """

    __slots__ = ("_count", "_getters", "_pullback", "_vjps", "places")

    def __init__(self, pullback: Pullback, needed: list[str], vjps: Callable[..., Any]) -> None:
        definition = pullback.definition
        self.places, self._count = [definition.inputs.index(x) for x in needed], len(definition.inputs)
        self._getters = [[getter(definition, name) for name in definition.asks[x]] for x in needed]
        self._vjps, self._pullback = vjps, pullback

    def with_totals(self, totals: list[Any], owned: bool) -> Blockwise:
        """Return a pullback that adds to these totals, where given, and may overwrite a cotangent that is `owned`."""

        def pull(f: Any, gy: Any) -> Sequence[Any]:
            values = [[get(f) for get in each] for each in self._getters]
            gxs = self._vjps(gy, values, totals, owned)
            totals.clear()  # else they would be referred to from here as long as the sweep holds this
            if gxs is NotImplemented:
                return self._pullback.pull(f, gy)
            placed: list[Any] = [None] * self._count
            for place, gx in zip(self.places, gxs, strict=True):
                placed[place] = gx
            return placed

        return Blockwise(self._pullback, pull)


def blocks_of(pullback: Pullback) -> Blocks | None:
    """Return the vjps of a pullback that the backend computes in blocks, None if they run on whole arrays."""
    if pullback.blocks is None:
        pullback.blocks = _made(pullback) or False
    return pullback.blocks or None


def _made(pullback: Pullback) -> Blocks | None:
    definition, backend = pullback.definition, pullback.backend
    needed = [x for x, need in zip(definition.inputs, pullback.needed, strict=False) if need and x in definition.rules]
    if not definition.elementwise or not needed or not all(_of_values(definition, x) for x in needed):
        return None
    kernels = [definition.vjps[x].name for x in needed]
    names = [name if set(backend.xp.providers(name)) <= {backend.name} else None for name in kernels]
    rules = [functools.partial(rule_of(definition, backend, x), backend.xp) for x in needed]
    vjps = programs_of(backend).blockwise(names, rules)
    return None if vjps is None else Blocks(pullback, needed, vjps)


def _of_values(definition: Definition, x: str) -> bool:
    """Return whether a rule of xpgrad's own computes something from arrays and parameters only."""
    if OWNER in definition.kernel.name or definition.variadic or definition.rules[x] is identity:
        return False
    return all(name in {"y", *definition.inputs, *definition.parameters} for name in definition.asks[x])


# An array is referenced only by the sweep if the reference count equals the number of the sweep's variables and slots.
# Writes to such an array are invisible to users, because views refer to their array as well. The number of references
# that a variable creates depends on the interpreter, so it is counted for an object held in the same way. A tracer may
# hold more references meanwhile, so the limit is the number in Python 3.11 to 3.13; if a tracer holds more in a sweep,
# no array is overwritten.


def _in_an_argument(held: object) -> int:
    return sys.getrefcount(held)


def _in_a_local() -> tuple[int, int]:
    held = object()
    return sys.getrefcount(held), _in_an_argument(held)


IN_A_LOCAL = min(_in_a_local()[0], 2)
"""What `sys.getrefcount` gives for an object that one local variable refers to, and nothing else."""
IN_AN_ARGUMENT = min(_in_a_local()[1], 3)
"""The same in a function that has got the object from the one with that variable."""
