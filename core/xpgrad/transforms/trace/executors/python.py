"""The executor ``python``: generated source, straight-line calls of the library, for every backend."""

import warnings
from collections.abc import Callable
from typing import Any

from xpgrad.errors import CompileWarning
from xpgrad.transforms.trace.program import Program

MAX_CALLS = 50_000
"""Number of calls above which a program takes long to make, and a warning says what to do."""

Run = Callable[..., tuple[Any, ...]]


def python_executor(program: Program) -> Run:
    """Return the function of a program's generated source; a traceback shows its lines."""
    if len(program.calls) > MAX_CALLS:
        warnings.warn(
            f"compile: the program of {program.name} has {len(program.calls):,} calls, which take long to compile; "
            "compile the body of its loop and leave the loop outside",
            CompileWarning,
            stacklevel=2,
        )
    run = program.function()
    backend = program.backend
    return backend.follow(run) if backend is not None and backend.has_current_device else run
