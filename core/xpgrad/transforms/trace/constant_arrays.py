"""The constant arrays of a program as additional inputs."""

from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trace.calls import Call, Value, leaves_of, mapped
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend
    from xpgrad.transforms.trace.program import Program


def constants_as_inputs(program: "Program", min_bytes: int) -> tuple["Program", tuple[Array, ...]]:
    """Return a program with constant arrays of at least `min_bytes` as further inputs, and these arrays.

    Arrays that are bound to the function of a call remain constants.
    """
    backend = program.backend
    if backend is None:
        return program, ()
    found = Found(backend, min_bytes)
    calls = [found.call(call) for call in program.calls]
    outputs = mapped(program.outputs, found.value)
    if not found.arrays:
        return program, ()
    inputs = (*program.inputs, *found.values.values())
    return program.replaced(inputs=inputs, outputs=outputs, calls=tuple(calls)), tuple(found.arrays)


class Found:
    """The constant arrays that have been found, each once.

    Attributes
    ----------
    arrays : list of array
    values : dict from int to Value
        The inputs that represent them, by the arrays' ids.
    """

    def __init__(self, backend: "Backend", min_bytes: int) -> None:
        self.backend, self.min_bytes = backend, min_bytes
        self.arrays: list[Array] = []
        self.values: dict[int, Value] = {}
        self._types = frozenset(backend.array_types)

    def call(self, call: Call) -> Call:
        """Return a call with inputs for constant arrays."""
        if not any(type(leaf) in self._types for leaf in leaves_of((call.args, call.kwargs))):
            return call
        return call.replaced(args=mapped(call.args, self.value), kwargs=mapped(call.kwargs, self.value))

    def value(self, leaf: Any) -> Any:
        """Return the input for an array; arrays that are too small and other objects are unchanged."""
        if type(leaf) not in self._types:
            return leaf
        found = self.values.get(id(leaf))
        if found is None:
            found = Value(self.backend.spec(leaf))
            if found.nbytes < self.min_bytes:
                return leaf
            self.arrays.append(leaf)  # and keeps it, so that its id stays its own
            self.values[id(leaf)] = found
        return found
