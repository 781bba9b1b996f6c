"""The constant arrays of a program as additional inputs."""

from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trace.calls import Call, Value
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
    outputs = found.opened(program.outputs)
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
        args, kwargs = self.opened(call.args), self.opened(call.kwargs)
        return call if args is call.args and kwargs is call.kwargs else call.replaced(args=args, kwargs=kwargs)

    def opened(self, tree: Any) -> Any:
        """Return nested arguments with inputs for constant arrays; the same object without constant arrays."""
        kind = type(tree)
        if kind in self._types:
            return self.value(tree)
        if isinstance(tree, (tuple, list)):
            items = [self.opened(item) for item in tree]
            same = all(one is other for one, other in zip(items, tree, strict=True))
            return tree if same else getattr(tree, "_make", kind)(items)
        if kind is dict:
            parts = {key: self.opened(item) for key, item in tree.items()}
            return tree if all(parts[key] is item for key, item in tree.items()) else parts
        if kind is slice:
            bounds = (tree.start, tree.stop, tree.step)
            opened = self.opened(bounds)
            return tree if opened is bounds else slice(*opened)
        return tree

    def value(self, array: Array) -> Any:
        """Return the input for an array, or the array if it is too small."""
        found = self.values.get(id(array))
        if found is None:
            found = Value(self.backend.spec(array))
            if found.nbytes < self.min_bytes:
                return array
            self.arrays.append(array)  # and keeps it, so that its id stays its own
            self.values[id(array)] = found
        return found
