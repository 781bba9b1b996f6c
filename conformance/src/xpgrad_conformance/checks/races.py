"""Family P, races: threads that call one function at the same time, for the first time, and on large arrays."""

import functools
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import random
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.together import COUNT, alone, switching_often, together
from xpgrad_conformance.generated.alike import of_one_shape
from xpgrad_conformance.generated.programs_compared import program_error
from xpgrad_conformance.generated.programs_drawn import drawn
from xpgrad_conformance.generated.programs_shrunk import program_text
from xpgrad_conformance.generated.sample import Sample
from xpgrad_conformance.generated.sequences import (
    assert_all_right,
    assert_equal,
    assert_right,
    gradients,
    in_dtype,
    in_turn,
    is_real,
    pairs_of,
)
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_same_bits

SECONDS = 10.0
"""Time after which no other programs begin: libraries that compile each call run fewer."""
MIXED = 4
"""Shapes with which the full profile calls functions at once in several dtypes."""
LARGE = 3000, 40_000
"""Bounds of the number of elements of large samples: functions that let go of the interpreter run at the same time."""


@check("P50", scope="operation", needs=("threads",), applies=in_turn, early=True)
def first_uses(s: Subject) -> None:
    """Eight threads that call a function at once, for the first time with these shapes, all get right results."""
    assert s.operation is not None
    pairs = pairs_of(s, s.operation)
    mixed = (s.quick or s.dtype == s.operation.quick[0]) and _of_one_shape(s)
    rounds = [
        pairs[-1:] if not (s.quick and mixed) else [],
        pairs[: 0 if s.quick else 4 if s.dtype == s.operation.quick[0] else 1],
        pairs_of(s, s.operation, *LARGE, count=2),
    ]
    with switching_often():
        for one, two in [pair for some in rounds for pair in some]:
            samples = [one, two] * (COUNT // 2)
            results = together([_caller(s, sample) for sample in samples])
            assert_all_right(s, samples, results, "called by eight threads at once")
            for sample in (one, two):
                assert_right(s, sample, _caller(s, sample)(), "called after eight threads did at once")


def _of_one_shape(s: Subject) -> bool:
    """Let eight threads call with arrays of the same shapes at once, of several dtypes and with other parameters.

    Return whether there are such.
    """
    assert s.operation is not None
    others = [in_dtype(s, dtype) for dtype in s.operation.quick if s.has(dtype, *s.operation.facts)]
    made = [(sub, sample) for sub in others for pair in pairs_of(sub, s.operation) for sample in pair]
    groups = of_one_shape(made, 2 if s.quick else MIXED)
    with switching_often():
        for group in groups:
            calls = (group * COUNT)[:COUNT]
            results = together([_caller(sub, sample) for sub, sample in calls])
            for sub, sample in group:
                found = [got for (_, each), got in zip(calls, results, strict=True) if each is sample]
                when = "called by eight threads at once, with other dtypes or parameters, or after that"
                assert_all_right(sub, [sample] * (len(found) + 1), [*found, _caller(sub, sample)()], when)
    return bool(groups)


@check("P51", scope="operation", needs=("threads",), applies=lambda *given: in_turn(*given) and is_real(given[1]))
def gradients_at_once(s: Subject) -> None:
    """Eight threads that differentiate a function at once, with other values, get what each gets alone."""
    assert s.operation is not None
    pairs = [pair for pair in pairs_of(s, s.operation) if pair[0].smooth and pair[1].smooth]
    large = [pair for pair in pairs_of(s, s.operation, *LARGE, count=2)[-1:] if pair[0].smooth and pair[1].smooth]
    with switching_often():
        for one, two in [*(pairs[-1:] if s.quick else pairs[-3:]), *large]:
            calls: list[Callable[[], Any]] = [functools.partial(gradients, s, sample) for sample in (one, two)]
            alone = [call() for call in calls]
            for i, found in enumerate(together(calls * (COUNT // 2))):
                assert_equal(s, (one, two)[i % 2], alone[i % 2], found, "differentiated by eight threads at once")


@check("P52", scope="dtype", dtypes=("float64", "float32"), needs=("threads",), generated=True)
def programs_at_once(s: Subject) -> None:
    """Eight threads that run random programs at once, with their derivatives, each get right results."""
    start = time.monotonic()
    for number in range(3 if s.quick else 20):
        if time.monotonic() - start > (SECONDS if s.quick else 6 * SECONDS):
            return
        seeds = [[zlib.crc32(s.dtype.encode()), s.seed, COUNT * number + i] for i in range(COUNT)]
        programs = [drawn(np.random.default_rng(seed), s.dtype, s.has) for seed in seeds]
        if any(program_error(s, program) is not None for program in programs):
            continue  # W50 says so
        with switching_often():
            wrong = together([functools.partial(program_error, s, program) for program in programs])
        for program, error in zip(programs, wrong, strict=True):
            text = "" if error is None else program_text(s, program, error)
            assert error is None, f"a program, run by one of eight threads at once: {error}\n{text}"


@check("P53", needs=("threads",))
def made_at_once(s: Subject) -> None:
    """Eight threads that make arrays at once, of lists, of ranges and at random, each get what each gets alone."""
    calls: list[Callable[[], list[Any]]] = [functools.partial(_made, s, seed) for seed in range(COUNT)]
    expected = [alone(call) for call in calls]
    with switching_often():
        for i, arrays in enumerate(together(calls)):
            for k, (one, other) in enumerate(zip(arrays, expected[i], strict=True)):
                assert_same_bits(one, other, f"array {k} that thread {i} of eight makes at once, and alone,")


def _made(s: Subject, seed: int) -> list[Any]:
    """Return host arrays of what one thread makes."""
    dtype, device = s.dtype_of(s.wide), s.device
    random.seed(seed, device)
    made = [draw((5, 7), dtype, device) for draw in (random.uniform, random.normal) * 3]
    made += [s.xp.asarray([0.5 * seed + k for k in range(n)], dtype=dtype, device=device) for n in (3, 40, 1500)]
    made += [s.xp.arange(seed, n + seed, dtype=dtype, device=device) for n in (3, 40)]
    made += [s.xp.full((n, 3), seed, dtype=dtype, device=device) for n in (3, 40)]
    return list(map(on_host, made))


def _caller(s: Subject, sample: Sample) -> Callable[[], Any]:
    arrays = sample.arrays(s)
    return lambda: sample.applied(s.xp, *arrays)
