"""`in_order`: calls in an order in which each call follows the calls whose results it takes."""

from collections.abc import Iterable, Sequence

from xpgrad.transforms.trace.calls import Call, Value


def in_order(calls: Iterable[Call], inputs: Sequence[Value]) -> tuple[Call, ...]:
    """Return the calls, each as early as before unless it needs the result of a later call: then it follows that call.

    Calls that draw keep their order. There must be an order, and no call that writes.
    """
    found: list[Call] = []
    known = set(inputs)
    missing: dict[Call, int] = {}
    waiting: dict[Value, list[Call]] = {}
    effects: list[Call] = []  # pending: the first effect waits for its operands, later effects for their turn

    def add(first: Call) -> None:
        ready = [first]
        while ready:
            call = ready.pop()
            if call.draws and effects and effects[0] is not call:
                if call not in effects:
                    effects.append(call)
                continue
            found.append(call)
            next_ready = []
            if effects and effects[0] is call:
                del effects[0]
                if effects and not missing.get(effects[0]):
                    next_ready.append(effects[0])
            for value in call.results:
                known.add(value)
                for other in waiting.pop(value, ()):
                    missing[other] -= 1
                    if not missing[other]:
                        next_ready.append(other)
            ready += reversed(next_ready)

    for call in calls:
        absent = {value for value in call.operands() if value not in known}
        if not absent:
            add(call)
            continue
        missing[call] = len(absent)
        if call.draws:
            effects.append(call)
        for value in absent:
            waiting.setdefault(value, []).append(call)
    return tuple(found)
