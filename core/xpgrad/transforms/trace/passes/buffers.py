"""Arrays are dropped after their last use, and elementwise calls write into memory that is no longer needed."""

from xpgrad.transforms.trace.aliases import OUTSIDE, Aliases
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.layouts import Layouts
from xpgrad.transforms.trace.lifetimes import last_uses
from xpgrad.transforms.trace.program import Program

MIN_ELEMENTS = 4096
"""Number of elements from which writing into an operand is faster than into new memory."""


def buffers(program: Program) -> Program:
    """Return the program with `out` and `frees` of its calls.

    A result takes the memory of an operand only if the program created that operand for an elementwise result, no view
    or output shares it, and the result would have the same layout in new memory.
    """
    backend = program.backend
    uses = last_uses(program)
    if backend is None:
        return program
    aliases, layouts = Aliases(program), Layouts(backend)
    ends = ends_of_memory(program, aliases)
    calls: list[Call] = []
    reusable: set[Value] = set()  # results of elementwise calls
    for i, (call, last) in enumerate(zip(program.calls, uses, strict=True)):
        if last:
            call = call.replaced(frees=last)
        if layouts.elementwise(call):
            result = call.results[0]
            if result.spec.size >= MIN_ELEMENTS and not aliases.immutable:
                out = target(call, i, reusable, ends, aliases, layouts)
                if out is not None:
                    call = call.replaced(out=out)
            layouts.add(call)
            reusable.add(result)
        calls.append(call)
    return program.replaced(calls=tuple(calls))


def ends_of_memory(program: Program, aliases: Aliases) -> dict[int, int]:
    """Return for each piece of memory the number of the last call that a value in it takes part in.

    It is the number of calls for memory that may be in an output.
    """
    ends: dict[int, int] = {}
    for i, call in enumerate(program.calls):
        for value in (*call.operands(), *call.results):
            for root in aliases.roots[value]:
                ends[root] = i
    for item in program.outputs:
        for root in aliases.of((item,)):
            ends[root] = len(program.calls)
    return ends


def target(
    call: Call, number: int, reusable: set[Value], ends: dict[int, int], aliases: Aliases, layouts: Layouts
) -> Value | None:
    """Return the operand whose memory the result of an elementwise call may take, or None."""
    result = call.results[0]
    operands = dict.fromkeys(call.operands())
    for value in operands:
        roots = aliases.roots[value]
        if (
            value in reusable
            and value.spec.shape == result.spec.shape
            and value.spec.dtype == result.spec.dtype
            and OUTSIDE not in roots
            and not aliases.is_written(value)
            and ends[next(iter(roots))] == number
            and not any(aliases.roots[other] == roots for other in operands if other is not value)
            and layouts.of_result(call) == layouts.of(value)
        ):
            return value
    return None
