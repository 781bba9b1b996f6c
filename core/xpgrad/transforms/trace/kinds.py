"""`Kind`: the calls of a compiled function that one program serves."""

import os
from collections import Counter
from collections.abc import Collection
from typing import Literal, NamedTuple

from xpgrad.transforms.trace.entry import Entry, entry
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.runner import Runner
from xpgrad.transforms.trace.tracing import Trace

Verify = bool | int | Literal["always"]
LONG, MIN_REPEATS = 5_000, 500
"""Number of calls from which on a program is searched for a loop, and of those from one line that are taken for one."""
RECORDED = 2
"""How many calls of a kind are recorded before its program runs."""


class CacheInfo(NamedTuple):
    """How often calls found a program.

    Attributes
    ----------
    hits, misses : int
        Numbers of calls that ran a program, and of calls that were traced or ran without a program.
    size, maximum : int
        Number of kinds of arguments that are known, and how many are kept.
    """

    hits: int
    misses: int
    size: int
    maximum: int


class Kind:
    """The calls of a compiled function that one program serves.

    Attributes
    ----------
    entry : callable
        Collects the inputs of a call of this kind; None for other calls.
    trace, eager : Trace or None, str or None
        The first recorded run, until a second one has confirmed it, and the reason for the missing program.
    ready : tuple of callable and Runner, or None
        The program's `entry`, and its runner, which other threads read together.
    loose : callable or None
        An entry that takes any floats among the arguments; None if a program is not the same for other numbers. For
        calls without a program, an entry that compares only the arguments.
    runs, due, tries : int
        Number of calls; the number of the next call that is compared with the program; how often a run has differed
        from the previous run, as values cached at the first call change the second run.
    """

    __slots__ = ("due", "eager", "entry", "loose", "ready", "runs", "trace", "tries")

    def __init__(self, entry: Entry, trace: Trace | None) -> None:
        self.entry = entry
        self.trace = trace
        self.ready: tuple[Entry, Runner] | None = None
        self.eager: str | None = None
        self.loose: Entry | None = None
        self.runs = self.tries = self.due = 0


def next_of(runs: int, verify: Verify) -> int:
    """Return the number of the next call that is compared with its program: 5, 10, 20, 40, ... if `verify` is True."""
    if verify == "always":
        return runs + 1
    if verify is True:
        due = 5
        while due <= runs:
            due *= 2
        return due
    return runs + verify if verify else 0


def entry_of(trace: Trace, loosened: Collection[int] = (), *, first: bool = False) -> Entry:
    """Return the entry of the program that a run has recorded, for any floats in place of those `loosened`.

    The entry of a `first` run, which another one confirms, takes two arguments for one array only if they were one.
    """
    writes = first or trace.facts.identified or any(call.writes for call in trace.program.calls)
    kinds = [leaf.kind for leaf in trace.results] + [write.source.kind for write in trace.writes]
    returns = bool(trace.wanted or trace.ends) or "argument" in kinds
    given = trace.leaves, trace.arguments, trace.sources, trace.facts.guards.values()
    return entry(*given, writes=writes, returns=returns, loosened=loosened, shared=trace.shared)


def repeated_body(program: Program) -> str | None:
    """Return in words that a long program is a loop, most of whose calls come from few lines; else None."""
    count = len(program.calls)
    if count < LONG:
        return None
    (line, most), *_ = Counter(call.line for call in program.calls).most_common(1)
    if line is None or most < MIN_REPEATS:
        return None
    return (
        f"the program has {count:,} calls, {most:,} of them from line {line[1]} of {os.path.basename(line[0])}, in "
        f"{line[2]}: write the loop by xpgrad.transforms.scan, which records its body once"
    )


def failure_of(trace: Trace) -> str | None:
    """Return the reason why a recorded run cannot be a program, or None."""
    facts = trace.facts
    if trace.failure is not None:
        return trace.failure
    if facts.reason is None and (facts.changed or facts.effects):
        what = (facts.changed or list(facts.effects.values()))[0]
        return (
            f"it changed {what.title} from outside, which no program repeats: return it, or keep it in a Variable and "
            "assign x.array"
        )
    return None if facts.reason is None else f"{facts.reason}; pass it as an argument, or in a Variable"
