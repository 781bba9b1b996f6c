"""Elementwise calls on large arrays are grouped, and computed block by block in the cache."""

from xpgrad.backend.backend import Backend
from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.groups import BlockGroup, Grouping
from xpgrad.transforms.trace.lifetimes import peak
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.program import Program

MIN_BYTES = 2**20
"""Size of a result from which on blocks are faster; smaller arrays stay in the cache as they are."""
MIN_CALLS, MAX_CALLS = 2, 500
"""Numbers of calls in a group."""
SPARE_CALLS = 16
"""How many calls earlier a long group may end: before a call that does not take the last result, which is not kept."""


def blocks(program: Program) -> Program:
    """Return the program with elementwise calls replaced by groups.

    A call that needs no result of a group runs before it, and a call that needs one of its results runs after it. If
    this would increase the peak of memory, or a call writes to an array, calls are not grouped.
    """
    backend = program.backend
    if backend is None or any(call.writes for call in program.calls):
        return program
    calls = BlockGrouping(program, backend).calls
    if len(calls) == len(program.calls):
        return program
    found = program.replaced(calls=tuple(calls))
    return found if peak(buffers(found)) <= peak(buffers(program)) else program


class BlockGrouping(Grouping):
    """Puts elementwise calls on large arrays of one shape together."""

    def __init__(self, program: Program, backend: Backend) -> None:
        self._backend = backend
        self._group: list[Call] = []
        self._made: set[Value] = set()  # by the group
        super().__init__(program)

    def _add(self, call: Call) -> None:
        waits = self._waits(call)
        if is_member(call, self._backend):
            shape = call.results[0].spec.shape
            needs_last = bool(self._group) and self._group[-1].results[0] in call.operands()
            full = len(self._group) >= (MAX_CALLS if needs_last else MAX_CALLS - SPARE_CALLS)
            if waits or full or (self._group and self._group[0].results[0].spec.shape != shape):
                self._close()
            self._group.append(call)
            self._made.update(call.results)
        else:
            depends = waits or not call.pure or not self._made.isdisjoint(call.operands())
            self._place(call, after=bool(self._group) and depends)

    def _close(self) -> None:
        members = self._group
        outputs = tuple(self._outputs(members)) if len(members) >= MIN_CALLS else ()
        if outputs:
            inputs = dict.fromkeys(x for call in members for x in call.operands() if x not in self._made)
            inner = Program("blocks", tuple(inputs), outputs, tuple(members))
            members = [BlockGroup(buffers(inner).calls, inner.inputs, outputs).as_call()]
        self._end(members)
        self._group, self._made = [], set()


def is_member(call: Call, backend: Backend) -> bool:
    """Return whether a call can be in a group: elementwise, on arrays of one shape and numbers, with a large result."""
    if not (call.single and call.pure and len(call.results) == 1) or call.kwargs:
        return False
    result = call.results[0]
    if result.nbytes < MIN_BYTES or not all(is_operand(item, result) for item in call.args):
        return False
    arrays = any(isinstance(item, Value) and item.spec.shape for item in call.args)
    return arrays and programs_of(backend).is_elementwise(call.function)


def is_operand(item: object, result: Value) -> bool:
    """Return whether an argument is an array of the shape of the result, or a number."""
    if isinstance(item, Value):
        return item.spec.shape in ((), result.spec.shape)
    return isinstance(item, (int, float, complex)) or getattr(item, "shape", None) == ()
