"""Passes: functions that return a program with the same results in less time or memory: to the bit, but for some."""

import functools
from collections.abc import Callable, Collection

from xpgrad.transforms.trace.passes.algebra import algebra
from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.passes.constants import constants
from xpgrad.transforms.trace.passes.dead_calls import dead_calls
from xpgrad.transforms.trace.passes.equal_calls import equal_calls
from xpgrad.transforms.trace.passes.products import products
from xpgrad.transforms.trace.passes.recompute import recompute
from xpgrad.transforms.trace.passes.slices import slices
from xpgrad.transforms.trace.passes.sums import sums
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.text import counted

PASSES: dict[str, Callable[[Program], Program]] = {
    "algebra": algebra, "units": functools.partial(algebra, any_layout=True), "constants": constants,
    "equal_calls": equal_calls, "products": products, "sums": sums, "slices": slices, "dead_calls": dead_calls,
    "recompute": recompute, "blocks": blocks, "buffers": buffers,
}  # fmt: skip
"""All passes by name, in the order in which they run."""

REASSOCIATING = frozenset(["units", "slices", "products", "sums"])
"""Those that change the order of sums and products, so that results are equal to rounding only."""


def apply_passes(program: Program, off: Collection[str] = frozenset(), *, exact: bool = False) -> Program:
    """Return the program after all passes except passes in `off`, and, if `exact`, except reassociating passes."""
    unknown = set(off) - PASSES.keys()
    if unknown:
        raise ValueError(f"apply_passes: unknown passes {sorted(unknown)}; expected some of {list(PASSES)}")
    runs = [name for name in PASSES if name not in off and not (exact and name in REASSOCIATING)]
    for name in runs:
        if name == "algebra" and "units" in runs:  # which makes all its changes
            continue
        before, program = program, PASSES[name](program)
        removed = len(before.calls) - len(program.calls)
        if removed:
            text = f"{name}: {counted(abs(removed))} {'fewer' if removed > 0 else 'more'}"
            program = program.replaced(notes=(*program.notes, text))
    return program
