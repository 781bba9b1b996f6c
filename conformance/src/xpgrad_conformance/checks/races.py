"""Family P, races: threads that call one function at the same time, for the first time, and on large arrays."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from xpgrad_conformance.check import check
from xpgrad_conformance.checks.together import COUNT, together
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.sequences import assert_right, in_turn, pairs_of
from xpgrad_conformance.subject import Subject

SWITCH = 1e-5
"""Seconds after which another thread may go on: far fewer than usual, so that more orders of events occur."""
LARGE = 3000, 40_000
"""Bounds of the number of elements of large samples: functions that let go of the interpreter run at the same time."""


@check("P50", scope="operation", needs=("threads",), applies=in_turn, early=True)
def first_uses(s: Subject) -> None:
    """Eight threads that call a function at once, for the first time with these shapes, all get right results."""
    assert s.operation is not None
    pairs = pairs_of(s, s.operation)
    rounds = [pairs[-1:], pairs[: 1 if s.quick else 4], pairs_of(s, s.operation, *LARGE, count=2)[-1:]]
    with _switching_often():
        for one, two in [pair for some in rounds for pair in some]:
            samples = [one, two] * (COUNT // 2)
            results = together([_caller(s, sample) for sample in samples])
            for sample, got in zip(samples, results, strict=True):
                assert_right(s, sample, got, "called by eight threads at once")
            for sample in (one, two):
                assert_right(s, sample, _caller(s, sample)(), "called after eight threads did at once")


def _caller(s: Subject, sample: Sample) -> Callable[[], Any]:
    arrays = sample.arrays(s)
    return lambda: sample.applied(s.xp, *arrays)


@contextlib.contextmanager
def _switching_often() -> Iterator[None]:
    """Let threads take turns more often within a block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
