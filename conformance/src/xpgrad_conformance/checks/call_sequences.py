"""Families S and P, random call sequences with writes, moves, copies and refusals between them."""

import functools
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.errors import MissingFunction
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import COUNT, run_in_rounds, switching_often
from xpgrad_conformance.generated.programs.call_sequences import (
    CallSequence,
    drawn,
    sequence_error,
    sequence_text,
    smallest,
)
from xpgrad_conformance.generated.sample import raised
from xpgrad_conformance.subject import Subject

SEQUENCES = {True: 40, False: 600}
"""Number of sequences in the quick and the full profile."""
SECONDS = {True: 8.0, False: 60.0}
"""Time after which no sequence begins: libraries that compile each call have fewer."""
ROUNDS = {True: 3, False: 20}
"""Sets of sequences that threads run simultaneously."""


def _random_sequence(s: Subject, number: int) -> CallSequence:
    rng = np.random.default_rng([zlib.crc32(s.dtype.encode()), s.seed, number])
    return drawn(rng, s, s.dtype, s.has)


@check("S09", scope="dtype", dtypes=("float64", "float32"), generated=True)
def random_calls(s: Subject) -> None:
    """Random calls, with writes, moves, copies, errors and deleted arrays between them, have NumPy's values."""
    start = time.monotonic()
    for number in range(SEQUENCES[s.quick]):
        sequence = _random_sequence(s, number)
        wrong = _error(s, sequence)
        if wrong is not None:
            sequence, wrong = smallest(s, sequence, wrong)
            raise AssertionError(f"random calls: {wrong}\n{sequence_text(s, sequence, wrong)}")
        if time.monotonic() - start > SECONDS[s.quick]:
            return


@check("P60", scope="dtype", dtypes=("float64", "float32"), needs=("threads",), generated=True)
def random_calls_in_threads(s: Subject) -> None:
    """Eight threads that make different random calls, with writes, moves and errors, get the values of NumPy."""
    start = time.monotonic()
    for turn in range(ROUNDS[s.quick]):
        drawn_now = [_random_sequence(s, COUNT * turn + i) for i in range(COUNT)]
        sequences = [each for each in drawn_now if _error(s, each) is None]  # S09 reports the remaining sequences
        if time.monotonic() - start > SECONDS[s.quick] or not sequences:
            return
        calls: list[Callable[[], Any]] = [functools.partial(_error, s, sequence) for sequence in sequences]
        with switching_often():
            results = run_in_rounds([calls, calls[::-1]])
        for sequence, *found in zip(sequences, results[0], results[1][::-1], strict=True):
            wrong = next((each for each in found if each is not None), None)
            assert wrong is None, (
                f"random calls in one of several threads: {wrong}\n{sequence_text(s, sequence, wrong)}"
            )


def _error(s: Subject, sequence: CallSequence) -> str | None:
    """Return the error of a call sequence as text; None if it is right or needs a function that is declared missing."""
    try:
        return sequence_error(s, sequence)
    except MissingFunction as error:
        return raised(error) if s.has(error.function) else None
