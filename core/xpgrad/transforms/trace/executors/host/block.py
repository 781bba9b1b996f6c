"""`Block`: the calls of a fused group on one block of its arrays."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.calls import Call, Value, itemsize, substituted
from xpgrad.transforms.trace.executors.host.cuts import Cuts
from xpgrad.transforms.trace.executors.host.memory import with_scratch
from xpgrad.transforms.trace.executors.host.stages import on_block
from xpgrad.transforms.trace.loading import load
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.source import source_of
from xpgrad.types import Array

Run = Callable[..., Sequence[Any]]


class Block:
    """The calls on one block.

    Parameters
    ----------
    body, ends : sequence of Call
        See `Stages`.
    outputs : sequence of Value
        Those of the group.
    cuts : Cuts

    Attributes
    ----------
    inputs : tuple of Value
        What the block needs: parts of arrays, and others.
    results : tuple of Value
        The outputs of which it computes parts.
    totals : tuple of Value
        The results of reductions.
    count, itemsize : int
        Number of arrays of the size of a block, and of bytes of an element.
    """

    def __init__(self, body: Sequence[Call], ends: Sequence[Call], outputs: Sequence[Value], cuts: Cuts) -> None:
        self._body, self._ends, self._cuts = body, ends, cuts
        made = {value for call in body for value in call.results}
        self.results = tuple(value for value in outputs if value in made)
        self._operands = unique(value for call in ends for value in call.operands())
        self.inputs = unique(v for call in (*body, *ends) for v in call.operands() if v not in made)
        self.totals = tuple(call.results[0] for call in ends)
        self._kept = (*self.results, *(value for value in self._operands if value in made))
        self._program = Program("block", self.inputs, self._kept, tuple(body), len(self._kept))
        found = with_scratch(self._program, self.results)
        self._program, self._scratch, self._rest = found
        self._changes = any(on_block(call, cuts, 1) is not call for call in body)
        self._functions: dict[int, Run] = {}
        self._reduced = self._reduction() if ends else None
        cut = [value for value in self.inputs if cuts.is_cut(value)]
        self.count = len(cut) + len(self.results) + len(self._scratch) + 2  # and what functions need themselves
        self.itemsize = max(itemsize(value.spec) for value in (*cut, *self.results, *self._scratch, *made))

    def scratch(self, length: int) -> list[Array]:
        """Return new memory for what the calls compute meanwhile."""
        return [programs_of(value.spec.backend).scratch(self._cuts.part(value.spec, length)) for value in self._scratch]

    def run(
        self, length: int, inputs: Sequence[Array], scratch: Sequence[Array], outputs: Sequence[Array]
    ) -> list[Array]:
        """Compute one block, into parts of the outputs, and return the operands of reductions."""
        function = self._functions[length if self._changes else 0]
        if scratch and scratch[0].shape[0] != length:
            scratch = [pad[:length] for pad in scratch]
        kept = function(*inputs, *scratch, *outputs)
        for i in self._rest:
            outputs[i][...] = kept[i]
        if self._reduced is None:
            return []
        found = {**dict(zip(self.inputs, inputs, strict=True)), **dict(zip(self._kept, kept, strict=True))}
        return [found[value] for value in self._operands]

    def prepare(self, length: int) -> None:
        """Make the function for blocks of a length; most serve any length."""
        key = length if self._changes else 0
        if key not in self._functions:
            calls = tuple(on_block(call, self._cuts, length) for call in self._program.calls)
            self._functions[key] = load(source_of(self._program.replaced(calls=calls)), "block")

    def _reduction(self) -> Run:
        calls = [on_block(call, self._cuts, 1) for call in self._ends]
        return straight("ends", self._operands, self.totals, calls)

    def reduced(self, operands: Sequence[Array], start: int, stop: int) -> Sequence[Array]:
        """Return the reductions of a part of a block."""
        assert self._reduced is not None
        is_cut = self._cuts.is_cut
        parts = [item[start:stop] if is_cut(v) else item for item, v in zip(operands, self._operands, strict=True)]
        found = self._reduced(*parts)
        if stop - start == 1:  # a sum of one row may be that row, in memory that the next block takes
            return [value.spec.backend.copy(part) for part, value in zip(found, self.totals, strict=True)]
        return found

    def fits(self, inputs: Sequence[Array]) -> bool:
        """Return whether the calls give parts of their results on parts of the arrays, by shape and dtype.

        An error says nothing: where there is one, it is for the whole arrays to raise it.
        """
        cuts = self._cuts
        length = min(2, cuts.length)
        found: dict[Value, Any] = {
            value: array[:length] if cuts.is_cut(value) else array
            for value, array in zip(self.inputs, inputs, strict=True)
        }
        try:
            for call in (*self._body, *self._ends):
                part = on_block(call, cuts, length)
                made = part.function(*substituted(part.args, found), **substituted(part.kwargs, found))
                for value, item in zip(call.results, [made] if call.single else made, strict=True):
                    found[value] = value.spec.backend.restore(item)
                    expected = cuts.spec(value, length)
                    if found[value].shape != expected.shape or found[value].dtype != expected.dtype:
                        return False
        except Exception:
            return False
        return True


def unique(values: Iterable[Value]) -> tuple[Value, ...]:
    """Return values in order, each once."""
    return tuple(dict.fromkeys(values))


def straight(
    name: str, inputs: Sequence[Value], outputs: Sequence[Value], calls: Sequence[Call], *, copied: bool = False
) -> Run:
    """Return a function of some calls; `copied` says whether its results share no memory with its arguments."""
    program = Program(name, tuple(inputs), tuple(outputs), tuple(calls), 0 if copied else len(outputs))
    return load(source_of(program), name)
