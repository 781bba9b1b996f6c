"""`in_order`: calls in an order in which each call follows the calls whose results it takes."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from xpgrad.transforms.trace.calls import Call, Value


def in_order(calls: Iterable[Call], inputs: Sequence[Value]) -> tuple[Call, ...]:
    """Return the calls in their order, but calls whose results an earlier call needs before that.

    Calls that draw keep their order. There must be an order, and no call that writes.
    """
    waiting = [*calls][::-1]
    makers = {value: call for call in waiting for value in call.results}
    earlier_draw = dict(pairwise(call for call in waiting if call.draws))
    found: dict[Call, None] = {}
    known = set(inputs)
    while waiting:
        call = waiting.pop()
        if call in found:
            continue
        needed = [makers[value] for value in call.operands() if value not in known]
        needed += [before for before in (earlier_draw.get(call),) if before is not None and before not in found]
        if needed:
            waiting += [call, *reversed(needed)]
        else:
            found[call] = None
            known.update(call.results)
    return tuple(found)
