"""Large results of cheap functions are computed again where they are needed later, if that makes the peak lower.

So a program keeps `h` and `s` of ``h * s`` for its backward half, and not the product as well.
"""

from xpgrad.backend.backend import Backend
from xpgrad.backend.standard import COMPARISONS
from xpgrad.transforms.trace.aliases import is_fresh
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.lifetimes import MIN_ROOM, last_uses, peak_of
from xpgrad.transforms.trace.program import Program

CHEAP = frozenset(
    [
        *("add", "subtract", "multiply", "divide", "negative", "abs", "square", "maximum", "minimum", "where"),
        *("astype", "relu", "gate", "sum.x", "broadcast_to", "reshape", *COMPARISONS.values()),
    ]
)
"""Functions that take about as long as reading what they return."""
MIN_BYTES = 2**20
"""Size of a result from which on it is worth it."""
MAX_CALLS = 4
"""How many calls are made again for one value."""
SMALL = 16
"""By what factor an array must be smaller than a value so that it may be kept for it."""
MAX_ROUNDS = 16
"""How often the peak is looked for."""
MIN_GAIN = 0.1
"""By what part the peak must be lower in the end, for the time that it takes."""


def recompute(program: Program) -> Program:
    """Return the program with some calls made twice, so that their results need not be kept in between.

    Programs with calls that write to arrays are unchanged.
    """
    backend = program.backend
    if backend is None or any(call.writes for call in program.calls):
        return program
    most, where = first, _ = peak_of(program)
    found = program
    for _ in range(MAX_ROUNDS if most > MIN_ROOM else 0):
        changed = without_kept(found, where, backend)
        lower, place = peak_of(changed)
        if lower >= most:
            break
        found, most, where = changed, lower, place
    return found if most <= first * (1 - MIN_GAIN) else program


def without_kept(program: Program, peak: int, backend: Backend) -> Program:
    """Return the program with cheap values that are kept during call number `peak` recomputed after it."""
    before, after = program.calls[: peak + 1], program.calls[peak + 1 :]
    makers = {value: call for call in program.calls for value in call.results}
    ends = {value: i for i, values in enumerate(last_uses(program)) for value in values}
    now = {*program.calls[peak].operands(), *program.calls[peak].results}
    first: dict[Value, Call] = {}  # that needs a value after the peak
    for call in reversed(after):
        first.update(dict.fromkeys(call.operands(), call))
    again: dict[Call, list[Call]] = {}
    replaced: dict[Value, Value] = {}
    needed: set[Value] = set()  # by recomputed calls
    for maker in before:
        for value in maker.results:
            if value.nbytes < MIN_BYTES or value in now or value in needed or value not in first or value not in ends:
                continue
            if not is_fresh(maker, backend):
                continue
            calls = calls_for(value, makers, ends, replaced, backend)
            new = {call.results[0]: Value(call.results[0].spec, call.results[0].name) for call in calls}
            if calls:
                replaced[value] = new[value]
                needed.update(operand for call in calls for operand in call.operands())
                again.setdefault(first[value], []).extend(
                    call.substituted(dict(new)).replaced(results=(new[call.results[0]],)) for call in calls
                )
    if not replaced:
        return program
    late = [new for call in after for new in (*again.get(call, ()), call.substituted(dict(replaced)))]
    return program.replaced(calls=(*before, *late))


def calls_for(
    value: Value, makers: dict[Value, Call], ends: dict[Value, int], replaced: dict[Value, Value], backend: Backend
) -> list[Call]:
    """Return cheap calls that compute a value from values available until its last use; an empty list if impossible.

    `makers` and `ends` have the call that computes a value, and the number of the call that needs it last (not for
    outputs); values of `replaced` are not available.
    """
    found: list[Call] = []
    made: set[Value] = set()

    def is_there(x: Value) -> bool:
        if x in made or x not in makers or x.nbytes * SMALL <= value.nbytes:
            return True
        return x not in replaced and ends.get(x, len(makers)) >= ends[value] and x is not value

    def visit(x: Value) -> bool:
        call = makers[x]
        if call.name not in CHEAP or not (call.pure and call.single) or len(call.results) != 1:
            return False
        if len(found) == MAX_CALLS or not all(is_there(y) or visit(y) for y in call.operands()):
            return False
        found.append(call)
        made.add(x)
        return len(found) <= MAX_CALLS

    return found if visit(value) else []
