"""`without`: a backward program for fewer cotangents, as a sweep computes it that starts from some outputs only."""

from collections.abc import Collection, Sequence
from typing import Any

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.program import Program

SUM = "add"
"""The name of the calls by which a sweep collects the contributions to one cotangent."""
JOINED = "concat", "stack"
"""Functions with a part of the result for each operand: a sweep puts factors of products together, also cotangents."""


def without(program: Program, cotangents: Sequence[Value], absent: Collection[Value]) -> tuple[Program, list[bool]]:
    """Return a backward program without some of its cotangents, and which of its outputs remain.

    Values that depend on absent cotangents only are left out, and a sum with such a value is replaced by its other
    operand: zeros in their place would cost more, and give NaN with infinite values.

    Parameters
    ----------
    program : Program
        It is linear in `cotangents`, which are among its inputs.
    cotangents, absent : collection of Value
    """
    derived, gone = set(cotangents), set(absent)
    replaced: dict[Value, Any] = {}
    calls: list[Call] = []
    for call in program.calls:
        linear = [value for value in call.operands() if value in derived]
        derived.update(call.results if linear else ())
        missing = [value for value in linear if value in gone]
        mixed = call.name in JOINED and len(linear) < len(call.args[0])
        if missing and len(missing) == len(linear) and call.pure and not mixed:
            gone.update(call.results)
        elif missing and call.name == SUM and len(linear) == len(call.args) == 2:
            (rest,) = (value for value in linear if value not in gone)
            replaced[call.results[0]] = replaced.get(rest, rest)
        else:
            calls.append(call.substituted(replaced | {value: _zeros(value) for value in missing}))
    remain = [value not in gone for value in program.outputs]
    outputs = tuple(replaced.get(value, value) for value, kept in zip(program.outputs, remain, strict=True) if kept)
    inputs = tuple(value for value in program.inputs if value not in absent)
    return program.replaced(inputs=inputs, outputs=outputs, calls=tuple(calls)), remain


def _zeros(value: Value) -> Any:
    spec = value.spec
    return spec.backend.restore(spec.backend.xp.zeros(spec.shape, dtype=spec.dtype, device=spec.device))
