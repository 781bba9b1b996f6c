"""Family W, generated: random programs on the backend, compared with NumPy and with the reference engine."""

import time
import zlib

import numpy as np

from xpgrad.errors import MissingFunction
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.programs import Program
from xpgrad_conformance.generated.programs_compared import program_error
from xpgrad_conformance.generated.programs_drawn import drawn
from xpgrad_conformance.generated.programs_shrunk import program_text, smallest
from xpgrad_conformance.generated.sample import kind_of, raised
from xpgrad_conformance.subject import Subject

COUNT = {True: 150, False: 1500}
"""Programs for each dtype, in the quick profile and in others."""
LIMIT = {True: 10.0, False: 60.0}
"""Seconds after which no other program begins: libraries that compile each call have fewer."""


@check("W50", scope="dtype", dtypes=("float64", "float32"), generated=True)
def generated_programs(s: Subject) -> None:
    """Random programs have NumPy's values, and the first and second derivatives of the reference engine."""
    start = time.monotonic()
    for number in range(COUNT[s.quick]):
        program = drawn(np.random.default_rng([zlib.crc32(s.dtype.encode()), s.seed, number]), s.dtype, s.has)
        wrong = _error(s, program)
        if wrong is not None:
            _report(s, program, wrong)
        if time.monotonic() - start > LIMIT[s.quick]:
            return


def _error(s: Subject, program: Program) -> str | None:
    """Return what is wrong with a program, or None; also if it needs a function that is declared missing."""
    try:
        return program_error(s, program)
    except MissingFunction as error:
        return raised(error) if s.has(error.function) else None
    except Exception as error:
        return raised(error)


def _report(s: Subject, program: Program, wrong: str) -> None:
    kind = _kind(wrong)

    def failing(other: Program) -> bool:
        found = _error(s, other)
        return found is not None and _kind(found) == kind

    program = smallest(program, failing)
    wrong = _error(s, program) or wrong
    raise AssertionError(f"a program: {wrong}\n{program_text(s, program, wrong)}")


def _kind(wrong: str) -> str:
    """Return whether a value, a gradient or a second derivative is wrong, or which exception was raised."""
    if kind_of(wrong):
        return kind_of(wrong)
    return wrong[: wrong.index(" of ")] if wrong.startswith("the ") and " of " in wrong else "value"
