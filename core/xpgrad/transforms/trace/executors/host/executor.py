"""The executor ``host``: generated Python source, in which fused groups of calls on large arrays run block by block."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.trace.calls import itemsize
from xpgrad.transforms.trace.executors.host.blocks import BlockedGroup, blocks_of
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.fusion.fuse import fuse
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.loading import load
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.program import Program

Run = Callable[..., Sequence[Any]]

MIN_BYTES = 2**20
"""Size of the arrays of a group from which on blocks are faster; smaller ones stay in the cache as they are."""
MIN_CALLS = 2


def host_executor(program: Program) -> Callable[..., tuple[Any, ...]]:
    """Return the function of a program's generated source, with groups of calls that run block by block."""
    found = grouped(program)
    run = python_executor(found)
    run.__dict__["program"] = found
    return run


def grouped(program: Program) -> Program:
    """Return the program with groups of calls on large arrays, as `BlockedGroup`, in the place of these."""
    made: dict[Any, BlockedGroup] = {}

    def worth(fused: Fused) -> bool:
        found = blocks_of(fused, whole(fused)) if is_large(fused) else None
        if found is None:
            return False
        made[fused] = found
        return True

    found = fuse(program, lambda statement: True, worth)
    calls = tuple(call.replaced(function=made.get(call.function, call.function)) for call in found.calls)
    return found.replaced(calls=calls)


def whole(fused: Fused) -> Run:
    """Return the function that computes a group on whole arrays, in new memory."""
    program = Program("fused", fused.inputs, fused.outputs, fused.calls)
    return load(buffers(program).compiled(), "fused")


def is_large(fused: Fused) -> bool:
    """Return whether a group is worth blocks: several calls on large arrays."""
    size = fused.rows * fused.columns
    most = max(itemsize(value.spec) for value in (*fused.inputs, *fused.outputs))
    return len(fused.calls) >= MIN_CALLS and size * most >= MIN_BYTES
