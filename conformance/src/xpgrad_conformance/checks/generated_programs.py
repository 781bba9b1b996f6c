"""Family W, generated: random programs on the backend, compared with NumPy and with the reference engine."""

import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Variable, as_variable
from xpgrad.errors import MissingFunction
from xpgrad.testing.arrays import is_floating
from xpgrad.testing.differences import random_values
from xpgrad_conformance.check import check
from xpgrad_conformance.generated.programs.compared import program_error
from xpgrad_conformance.generated.programs.drawn import drawn
from xpgrad_conformance.generated.programs.program import GeneratedProgram
from xpgrad_conformance.generated.programs.shrunk import program_text, shrunk
from xpgrad_conformance.generated.sample import kind_of, raised
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.one_derivative import RTOL, disagreements

Error = Callable[[Subject, GeneratedProgram], str | None]
COUNT = {True: 150, False: 1500}
"""Programs for each dtype, in the quick profile and in the remaining profiles."""
LIMIT = {True: 10.0, False: 60.0}
"""Seconds after which no other program begins: libraries that compile each call have fewer."""
MODES = {True: 20, False: 300}
"""Programs whose modes are compared."""


@check("W50", scope="dtype", dtypes=("float64", "float32"), generated=True)
def generated_programs(s: Subject) -> None:
    """Random programs have NumPy's values, and the first and second derivatives of the reference engine."""
    _compared(s, COUNT[s.quick], zlib.crc32(s.dtype.encode()), _error)


@check("W51", scope="dtype", dtypes=("float64",), generated=True)
def modes_of_generated_programs(s: Subject) -> None:
    """All modes, each over each, in batches and compiled, give the same derivatives of random programs."""
    _compared(s, MODES[s.quick], 51, _modes_error)


def _compared(s: Subject, count: int, seed: int, error: Error) -> None:
    """Draw programs, and raise AssertionError for the first one with an error; the time is limited."""
    start = time.monotonic()
    for number in range(count):
        program = drawn(np.random.default_rng([seed, s.seed, number]), s.dtype, s.has)
        wrong = error(s, program)
        if wrong is not None:
            _report(s, program, wrong, error)
        if time.monotonic() - start > LIMIT[s.quick]:
            return


def _modes_error(s: Subject, program: GeneratedProgram) -> str | None:
    """Return how modes differ in the derivatives of a program; None if they agree or all raise an error."""
    rng = np.random.default_rng(0)
    moving = {n: x for n, x in program.inputs.items() if x.dtype.kind in "fc"}
    still = {n: s.variable(x, x.dtype.name) for n, x in program.inputs.items() if n not in moving}
    if not moving:
        return None
    directions = [random_values(x.shape, x.dtype.kind == "c", rng).astype(x.dtype) for x in moving.values()]
    xs, ts = ([s.array(x, x.dtype.name) for x in each] for each in (moving.values(), directions))

    def loss(*given: Any) -> Any:
        values = program.run(s.xp, {**dict(zip(moving, map(as_variable, given), strict=True)), **still})
        ys = [y for n in program.outputs if isinstance(y := values[n], Variable) and is_floating(y.array)]
        parts = [s.xp.sum(s.xp.real(y) if y.node.spec.complex else y) for y in ys]
        return sum(parts, start=0.0 * s.xp.sum(s.xp.real(as_variable(given[0]))))

    executors = (None,) if len(program.steps) % 4 == 0 else ()
    found = disagreements(loss, xs, ts, RTOL[s.dtype], program.order, defined=False, executors=executors)
    text = next(found, None)
    return None if text is None else f"the modes of it: {text}"


def _error(s: Subject, program: GeneratedProgram) -> str | None:
    """Return the error of a program as text; None if it is right or needs a function that is declared missing."""
    try:
        return program_error(s, program)
    except MissingFunction as error:
        return raised(error) if s.has(error.function) else None
    except Exception as error:
        return raised(error)


def _report(s: Subject, program: GeneratedProgram, wrong: str, error: Error) -> None:
    kind = _kind(wrong)

    def failing(other: GeneratedProgram) -> bool:
        found = error(s, other)
        return found is not None and _kind(found) == kind

    program = shrunk(program, failing)
    wrong = error(s, program) or wrong
    raise AssertionError(f"a program: {wrong}\n{program_text(s, program, wrong)}")


def _kind(wrong: str) -> str:
    """Return whether a value, a gradient or a second derivative is wrong, or which exception was raised."""
    if kind_of(wrong):
        return kind_of(wrong)
    return wrong[: wrong.index(" of ")] if wrong.startswith("the ") and " of " in wrong else "value"
