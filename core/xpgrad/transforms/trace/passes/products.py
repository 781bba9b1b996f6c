"""Independent products of small matrices with one matrix become one product: ``x[t] @ U`` for all t. Reassociates."""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, TypeVar

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.keys import function_key, key_of
from xpgrad.transforms.trace.lifetimes import peak_of
from xpgrad.transforms.trace.order import in_order
from xpgrad.transforms.trace.program import Program

Item = TypeVar("Item")
MIN_CALLS = 4
"""Number of products from which on one product takes less time."""
MAX_ROWS = 256
"""Rows of a matrix above which its product is as fast on its own."""
MAX_BYTES = 2**19
"""Size of what is computed at once: it stays in the cache, and takes little memory."""
MAX_GROUPS = 32
"""How many matrices are looked at, those with the most products first."""
ITEMS = "getitem", "x[]"


def products(program: Program) -> Program:
    """Return the program with products of one matrix merged.

    Products are not merged in programs with calls that write to arrays, or if the peak of memory would increase by more
    than `MAX_BYTES`.
    """
    if any(call.writes for call in program.calls):
        return program
    groups = sorted((group for group in groups_of(program) if len(group) >= MIN_CALLS), key=len, reverse=True)
    most = peak_of(program)[0] if groups else 0
    for group in groups[:MAX_GROUPS]:
        changed = merged(program, independent(program, group))
        if changed is not program and peak_of(changed)[0] <= most + MAX_BYTES:
            program = changed
    return program


def groups_of(program: Program) -> list[list[Call]]:
    """Return the products of small matrices, grouped by the second matrix."""
    found: dict[Any, list[Call]] = {}
    for call in program.calls:
        if is_product(call):
            first, second = call.args[:2]
            key = call.name, function_key(call.function), key_of(second), first.spec.shape[1:], first.spec.dtype
            found.setdefault((*key, first.spec.device), []).append(call)
    return list(found.values())


def is_product(call: Call) -> bool:
    """Return whether a call is the product of a small matrix with another matrix, or with its transpose."""
    if call.name not in ("matmul", "matmul.x1") or call.kwargs or len(call.args) != 2 + (call.name == "matmul.x1"):
        return False
    first, second = call.args[:2]
    if not (call.pure and call.single and isinstance(first, Value) and first.nbytes and call.results[0].nbytes):
        return False
    matrices = first.spec.ndim == len(getattr(getattr(second, "spec", second), "shape", ())) == 2
    return matrices and first.spec.shape[0] <= MAX_ROWS


def independent(program: Program, group: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield lists of calls, at least `MIN_CALLS` of the group, which are mutually independent."""
    members = set(group)
    depth: dict[Value, int] = {}
    found: dict[int, list[Call]] = {}
    for call in program.calls:
        above = max((depth.get(value, 0) for value in call.operands()), default=0)
        if call in members:
            found.setdefault(above, []).append(call)
            above += 1
        if above:
            depth.update(dict.fromkeys(call.results, above))
    yield from (calls for calls in found.values() if len(calls) >= MIN_CALLS)


def merged(program: Program, lists: Iterable[Sequence[Call]]) -> Program:
    """Return the program with the independent products of each list merged, within `MAX_BYTES`."""
    new: dict[Call, list[Call]] = {}
    for same in lists:
        for calls in pieces(same, lambda call: call.args[0].nbytes + call.results[0].nbytes):
            new |= of_rows(calls)
    if not new:
        return program
    found = [other for call in program.calls for other in new.get(call, (call,))]
    return program.replaced(calls=in_order(found, program.inputs))


def item_of(call: Call | None) -> tuple[Value, int] | None:
    """Return the array and the number if a call takes one item of an array along its first axis."""
    if call is None or call.name not in ITEMS or not call.args or not isinstance(call.args[0], Value):
        return None
    index = call.kwargs["index"] if "index" in call.kwargs else call.args[1] if len(call.args) == 2 else None
    if type(index) is tuple and len(index) == 1:
        index = index[0]
    if type(index) is not int or len(call.args) + len(call.kwargs) != 2:
        return None
    return call.args[0], index % call.args[0].spec.shape[0]


def pieces(items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield items, in order, in groups whose sizes have a sum of at most `MAX_BYTES`."""
    piece: list[Item] = []
    held = 0
    for item in items:
        if piece and held + size(item) > MAX_BYTES:
            yield piece
            piece, held = [], 0
        piece.append(item)
        held += size(item)
    if piece:
        yield piece


def of_rows(calls: Sequence[Call]) -> dict[Call, list[Call]]:
    """Return the replacements of products of arbitrary matrices: the first product computes all rows."""
    if len(calls) < MIN_CALLS:
        return {}
    first = calls[0]
    ends = [0, *accumulate(call.args[0].spec.shape[0] for call in calls)]
    rows = Value(spec_like(first.args[0], (ends[-1], first.args[0].spec.shape[1])))
    product = Value(spec_like(first.results[0], (ends[-1], first.results[0].spec.shape[1])))
    rest = first.args[1:]
    if first.name == "matmul.x1":
        spec = rest[1]
        rest = rest[0], spec.backend.spec_for((ends[-1], *spec.shape[1:]), spec.dtype, spec.device)
    line, concat = first.line, first.results[0].spec.backend.xp.concat
    new = {
        call: [Call("x[]", operator.getitem, (product, slice(*place)), {}, call.results, line=call.line)]
        for call, place in zip(calls, pairwise(ends), strict=True)
    }
    new[first] = [
        Call("concat", concat, ([call.args[0] for call in calls],), {"axis": 0}, (rows,), line=line),
        first.replaced(args=(rows, *rest), results=(product,)),
        *new[first],
    ]
    return new


def spec_like(value: Value, shape: tuple[int, ...]) -> Any:
    """Return the spec of a value in another shape."""
    return value.spec.backend.spec_for(shape, value.spec.dtype, value.spec.device)
