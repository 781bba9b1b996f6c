"""The executor ``c``: generated Python source whose fused groups are computed by C."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.trace.executors.host.blocks import blocks_of
from xpgrad.transforms.trace.executors.host.executor import grouped, is_large, whole
from xpgrad.transforms.trace.fusion.fuse import fuse
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.loading import load
from xpgrad.transforms.trace.program import Program
from xpgrad_c.background import background
from xpgrad_c.disabling import disabled
from xpgrad_c.functions import has_row
from xpgrad_c.groups import CompiledGroup, CompiledGroups
from xpgrad_c.toolchain import ToolchainState, toolchain
from xpgrad_c.worth import worth

GROUPS = "__groups__"
"""The name of the `CompiledGroups` among the globals of a program."""


def by_library(fused: Fused) -> Callable[..., Any]:
    """Return a function that computes a group without C."""
    function = whole(fused)
    return (blocks_of(fused, function) if is_large(fused) else None) or function


def c_executor(program: Program, fallback: Callable[[Fused], Callable[..., Any]] = by_library) -> Any:
    """Return the function that runs a program, with groups of calls computed by C as soon as that is compiled.

    Until then, and where C has failed, large groups run block by block, as by the executor ``host``. Without groups, or
    without a compiler, the result is `NotImplemented`.

    Parameters
    ----------
    program : Program
        Its existing groups are kept.
    fallback : callable, optional
        Returns a function that computes a group without C.
    """
    backend = program.backend
    if backend is None or disabled() is not None or toolchain().off is not None:
        return NotImplemented
    found = fuse(program, has_row, worth)
    if not any(isinstance(call.function, Fused) for call in found.calls):
        return NotImplemented
    found = grouped(found)
    source = found.compiled()
    groups = CompiledGroups(backend)
    for name, item in list(source.objects.items()):
        if isinstance(item, Fused):
            source.objects[name] = groups(item, fallback(item))
    run = load(source, program.name)
    groups.bind(run.__globals__)
    run.__globals__[GROUPS] = groups
    groups.start()
    run.__dict__["program"] = found
    return run


def groups_of(run: Callable[..., Any]) -> Sequence[CompiledGroup]:
    """Return the groups of a function made by `c_executor`; their `state` is ``"C"`` if C computes them."""
    groups = getattr(run, "__globals__", {}).get(GROUPS)
    return () if groups is None else tuple(groups.groups)


def wait(timeout: float | None = None) -> bool:
    """Wait until all compilations have ended, at most `timeout` seconds; return whether they have ended."""
    return background.wait(timeout)


def state() -> ToolchainState:
    """Return the state of the toolchain of this process."""
    return toolchain().state()
