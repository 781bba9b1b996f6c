"""The executor ``c``: generated Python source whose fused groups are computed by C."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import load
from xpgrad_c.background import background
from xpgrad_c.disabling import disabled
from xpgrad_c.functions import has_row
from xpgrad_c.groups import CompiledGroup, CompiledGroups
from xpgrad_c.toolchain import ToolchainState, toolchain
from xpgrad_c.worth import worth
from xpgrad_fusion.by_calls import ByCalls
from xpgrad_fusion.fuse import fuse
from xpgrad_fusion.group import Fused

GROUPS = "__groups__"
"""The name of the `CompiledGroups` among the globals of a program."""


def c_executor(program: Program, fallback: Callable[[Fused], Callable[..., Any]] = ByCalls) -> Any:
    """Return a function that runs a program; C computes its groups of calls once the C code is compiled.

    Until then, and after a failed compilation, `fallback` computes them. The result is a text, the reason, if the
    program has no groups or compilation is unavailable.

    Parameters
    ----------
    program : Program
        Existing groups of the program are kept.
    fallback : callable, optional
        Returns a function that computes a group without C.
    """
    backend = program.backend
    off = disabled() or toolchain().off
    if backend is None or off is not None:
        return off or "it has no arrays"
    found = fuse(program, has_row, worth)
    if not any(isinstance(call.function, Fused) for call in found.calls):
        return "no calls of it are faster in C"
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
    """Return the groups of a function from `c_executor`; `CompiledGroup.state` is "C" for groups that C computes."""
    groups = getattr(run, "__globals__", {}).get(GROUPS)
    return () if groups is None else tuple(groups.groups)


def wait(timeout: float | None = None) -> bool:
    """Wait at most `timeout` seconds for running compilations; return whether all have finished."""
    return background.wait(timeout)


def state() -> ToolchainState:
    """Return the compiler, cache and failures of this process."""
    return toolchain().state()
