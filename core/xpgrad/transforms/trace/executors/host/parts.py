"""Calls of a fused group in smaller steps, so that each can be done block by block."""

from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.types import Array


def steps_of(fused: Fused) -> tuple[list[Call], dict[Value, Array]]:
    """Return the calls of a group in smaller steps, and the constant arrays among their arguments as values."""
    constants: dict[int, tuple[Value, Array]] = {}
    calls = []
    for call in fused.calls:
        for step in _steps(call, fused):
            args = tuple(_value(item, constants) for item in step.args)
            kwargs = {key: _value(item, constants) for key, item in step.kwargs.items()}
            calls.append(step.replaced(args=args, kwargs=kwargs, out=None, frees=()))
    return calls, dict(constants.values())


def _value(item: Any, constants: dict[int, tuple[Value, Array]]) -> Any:
    """Return a value for a constant array that has axes, which may have to be cut; other arguments as they are."""
    if type(item) not in plugins.by_type or item.shape == ():
        return item
    if id(item) not in constants:
        constants[id(item)] = Value(plugins.by_type[type(item)].spec(item), "constant"), item
    return constants[id(item)][0]


def _steps(call: Call, fused: Fused) -> list[Call]:
    levels = fused.levels
    if call.name == "normalized.gamma":
        return _normalized_gamma(call)
    if (
        call.name == "mean"
        and levels[call.results[0]] in ("one", "column")
        and levels[call.args[0]] in ("point", "row")
    ):
        return _mean(call)
    return [call]


def _mean(call: Call) -> list[Call]:
    """Return the sum, and its division."""
    x, y = call.args[0], call.results[0]
    xp = x.spec.backend.namespace
    total = Value(y.spec)
    count = x.spec.size // y.spec.size
    return [
        Call("sum", xp.sum, call.args, call.kwargs, (total,), line=call.line),
        Call("divide", xp.divide, (total, count), {}, (y,), line=call.line),
    ]


def _normalized_gamma(call: Call) -> list[Call]:
    """Return the products, and their sum over the leading axes."""
    gy, x, _, mean, inverse = call.args[:5]
    result = call.results[0]
    xp, number = x.spec.backend.namespace, x.spec.ndim - result.spec.ndim
    if result.spec.shape != x.spec.shape[number:]:
        return [call]
    centred, standard, product = (Value(x.spec) for _ in range(3))
    return [
        Call("subtract", xp.subtract, (x, mean), {}, (centred,), line=call.line),
        Call("multiply", xp.multiply, (centred, inverse), {}, (standard,), line=call.line),
        Call("multiply", xp.multiply, (standard, gy), {}, (product,), line=call.line),
        Call("sum", xp.sum, (product,), {"axis": tuple(range(number)), "keepdims": False}, (result,), line=call.line),
    ]
