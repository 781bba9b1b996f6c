"""Arrays of a program that may share memory: a superset of the arrays that do."""

import functools
from collections.abc import Iterable
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.programs import programs_of
from xpgrad.backend.standard import OPERATORS, python_operator
from xpgrad.transforms.trace.calls import Call, CallSequence, Value, leaves_of
from xpgrad.transforms.trace.groups import BlockGroup

OUTSIDE = 0
"""The root of memory that is not the program's: inputs and constants, any of which may share theirs."""
FRESH_OPERATORS = frozenset(map(python_operator, OPERATORS.keys() - {"abs", "pos"}))
"""Operators that return new arrays in every library. `abs` and `+` may return their argument."""
COMPUTED = frozenset(
    [
        *("add", "subtract", "multiply", "divide", "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "tanh"),
        *("matmul", "tensordot", "vecdot", "linalg.inv", "linalg.solve", "linalg.cholesky", "linalg.det", "fused"),
    ]
)
"""Functions whose results differ from their arguments in general, so that they are no views, and groups (fused)."""
NEW = "copy", "ones"
"""Methods of `Backend` that return new arrays."""

Roots = frozenset[int]
NOTHING: Roots = frozenset()


class Aliases:
    """The arrays of a program by the memory that they may be in.

    The memory of a call's result is new only if its backend confirms it (`Programs.is_fresh`); otherwise its results
    may be views of any of its arguments.

    `roots` are the numbers of the pieces of memory that contain values. Values share memory only if they have one in
    common: a result that may be a view of several arrays makes one piece of theirs. In `written` are the pieces to
    which a call writes. If arrays are `immutable`, it does not matter which share memory.
    """

    def __init__(self, program: CallSequence) -> None:
        backend = program.backend
        self._program = program
        self.immutable = backend is not None and backend.immutable
        self._types = () if backend is None else backend.array_types
        writes = [call.writes for call in program.calls if call.writes]
        self.written: Roots = frozenset().union(*map(self.of, writes))

    @functools.cached_property  # of most programs only `written` is needed, which is empty
    def roots(self) -> dict[Value, Roots]:
        """The root of each value, as a set."""
        program, backend = self._program, self._program.backend
        found = dict.fromkeys(program.inputs, OUTSIDE)
        joined = [OUTSIDE]  # for each number the number of the piece that it has become a part of, or itself

        def whole(number: int) -> int:
            while joined[number] != number:
                number = joined[number]
            return number

        for call in program.calls:
            if self.immutable or not call.results or (not call.writes and is_fresh(call, backend)):
                new = range(len(joined), len(joined) + len(call.results))
                found |= zip(call.results, new, strict=True)
                joined += new
                continue
            parts = {whole(found[value]) for value in call.operands()}
            if not parts or self.holds_array(call):
                parts.add(OUTSIDE)
            for number in parts:
                joined[number] = min(parts)
            found |= dict.fromkeys(call.results, min(parts))
        return {value: frozenset((whole(number),)) for value, number in found.items()}

    def holds_array(self, call: Call) -> bool:
        """Return whether a call has a constant array, as an argument or bound to its function."""
        parts: Any = (call.args, call.kwargs)
        function = call.function
        while isinstance(function, functools.partial):
            parts, function = (parts, function.args, function.keywords), function.func
        return any(isinstance(leaf, self._types) for leaf in leaves_of(parts))

    def of(self, items: Iterable[Any]) -> Roots:
        """Return the roots of values and constants together."""
        found: Roots = NOTHING
        for item in items:
            found = found | (self.roots[item] if isinstance(item, Value) else frozenset((OUTSIDE,)))
        return found

    def of_operands(self, call: Call) -> Roots:
        """Return the roots of all arrays that a call reads."""
        found = self.of(call.operands())
        return found | {OUTSIDE} if self.holds_array(call) else found

    def is_written(self, value: Value) -> bool:
        """Return whether a call may write to the memory of `value`."""
        return bool(self.written) and not self.written.isdisjoint(self.roots[value])


def is_fresh(call: Call, backend: Backend | None) -> bool:
    """Return whether each result of a call is in new memory."""
    cast = call.name in ("sum_to", "astype") and is_other(call)
    if isinstance(call.function, BlockGroup) or call.name in COMPUTED or cast:
        return True
    if backend is not None and getattr(call.function, "__self__", None) is backend and call.function.__name__ in NEW:
        return True
    try:
        if call.function in FRESH_OPERATORS:
            return True
    except TypeError:  # an object that is not hashable
        return False
    return backend is not None and programs_of(backend).is_fresh(call.function)


def is_other(call: Call) -> bool:
    """Return whether a sum has fewer elements than its operand, or a cast another dtype: then it is not a view."""
    x, y = call.args[0] if call.args else None, call.results[0]
    return isinstance(x, Value) and (y.spec.size < x.spec.size or bool(y.spec.dtype != x.spec.dtype))


def to_copy(program: CallSequence) -> tuple[bool, ...]:
    """Return for each output whether it must be copied, so that only the caller refers to its memory."""
    aliases = Aliases(program)
    if aliases.immutable:
        return (False,) * len(program.outputs)
    taken: set[int] = {OUTSIDE}
    copied = []
    public = len(program.outputs) - program.private
    for item in program.outputs[:public]:
        roots = aliases.of((item,))
        copied.append(not taken.isdisjoint(roots))
        if not copied[-1]:
            taken |= roots
    return (*copied, *(False,) * program.private)
