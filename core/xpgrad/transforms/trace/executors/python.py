"""The executor ``python``: generated source, straight-line calls of the library, for every backend."""

import linecache
import warnings
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.hookspecs import hookimpl
from xpgrad.errors import CompileWarning
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import Source

MAX_CALLS = 50_000
"""Number of calls above which a program takes long to make, and a warning says what to do."""

Run = Callable[..., tuple[Any, ...]]
_numbers = count(1)


@hookimpl
def xpgrad_executor(backend: Backend) -> Callable[[Program], Run]:
    """Return `python_executor`, which serves every backend."""
    return python_executor


def python_executor(program: Program) -> Run:
    """Return the function of a program's generated source; a traceback shows its lines."""
    if len(program.calls) > MAX_CALLS:
        warnings.warn(
            f"compile: the program of {program.name} has {len(program.calls):,} calls, which take long to compile; "
            "compile the body of its loop and leave the loop outside",
            CompileWarning,
            stacklevel=2,
        )
    return load(program.compiled(), program.name)


def load(source: Source, name: str) -> Run:
    """Return the function of a source, registered in `linecache` as long as the function exists."""
    file = f"<program {name} {next(_numbers)}>"
    objects = {"__name__": f"xpgrad program {name}", **source.objects}
    exec(compile(source.text, file, "exec"), objects)
    run: Run = objects.pop(source.name)  # else it would be a cycle
    linecache.cache[file] = len(source.text), None, source.text.splitlines(keepends=True), file
    weakref.finalize(run, linecache.cache.pop, file, None).atexit = False
    return run
