"""The executor ``c``: generated Python source whose fused groups are computed by C."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.trace.executors.c.background import background
from xpgrad.transforms.trace.executors.c.groups import CompiledGroups
from xpgrad.transforms.trace.executors.c.workshop import State, workshop
from xpgrad.transforms.trace.executors.python import Run, load
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.program import Program


def c_executor(program: Program, fallback: Callable[[Fused], Callable[..., Any]] = lambda fused: fused) -> Run:
    """Return the function that runs a program with fused calls.

    Parameters
    ----------
    program : Program
    fallback : callable
        Returns what computes a group as long as it is not compiled; by default the calls that it was made of.
    """
    source = program.compiled()
    fused = {name: item for name, item in source.objects.items() if isinstance(item, Fused)}
    if not fused or program.backend is None:
        return load(source, program.name)
    groups = CompiledGroups(program.backend)
    source.objects.update((name, groups(item, fallback(item))) for name, item in fused.items())
    run = load(source, program.name)
    groups.bind(run.__globals__)
    groups.start()
    return run


def wait(timeout: float | None = None) -> bool:
    """Wait until nothing is being compiled, in seconds at most; return whether that is so."""
    return background.wait(timeout)


def state() -> State:
    """Return what there is for compiled code in this process."""
    return workshop().state()
