"""0-d results that remain scalars in a run of a program: in libraries whose scalars are faster than 0-d arrays."""

from typing import Any

from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.aliases import Aliases
from xpgrad.transforms.trace.calls import Call, CallSequence, Value

Operation = tuple[str, tuple[Any, ...]]


class Scalars:
    """The calls that a program computes with scalars.

    In `operations` are the calls for which an expression of scalars gives the same bits, with that expression and its
    operands; in `values` are their results that are never needed as arrays.
    """

    def __init__(self, program: CallSequence) -> None:
        self.operations: dict[Call, Operation] = {}
        self.values: set[Value] = set()
        backend = program.backend
        if backend is None or not backend.scalar_types:
            return
        aliases, programs = Aliases(program), programs_of(backend)
        for call in program.calls:
            # An array that is written to later must remain a view until then.
            if is_plain(call) and not aliases.is_written(call.results[0]):
                found = programs.on_scalars(call.function, call.args, call.kwargs, call.results[0].spec.dtype)
                if found is not None:
                    self.operations[call] = found
        self.values = {call.results[0] for call in self.operations}
        self.values.difference_update(item for item in program.outputs if isinstance(item, Value))
        for call in program.calls:
            if call not in self.operations and not programs.takes_scalars(call.function):
                self.values.difference_update(call.operands())


def is_plain(call: Call) -> bool:
    """Return whether a call has one 0-d result of a real dtype, and operands of that dtype."""
    if not (call.single and call.pure and len(call.results) == 1) or call.out is not None:
        return False
    spec = call.results[0].spec
    if spec.shape or not spec.differentiable or spec.complex:
        return False
    return all(value.spec.dtype == spec.dtype for value in call.operands())
