"""`fuse`: a program whose calls are replaced by groups."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xpgrad.plugin import Backend
from xpgrad.transforms.trace.aliases import Aliases
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.groups import LEFT_OUT, Grouping, calls_in
from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.program import Program
from xpgrad.types import Shape
from xpgrad_fusion.group import Fused
from xpgrad_fusion.meanings import NEVER, SHAPES, apply
from xpgrad_fusion.operands import Operands
from xpgrad_fusion.space import Unfusible
from xpgrad_fusion.statements import Statement
from xpgrad_fusion.symbols import Symbol

Accepts = Callable[[Statement], bool]
MAX_STATEMENTS = 50_000
VIEWS = SHAPES | {"getitem", "x[]"}
"""Functions that cost next to nothing: for them no group ends."""


def fuse(program: Program, accepts: Accepts, worth: Callable[[Fused], bool]) -> Program:
    """Return the program with groups of calls as one call each.

    A call that needs no result of a group runs before it, and a call that needs one of its results runs after it. No
    group crosses a call that writes.

    Parameters
    ----------
    accepts : callable
        Returns whether there is code for a statement.
    worth : callable
        Returns whether a group takes less time than its calls.
    """
    backend = program.backend
    if backend is None:
        return program
    flat = calls_in(program)
    notes = tuple(note for note in program.notes if not note.startswith(("blocks:", LEFT_OUT)))
    plain = flat.replaced(calls=tuple(call.replaced(out=None, frees=()) for call in flat.calls), notes=notes)
    calls = tuple(FusedGrouping(plain, backend, accepts, worth).calls)
    if not any(isinstance(call.function, Fused) for call in calls):
        return program
    found = plain.replaced(calls=calls, notes=(*notes, *left_out(calls, backend, accepts)))
    return buffers(found if flat is program else blocks(found))


def left_out(calls: Iterable[Call], backend: Backend, accepts: Accepts) -> Iterator[str]:
    """Yield notes on the calls that are in no group: their functions, and why."""
    reasons: dict[str, dict[str, None]] = {}
    known: dict[Any, str] = {}
    for call in calls:
        if not isinstance(call.function, Fused):
            key = call.name, call.pure, *(value.spec for value in call.operands())
            if key not in known:
                known[key] = _reason(call, backend, accepts)
            reasons.setdefault(known[key], {})[call.name] = None
    for reason, names in reasons.items():
        yield f"{LEFT_OUT}{', '.join(names)}: {reason}"


def _reason(call: Call, backend: Backend, accepts: Accepts) -> str:
    shape = largest(call)
    if not call.pure:
        return "writes to an array" if call.writes else "draws random numbers, or has another effect"
    if call.name in NEVER:
        return "a function of the library, with no formula for each element"
    if shape is None or not call.results:
        return "no elements"
    try:
        alone = Members(backend, accepts, shape)
        apply(call, alone)
    except Unfusible as error:
        return str(error)
    return "no faster together with its neighbours than the library's call"


class Members(Operands):
    """Calls of a group under construction, with their statements in one space.

    Attributes
    ----------
    calls : list of Call
    """

    def __init__(self, backend: Backend, accepts: Accepts, shape: Shape) -> None:
        super().__init__(backend, accepts, shape)
        self._accepts = accepts
        self.calls: list[Call] = []

    def add(self, call: Call) -> bool:
        """Take a call, and return whether it fits."""
        marks, inputs = self.builder.marks(), len(self.inputs)
        try:
            found = apply(call, self)
            if len(self.builder.statements) > MAX_STATEMENTS:
                raise Unfusible("too many statements")
        except Unfusible:
            self.builder.back(marks)
            for value in list(self.inputs)[inputs:]:
                del self.inputs[value]
                self.symbols.pop(value, None)
                self._by_element.discard(value)
            self._constants = {key: value for key, value in self._constants.items() if value in self.inputs}
            del self.arguments[inputs:]
            return False
        self.calls.append(call)
        for value, symbol in zip(call.results, found, strict=True):
            self.symbols[value] = symbol
            self.made[value] = call
        return True

    def widened(self, shape: Shape) -> "Members | None":
        """Return the same calls in a larger space, or None if they do not fit there."""
        found = Members(self.backend, self._accepts, shape)
        return found if all(found.add(call) for call in self.calls) else None

    def fused(self, outputs: list[Value]) -> Fused:
        """Return the group, with the statements that its outputs need."""
        builder = self.builder
        rows, columns = builder.space.counts()
        results = [self._stored(self.symbols[value]) for value in outputs]
        needed, waiting = set[Statement](), list(results)
        while waiting:
            statement = waiting.pop()
            if statement not in needed:
                needed.add(statement)
                waiting.extend(statement.operands)
        statements = tuple(item for item in builder.statements if item in needed)
        levels = {value: symbol.statement.level for value, symbol in self.symbols.items()}
        for value in (*outputs, *self.made):
            if levels.get(value) != "array":
                levels[value] = self._level(self.symbols[value])
        levels |= dict.fromkeys(self._by_element, "array")
        return Fused(rows, columns, tuple(self.inputs), tuple(outputs), levels, statements, tuple(results),
                     tuple(self.calls))  # fmt: skip

    def _level(self, symbol: Symbol) -> str:
        """Return the level of an array by its number of elements: a lower statement is repeated in it."""
        level = symbol.statement.level
        if level in ("point", "array") or symbol.size == 1:
            return level
        return "row" if symbol.short else self.builder.space.level(symbol.shape)

    def _stored(self, symbol: Symbol) -> Statement:
        level = self._level(symbol)
        if level == symbol.statement.level:
            return symbol.statement
        return self.builder.add("copy", (symbol.statement,), symbol.statement.dtype, level)


class FusedGrouping(Grouping):
    """Puts the calls that have statements together."""

    def __init__(self, program: Program, backend: Backend, accepts: Accepts, worth: Callable[[Fused], bool]) -> None:
        self._backend, self._accepts, self._worth = backend, accepts, worth
        self._aliases = Aliases(program)
        self._open: Members | None = None
        super().__init__(program)

    def _add(self, call: Call) -> None:
        if call.writes:
            self._close()
            self.calls.append(call)
            return
        written = any(map(self._aliases.is_written, call.results))  # which must remain views until then
        candidate = call.pure and call.name not in NEVER and bool(call.results) and not written
        waits = self._waits(call)
        if candidate and not waits and self._joined(call):
            return
        if self._open is None:
            self._place(call, after=False)
        elif candidate and call.name not in VIEWS and (started := self._started(call)) is not None:
            self._close()
            self._open = started
        else:
            depends = not self._open.made.keys().isdisjoint(call.operands())
            self._place(call, after=waits or depends or call.draws)

    def _started(self, call: Call) -> Members | None:
        """Return a new group of one call, or None if the call cannot be in a group at all."""
        shape = largest(call)
        if shape is None:
            return None
        made = Members(self._backend, self._accepts, shape)
        return made if made.add(call) else None

    def _joined(self, call: Call) -> bool:
        """Take a call into the open group, or into a new one if none is open, and return whether it fits."""
        if self._open is None:
            self._open = self._started(call)
            return self._open is not None
        shape = largest(call)
        if shape is None:
            return False
        space = self._open.builder.space
        if wider(shape, space.shape):
            found = self._open.widened(shape)
            if found is None or not found.add(call):
                return False
            self._open = found
            return True
        return self._open.add(call)

    def _close(self) -> None:
        self._end([] if self._open is None else self._members(self._open))
        self._open = None

    def _members(self, members: Members) -> list[Call]:
        """Return the call of a group, or its members if they cannot be fused or it is not worth it."""
        outputs = self._outputs(members.calls)
        try:
            group = members.fused(outputs) if outputs else None
        except Unfusible:  # an output of another shape than the space: a number repeated with more axes
            group = None
        if group is None or not self._worth(group):
            return members.calls
        return [group.as_call().replaced(args=tuple(members.arguments))]


def largest(call: Call) -> Shape | None:
    """Return the shape with the most elements among the operands and results of a call, except by an index."""
    if call.name in ("getitem", "x[]", "scatter_add"):
        return ()
    shapes = [value.spec.shape for value in (*call.operands(), *call.results)]
    if any(0 in shape for shape in shapes):
        return None
    return max(shapes, key=_points, default=None)


def _points(shape: Shape) -> tuple[int, int]:
    return math.prod(shape), len(shape)


def wider(shape: Shape, other: Shape) -> bool:
    """Return whether a space of `shape` would hold more than one of `other`."""
    return _points(shape)[0] > _points(other)[0] or (_points(shape) > _points(other) and _points(other)[0] == 1)
