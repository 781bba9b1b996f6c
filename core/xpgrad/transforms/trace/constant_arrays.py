"""The constant arrays of a program as additional inputs."""

from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trace.calls import Value, leaves_of, mapped
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program


def constants_as_inputs(program: "Program", min_bytes: int) -> tuple["Program", tuple[Array, ...]]:
    """Return a program with constant arrays of at least `min_bytes` as further inputs, and these arrays.

    Arrays that are bound to the function of a call remain constants.
    """
    backend = program.backend
    if backend is None:
        return program, ()
    types = frozenset(backend.array_types)
    arrays: list[Array] = []  # which keep their ids
    values: dict[int, Value] = {}

    def value(leaf: Any) -> Any:
        if type(leaf) not in types:
            return leaf
        found = values.get(id(leaf))
        if found is None:
            found = Value(backend.spec(leaf))
            if found.nbytes < min_bytes:
                return leaf
            arrays.append(leaf)
            values[id(leaf)] = found
        return found

    calls = tuple(
        call.replaced(args=mapped(call.args, value), kwargs=mapped(call.kwargs, value))
        if any(type(leaf) in types for leaf in leaves_of((call.args, call.kwargs)))
        else call
        for call in program.calls
    )
    outputs = mapped(program.outputs, value)
    if not arrays:
        return program, ()
    inputs = (*program.inputs, *values.values())
    return program.replaced(inputs=inputs, outputs=outputs, calls=calls), tuple(arrays)
