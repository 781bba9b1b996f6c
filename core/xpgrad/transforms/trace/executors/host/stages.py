"""`Stages`: the calls of a fused group by when they run: before the blocks, in each, at the end of each, and after."""

from collections.abc import Iterable
from dataclasses import dataclass

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.executors.host.cuts import Cuts

COMBINING = {
    "sum": "add",
    "sum_to": "add",
    "prod": "multiply",
    "max": "maximum",
    "min": "minimum",
}
"""Reductions of which each block computes its part, and the functions that combine two parts."""
TOTALS = "sum", "prod", "max", "min"


@dataclass(frozen=True, slots=True)
class Stages:
    """The calls of a group.

    Attributes
    ----------
    before : tuple of Call
        Those that take no part of an array.
    body : tuple of Call
        Those that compute parts of arrays, on one block after the other.
    ends : tuple of Call
        Reductions that take parts of arrays and return what is whole.
    after : tuple of Call
        Those that take the result of a reduction.
    """

    before: tuple[Call, ...]
    body: tuple[Call, ...]
    ends: tuple[Call, ...]
    after: tuple[Call, ...]


def stages_of(inputs: Iterable[Value], calls: Iterable[Call], cuts: Cuts) -> Stages | None:
    """Return the stages of the calls of a group, None if they cannot be done so."""
    stage = {value: "body" if cuts.is_cut(value) else "before" for value in inputs}
    found: dict[str, list[Call]] = {"before": [], "body": [], "ends": [], "after": []}
    for call in calls:
        operands = {stage[value] for value in call.operands()}
        cut = {cuts.is_cut(value) for value in call.results}
        if len(cut) != 1 or not call.pure or {"body", "after"} <= operands:
            return None
        if cut == {True}:
            if "after" in operands:
                return None
            name = "body"
        elif "body" in operands:
            if not can_combine(call):
                return None
            name = "ends"
        else:
            name = "after" if "after" in operands else "before"
        found[name].append(call)
        stage.update(dict.fromkeys(call.results, "after" if name == "ends" else name))
    return Stages(*map(tuple, found.values()))


def can_combine(call: Call) -> bool:
    """Return whether the result of a reduction is that of its results on parts.

    Sums of half precision are not: the parts would be rounded.
    """
    if call.name not in COMBINING or not call.single or len(call.results) != 1:
        return False
    spec = call.results[0].spec
    return not spec.differentiable or spec.complex or bool(spec.backend.wide(spec.dtype) == spec.dtype)


SHAPED = {"broadcast_to": 1, "reshape": 1, "sum_to": 1, "empty": 0, "full": 0, "ones": 0, "zeros": 0}
"""Functions with the shape of the result among their arguments, and its place there."""


def on_block(call: Call, cuts: Cuts, length: int) -> Call:
    """Return a call as one on a block: what says the shape of the whole result says that of its part."""
    result = call.results[0]
    if not cuts.is_cut(result):
        return flat_end(call) if cuts.flat else call
    spec = cuts.spec(result, length)

    place = SHAPED.get(call.name)
    args = tuple(
        spec if item is result.spec else spec.shape if i == place else item for i, item in enumerate(call.args)
    )
    if call.name == "sum.x" and cuts.flat:
        args = (*args[:2], None, False)
    kwargs = {
        key: spec if item is result.spec else spec.shape if key == "shape" and place is not None else item
        for key, item in call.kwargs.items()
    }
    if all(a is b for a, b in zip(args, call.args, strict=True)) and all(kwargs[k] is call.kwargs[k] for k in kwargs):
        return call
    return call.replaced(args=args, kwargs=kwargs)


def flat_end(call: Call) -> Call:
    """Return a reduction over all of an array, of whatever axes, as one over the only axis of a flat array."""
    if call.name == "sum_to":
        return call.replaced(args=call.args[:1], kwargs={"shape": ()})
    if call.name in TOTALS:
        kwargs = {key: item for key, item in call.kwargs.items() if key == "dtype"}
        return call.replaced(args=call.args[:1], kwargs={**kwargs, "axis": None, "keepdims": False})
    return call
