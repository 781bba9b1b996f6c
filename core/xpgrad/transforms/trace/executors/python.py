"""The executor ``python``: generated source, straight-line calls of the library, for every backend."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.errors import CompileWarning
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import load

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


class ByCalls:
    """A function that computes a group by the library's calls: large elementwise ones block by block.

    Its source is generated at the first call: a group whose C is on the disk may never need it.
    """

    def __init__(self, fused: Fused) -> None:
        self._fused = fused

    @functools.cached_property
    def run(self) -> Run:
        """The function of the generated source."""
        program = Program("fused", self._fused.inputs, self._fused.outputs, self._fused.calls)
        return load(buffers(blocks(program)).compiled(), "fused")

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Return the outputs of the group."""
        return self.run(*arrays)
