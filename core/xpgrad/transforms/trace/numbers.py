"""`with_numbers`: two runs of a function for other Python floats, as programs with these floats as inputs."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.backend.standard import COMPARISONS
from xpgrad.transforms.trace.guards.numbers import Expression, value_of
from xpgrad.transforms.trace.level import InputSource
from xpgrad.transforms.trace.program import Call, Value
from xpgrad.transforms.trace.tracing import Trace

TAKERS = frozenset(
    ["add", "subtract", "multiply", "divide", "maximum", "minimum", "where", "asarray", *COMPARISONS.values()]
)
"""Functions for which a Python number is the same as a 0-d array of the dtype of their arrays."""


class Number(NamedTuple):
    """An input of a program that is computed from floats among the arguments: a 0-d array of a spec."""

    expression: Expression
    spec: Spec

    def array(self, x: float) -> Any:
        """Return the array for a value."""
        return self.spec.backend.asarray(x, self.spec.dtype, self.spec.device)


class Merger:
    """Replaces, in two programs of the same calls, constants that differ as numbers among the arguments do."""

    def __init__(self, first: Trace, second: Trace) -> None:
        self._second = second.numbers
        self._known: list[tuple[Expression, Any, Any]] = []
        for e in second.facts.numbers.expressions:
            try:
                self._known.append((e, value_of(e, first.numbers), value_of(e, second.numbers)))
            except ArithmeticError:
                continue
        pairs = zip(first.program.inputs, first.sources, strict=True)
        self.entered: dict[Value, Number] = {v: s.holder for v, s in pairs if s.kind == "number"}
        self.inputs = {number: (value, Value(number.spec)) for value, number in self.entered.items()}

    def calls(self, first: Sequence[Call], second: Sequence[Call]) -> tuple[list[Call], list[Call]]:
        """Return the calls of both programs with inputs in place of such constants."""
        pairs = [self._call(a, b) for a, b in zip(first, second, strict=False)]
        count = len(pairs)
        return [a for a, _ in pairs] + [*first[count:]], [b for _, b in pairs] + [*second[count:]]

    def _call(self, a: Call, b: Call) -> tuple[Call, Call]:
        if a.name != b.name or a.name not in TAKERS or len(a.args) != len(b.args):
            return a, b
        args = [self._item(a, x, y) for x, y in zip(a.args, b.args, strict=True)]
        if all(found is None for found in args):
            return a, b
        return (
            a.replaced(args=tuple(x if f is None else f[0] for x, f in zip(a.args, args, strict=True))),
            b.replaced(args=tuple(x if f is None else f[1] for x, f in zip(b.args, args, strict=True))),
        )

    def _item(self, call: Call, a: Any, b: Any) -> tuple[Value, Value] | None:
        """Return the inputs for an argument of both calls; None if the constant remains."""
        number = self.entered.get(a) if isinstance(a, Value) else None
        if number is not None:
            fits = not isinstance(b, Value) and self._is(b, value_of(number.expression, self._second), number.spec)
            return self.inputs[number] if fits else None
        if isinstance(a, Value) or isinstance(b, Value):
            return None
        spec = _spec(call, b if type(a) is float else a)  # libraries may return Python zeros
        if spec is None or not spec.differentiable or spec.complex or float(a) == float(b):
            return None
        found = [e for e, x, y in self._known if self._is(a, x, spec) and self._is(b, y, spec)]
        if len(found) != 1:
            return None
        return self.inputs.setdefault(Number(found[0], spec), (Value(spec), Value(spec)))

    @staticmethod
    def _is(constant: Any, x: Any, spec: Spec) -> bool:
        return bool(float(constant) == float(Number(0, spec).array(x)))


def _spec(call: Call, x: Any) -> Spec | None:
    """Return the spec of the 0-d array for a constant."""
    if type(x) in plugins.by_type:
        own = plugins.backend_of(x).spec(x)
        return None if own.shape else own
    if type(x) is not float:
        return None
    near = [*call.operands(), *(call.results if call.name == "asarray" else ())]
    if not near or any(value.spec.dtype != near[-1].spec.dtype for value in near[1:]):
        return None
    spec = near[-1].spec  # of `where` the first operand is a condition
    return spec.backend.spec_for((), spec.dtype, spec.device)


def with_numbers(first: Trace, second: Trace) -> tuple[Trace, Trace]:
    """Return two runs with inputs in place of the constants that depend on differing floats of their arguments.

    The first run may already have such inputs.
    """
    if not first.facts.numbers or not second.facts.numbers:
        return first, second
    merger = Merger(first, second)
    loosened = first.loosened | {i for i, x in second.numbers.items() if x != first.numbers.get(i)}
    programs = merger.calls(first.program.calls, second.program.calls)
    halves: tuple[list[Call], list[Call]] | None = None
    if first.pullback is not None and second.pullback is not None:
        halves = merger.calls(first.pullback.calls, second.pullback.calls)
    made = []
    for i, trace in enumerate((first, second)):
        new = copy.copy(trace)
        new.loosened = loosened
        inputs = {number: pair[i] for number, pair in merger.inputs.items() if i or pair[0] not in merger.entered}
        new.sources = [*trace.sources, *(InputSource("number", number) for number in inputs)]
        program = trace.program
        new.program = program.replaced(inputs=(*program.inputs, *inputs.values()), calls=tuple(programs[i]))
        if halves is not None and trace.pullback is not None:
            used = {value for call in halves[i] for value in call.operands()}
            given = (*trace.kept, *(value for value in inputs.values() if value in used))
            starts = trace.pullback.inputs[len(trace.kept) :]
            new.pullback = trace.pullback.replaced(inputs=(*given, *starts), calls=tuple(halves[i]))
        made.append(new)
    return made[0], made[1]
