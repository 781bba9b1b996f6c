"""`in_order`: calls in an order in which each call follows the calls whose results it takes."""

from collections.abc import Iterable, Sequence

from xpgrad.transforms.trace.calls import Call, Value


def in_order(calls: Iterable[Call], inputs: Sequence[Value]) -> tuple[Call, ...]:
    """Return the calls, each as early as before unless it needs the result of a later call: then it follows that call.

    Calls that draw keep their order. There must be an order, and no call that writes.
    """
    found: list[Call] = []
    known: set[Value | Call] = set(inputs)
    missing: dict[Call, int] = {}
    waiting: dict[Value | Call, list[Call]] = {}

    def add(first: Call) -> None:
        ready = [first]
        while ready:
            call = ready.pop()
            found.append(call)
            next_ready = []
            made: list[Value | Call] = [call, *call.results]
            for item in made:
                known.add(item)
                for other in waiting.pop(item, ()):
                    missing[other] -= 1
                    if not missing[other]:
                        next_ready.append(other)
            ready += reversed(next_ready)

    drawn: Call | None = None
    for call in calls:
        needed: set[Value | Call] = {*call.operands()}
        if call.draws:
            needed.update(() if drawn is None else (drawn,))
            drawn = call
        absent = needed - known
        if not absent:
            add(call)
            continue
        missing[call] = len(absent)
        for value in absent:
            waiting.setdefault(value, []).append(call)
    return tuple(found)
