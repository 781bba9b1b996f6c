"""Calls with unused results are removed, unless they draw random numbers or write to memory that is read."""

from collections.abc import Set
from typing import Any

from xpgrad.transforms.trace.aliases import OUTSIDE, Aliases
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.program import Program


def dead_calls(program: Program) -> Program:
    """Return the program without calls that have no effect on an output, an input or a constant."""
    aliases = Aliases(program)
    needed: set[Value] = {item for item in program.outputs if isinstance(item, Value)}
    read = set(aliases.of(needed))  # memory that is read after the call
    kept: list[Call] = []
    for call in reversed(program.calls):
        if not (
            call.draws
            or any(value in needed for value in call.results)
            or any(seen_later(aliases, item, read) for item in call.writes)
        ):
            continue
        kept.append(call)
        operands = set(call.operands())
        read.update(*(aliases.roots[value] for value in operands - needed))
        needed |= operands
    kept.reverse()
    return program.replaced(calls=tuple(kept)) if len(kept) < len(program.calls) else program


def seen_later(aliases: Aliases, item: Any, read: Set[int]) -> bool:
    """Return whether a write to this array can be seen, by a later call or after the run."""
    roots = aliases.of((item,))
    return OUTSIDE in roots or not roots.isdisjoint(read)
