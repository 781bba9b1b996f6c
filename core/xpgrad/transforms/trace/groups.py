"""Groups of calls of a program: calls that one function computes together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from xpgrad.transforms.trace.calls import Call, CallSequence, Value, substituted

AnyCalls = TypeVar("AnyCalls", bound=CallSequence)

LEFT_OUT = "left out: "
"""How an executor's notes begin on calls that are in no group."""


class CallGroup:
    """Calls as one function: base of `BlockGroup`, and of the groups of executors.

    Attributes
    ----------
    title : str
        The name of its call in programs.
    calls : tuple of Call
    inputs, outputs : tuple of Value
    notes : tuple of str
        What `Program.explain` says about the group.
    """

    __slots__ = ()
    title: ClassVar[str]
    notes: tuple[str, ...] = ()
    calls: tuple[Call, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    @property
    def extent(self) -> str:
        """What `Program.explain` says about the size of the group."""
        return ""

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Return the results of the calls on whole arrays."""
        found: dict[Value, Any] = dict(zip(self.inputs, arrays, strict=True))
        for call in self.calls:
            made = call.function(*substituted(call.args, found), **substituted(call.kwargs, found))
            found.update(zip(call.results, [made] if call.single else made, strict=True))
        return [found[value] for value in self.outputs]

    def as_call(self) -> Call:
        """Return the call of this function."""
        return Call(self.title, self, self.inputs, {}, self.outputs, single=False, line=self.calls[0].line)


@dataclass(frozen=True, eq=False, slots=True)
class BlockGroup(CallGroup):
    """Elementwise calls that a run may do together, one block of their arrays after the other.

    All outputs have one shape; inputs have this shape or are 0-d.
    """

    title = "in_blocks"
    calls: tuple[Call, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def group_of(call: Call) -> CallGroup | None:
    """Return the group that a call computes: its function, or the one that an executor wraps; None without one."""
    function = getattr(call.function, "fused", call.function)
    return function if isinstance(function, CallGroup) else None


def within(call: Call) -> tuple[Call, ...]:
    """Return the calls that one call computes together, none for other calls."""
    group = group_of(call)
    return () if group is None else group.calls


def calls_in(program: AnyCalls) -> AnyCalls:
    """Return the program with the calls of each `BlockGroup` in its place."""
    if not any(isinstance(call.function, BlockGroup) for call in program.calls):
        return program
    flat: list[Call] = []
    for call in program.calls:
        flat += call.function.calls if isinstance(call.function, BlockGroup) else (call,)
    return program.replaced(calls=tuple(flat))


class Grouping:
    """Visits the calls of a program in order, and puts some together in the open group.

    A call that needs no result of the open group runs before it, and a call that needs one of its results runs after
    it. In `calls` are the calls in order so far.
    """

    def __init__(self, program: CallSequence) -> None:
        self.calls: list[Call] = []
        self._uses: dict[Value, list[Call]] = {}
        self._needed = {item for item in program.outputs if isinstance(item, Value)}
        self._after: list[Call] = []
        self._later: set[Value] = set()  # results of calls after the group
        for call in program.calls:
            for value in call.operands():
                self._uses.setdefault(value, []).append(call)
        for call in program.calls:
            self._add(call)
        self._close()

    def _add(self, call: Call) -> None:
        """Take a call into the open group, or call `_place`."""
        raise NotImplementedError

    def _close(self) -> None:
        """End the open group by `_end`."""
        raise NotImplementedError

    def _waits(self, call: Call) -> bool:
        """Return whether a call needs a result of a call that runs after the open group."""
        return not self._later.isdisjoint(call.operands())

    def _place(self, call: Call, *, after: bool) -> None:
        """Put a call that is not in the open group before it, or after it."""
        if after:
            self._after.append(call)
            self._later.update(call.results)
        else:
            self.calls.append(call)

    def _end(self, calls: Iterable[Call]) -> None:
        """Put calls in the place of the open group."""
        self.calls += [*calls, *self._after]
        self._after, self._later = [], set()

    def _outputs(self, members: Sequence[Call]) -> list[Value]:
        """Return the results of the members of a group that other calls or the program need."""
        own = set(members)
        made = [value for call in members for value in call.results]
        return [x for x in made if x in self._needed or any(call not in own for call in self._uses.get(x, ()))]
