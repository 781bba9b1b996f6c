"""A call with the same function and arguments as an earlier one is replaced by its results."""

from typing import Any

from xpgrad.transforms.trace.aliases import Aliases
from xpgrad.transforms.trace.calls import Call, Value, substituted
from xpgrad.transforms.trace.keys import call_key
from xpgrad.transforms.trace.lifetimes import VIEWS, Profile, last_uses
from xpgrad.transforms.trace.program import Program

SMALL_BYTES = 64  # of results that are kept longer without a look at the memory


def equal_calls(program: Program) -> Program:
    """Return the program without calls that repeat another.

    Results that would increase the peak of memory are not kept: a checkpoint still recomputes its values. A call that
    reads memory is not equal to a call before a write to it, and an array that is written to remains separate.
    """
    aliases = Aliases(program)
    uses = last_uses(program)
    last = {value: i for i, values in enumerate(uses) for value in values}
    profile: Profile | None = None
    found: dict[Any, tuple[int, Call]] = {}
    same: dict[Value, Any] = {}
    kept: list[Call] = []
    writes = 0
    for i, old in enumerate(program.calls):
        call = old.substituted(same)
        if not call.pure or any(map(aliases.is_written, call.results)):
            writes += bool(call.writes)
            kept.append(call)
            continue
        key = call_key(call)
        if aliases.written and not aliases.written.isdisjoint(aliases.of_operands(call)):
            key = *key, writes
        first = found.get(key)
        if first is not None and len(first[1].results) == len(call.results):
            ends = [last.get(value, len(program.calls)) for value in first[1].results]
            size = 0 if call.name in VIEWS else sum(value.nbytes for value in call.results)
            if size > SMALL_BYTES and min(ends) < i:
                profile = profile or Profile(program, uses)
                if not profile.extend(min(ends), i, size):
                    found[key] = i, call
                    kept.append(call)
                    continue
            same.update(zip(call.results, first[1].results, strict=True))
            for value, twin, end in zip(call.results, first[1].results, ends, strict=True):
                last[twin] = max(end, last.get(value, len(program.calls)))
            continue
        found[key] = i, call
        kept.append(call)
    if not same:
        return program
    return program.replaced(calls=tuple(kept), outputs=substituted(program.outputs, same))
