"""Batches of rows: one sweep, with a batch of cotangents, from one output."""

from collections.abc import Callable, Iterator
from typing import Any

from xpgrad import array_api
from xpgrad.backend.spec import Spec
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch.level import BatchLevel
from xpgrad.transforms.call import Evaluation
from xpgrad.transforms.jacobians.batches import basis, chunk_of, empty_block, joined, members, outside, starts
from xpgrad.transforms.jacobians.by_element import turned
from xpgrad.transforms.leaves import or_zeros


class JacobianRows:
    """One evaluation of a function, whose Jacobian is computed by batches of rows.

    Parameters
    ----------
    name : str
    chunk_size : int or None
        Number of rows in a sweep; None chooses it by the memory.
    make : callable
        Returns the `Evaluation`, at the level of the batch: all arrays are shared by all batch elements.

    Attributes
    ----------
    call : Evaluation
    """

    def __init__(self, name: str, chunk_size: int | None, make: Callable[[], Evaluation]) -> None:
        self.level, self.chunk_size = BatchLevel(name, 1, "same"), chunk_size
        self.call: Evaluation = self.level.run(make)

    def aux(self) -> Any:
        """Return the auxiliary output converted to outer Variables."""
        return outside(self.level, self.call.aux)

    def blocks(self) -> list[list[Variable]]:
        """Return one block for each output and root, and store values that the function assigned to outer Variables."""
        outputs = self.call.outputs
        most = max((y.size for y in outputs), default=1)
        self.level.size = chunk_of(self.chunk_size, most, specs_of(self.call))
        found = [self._of_output(i, y) for i, y in enumerate(outputs)]
        self.level.store()
        if not self.level.entries:
            self.level.forget()
        return found

    def _of_output(self, index: int, y: Variable) -> list[Variable]:
        roots, spec = self.call.roots, y._node.spec
        if not spec.size or not spec.differentiable:
            return [empty_block(spec, x._node.spec) for x in roots]
        parts: list[list[Variable]] = [[] for _ in roots]
        size = self.level.size
        for start, first in starts(spec.size, size):
            found = self.level.run(self._swept, index, y, first)
            rows = members(self.level, found, slice(start - first, min(size, spec.size - first)))
            for part, row in zip(parts, rows, strict=True):
                part.append(row)
        return [
            array_api.reshape(joined(part), (*y.shape, *x.shape)) for part, x in zip(parts, roots, strict=True)
        ]  # fmt: skip

    def _swept(self, index: int, y: Variable, start: int) -> list[Variable]:
        """Return the gradients of the roots for a batch of rows."""
        call, recorded = self.call, self.call.mode.recorded
        seed = constant_variable(basis(self.level, y._node.spec, start, self.level.size))
        seeds: list[Variable | None] = [seed if i == index else None for i in range(len(call.outputs))]
        found = or_zeros(call.gradients(seeds, recorded=recorded), call.roots)
        if not y._node.spec.complex:
            return found
        seeds[index] = turned(seed)
        other = or_zeros(call.gradients(seeds, recorded=recorded), call.roots)
        return [
            array_api.conj(g) if x._node.spec.complex else g + 1j * h
            for x, g, h in zip(call.roots, found, other, strict=True)
        ]


def specs_of(call: Evaluation) -> Iterator[Spec]:
    """Yield the specs of the outputs, the roots, and the values between them, which get cotangents."""
    seen: set[FunctionBase] = set()
    waiting = [x._node for x in [*call.outputs, *call.roots]]
    while waiting:
        node = waiting.pop()
        yield node.spec
        f = node.live_creator()
        if f is not None and f not in seen:
            seen.add(f)
            waiting.extend(each for each in f.input_nodes or () if each is not None and each.requires_grad)
