"""Items of one array that are concatenated again form a slice: ``concat([x[0], x[1], x[2]])``. Reassociates.

A slice may differ in memory layout from a concatenation, so that values computed from it are rounded differently.
"""

from collections.abc import Sequence
from itertools import pairwise

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.passes.products import item_of, spec_like
from xpgrad.transforms.trace.program import Program


def slices(program: Program) -> Program:
    """Return the program with each concatenation of items with evenly spaced numbers replaced by a slice."""
    backend = program.backend
    if backend is None or any(call.writes for call in program.calls):
        return program
    makers: dict[Value, Call] = {}
    calls: list[Call] = []
    for call in program.calls:
        makers.update(dict.fromkeys(call.results, call))
        found = source_of(call, makers)
        if found is None:
            calls.append(call)
            continue
        whole, key = found
        shape = (len(call.args[0]), *whole.spec.shape[1:])
        part = Value(spec_like(whole, shape))
        calls.append(Call("getitem", backend.xp.getitem, (whole,), {"index": key}, (part,), line=call.line))
        result = call.results[0]
        calls.append(
            call.replaced(name="reshape", function=backend.xp.reshape, args=(part, result.spec.shape), kwargs={})
        )
    return program.replaced(calls=tuple(calls)) if len(calls) > len(program.calls) else program


def source_of(call: Call, makers: dict[Value, Call]) -> tuple[Value, slice] | None:
    """Return the array and the slice of it that a concatenation makes anew, or None."""
    if call.name != "concat" or call.kwargs != {"axis": 0} or len(call.args) != 1 or not call.single:
        return None
    parts = call.args[0]
    if not isinstance(parts, (tuple, list)) or len(parts) < 2 or not all(isinstance(part, Value) for part in parts):
        return None
    items = [item_of(makers.get(part)) for part in parts]
    first = items[0]
    if first is None or first[0].spec.ndim < 2 or call.results[0].spec.dtype != first[0].spec.dtype:
        return None
    numbers = [item[1] for item in items if item is not None and item[0] is first[0]]
    key = slice_of(numbers) if len(numbers) == len(items) else None
    return None if key is None else (first[0], key)


def slice_of(numbers: Sequence[int]) -> slice | None:
    """Return the slice with these numbers, if they are evenly spaced."""
    step = numbers[1] - numbers[0]
    if not step or any(b - a != step for a, b in pairwise(numbers)):
        return None
    stop = numbers[-1] + (1 if step > 0 else -1)
    return slice(numbers[0], None if stop < 0 else stop, step)
