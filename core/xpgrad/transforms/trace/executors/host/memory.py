"""Scratch of the calls on a block: a few pieces of memory, which results take as soon as others are not needed."""

from collections.abc import Iterable, Sequence

from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.aliases import OUTSIDE, Aliases
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.layouts import Layouts
from xpgrad.transforms.trace.lifetimes import last_uses
from xpgrad.transforms.trace.passes.buffers import ends_of_memory
from xpgrad.transforms.trace.program import Program


def with_scratch(program: Program, results: Sequence[Value]) -> tuple[Program, tuple[Value, ...], set[int]]:
    """Return a program of a block whose elementwise calls write into memory that they are given.

    Parameters
    ----------
    program : Program
    results : sequence of Value
        Those of its outputs that are results of the whole loop.

    Returns
    -------
    tuple
        The program, with inputs for that memory behind its own: first the scratch, then the places of `results`; the
        inputs for the scratch; and the numbers of the results that are not written to their place by a call.
    """
    aliases, layouts = Aliases(program), Layouts(program.backend)
    backend = program.backend
    assert backend is not None  # it has calls, with results
    ends = ends_of_memory(program, aliases)
    places = {value: Value(value.spec, f"into_{i}") for i, value in enumerate(results)}
    scratch: list[Value] = []
    free: dict[object, list[Value]] = {}
    held: dict[int, list[Value]] = {}  # by the call after which it is free
    calls: list[Call] = []
    written: set[Value] = set()
    for i, (call, last) in enumerate(zip(program.calls, last_uses(program), strict=True)):
        ended = held.pop(i, ())
        call = call.replaced(frees=last)
        result = call.results[0]
        in_place = layouts.elementwise(call)
        if in_place:
            _release(ended, free)
        if in_place or (
            call.single and len(call.results) == 1 and programs_of(backend).into(call.function) is not None
        ):
            roots = aliases.roots[result]
            if result in places:
                call = call.replaced(out=places[result])
                written.add(result)
            elif len(roots) == 1 and OUTSIDE not in roots and -1 not in ends:
                pads = free.setdefault(result.spec, [])
                if not pads:
                    pads.append(Value(result.spec, f"pad_{len(scratch)}"))
                    scratch.append(pads[0])
                pad = pads.pop()
                held.setdefault(ends[next(iter(roots))], []).append(pad)
                call = call.replaced(out=pad)
        if not in_place:
            _release(ended, free)
        calls.append(call)
    inputs = (*program.inputs, *scratch, *places.values())
    rest = {i for i, value in enumerate(results) if value not in written}
    return program.replaced(inputs=inputs, calls=tuple(calls)), tuple(scratch), rest


def _release(pads: Iterable[Value], free: dict[object, list[Value]]) -> None:
    for pad in pads:
        free.setdefault(pad.spec, []).append(pad)
