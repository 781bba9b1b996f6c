"""`BlockedGroup`: a fused group that runs block by block, by functions of the library, shared among threads."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.calls import Value
from xpgrad.transforms.trace.executors.host.block import Block, straight
from xpgrad.transforms.trace.executors.host.cuts import Cuts
from xpgrad.transforms.trace.executors.host.parts import steps_of
from xpgrad.transforms.trace.executors.host.stages import COMBINING, Stages, stages_of
from xpgrad.transforms.trace.executors.host.totals import Total
from xpgrad.transforms.trace.executors.threads import run_all, threads
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.types import Array

Run = Callable[..., Sequence[Any]]

CACHED_BYTES = 2**20
"""Bytes of all arrays of a block, which stay in the cache of a core."""
PART = 2**15
"""Elements of a part of which a reduction has a result of its own, so that it does not depend on the size of blocks."""
SHORTEST, LONGEST = 2**15, 2**18
"""Elements of a block: with fewer the calls themselves take too long, with more other threads wait for the last one."""


def host_factory(fused: Fused, function: Run) -> Run:
    """Return a function that computes a group block by block, where it can; `function` computes it on whole arrays."""
    return blocks_of(fused, function) or function


def blocks_of(fused: Fused, function: Run, *, first: bool = False) -> "BlockedGroup | None":
    """Return the group as blocks, None if its calls cannot be done so.

    Parameters
    ----------
    fused : Fused
    function : callable
        Computes it on whole arrays.
    first : bool, optional
        Whether arrays are cut along their first axes in any case.
    """
    if "array" in fused.levels.values() or any(call.draws or call.writes for call in fused.calls):
        return None
    if fused.rows == 1 and any(item.level == "row" for item in fused.statements):
        return None
    calls, constants = steps_of(fused)
    cuts = Cuts(fused, calls, constants, first)
    if not cuts.fits:
        return None if first else blocks_of(fused, function, first=True)
    stages = stages_of([*fused.inputs, *constants], calls, cuts)
    if stages is None:
        return None
    made = {value for call in stages.body for value in call.results}
    if not (stages.ends or any(value in made for value in fused.outputs)):
        return None
    return BlockedGroup(fused, function, cuts, stages, constants)


class BlockedGroup:
    """A group of calls, run block by block.

    Parameters
    ----------
    fused : Fused
    whole : callable
        Computes the group on whole arrays, if that must be.
    cuts : Cuts
    stages : Stages
    constants : dict from Value to array
        Arrays that the calls take beside the inputs.
    """

    def __init__(self, fused: Fused, whole: Run, cuts: Cuts, stages: Stages, constants: dict[Value, Array]) -> None:
        self._constants = constants
        self.fused, self._whole, self._cuts = fused, whole, cuts
        self._fits: bool | None = None  # not known before the first run
        self._backend = fused.outputs[0].spec.backend
        self._block = block = Block(stages.body, stages.ends, fused.outputs, cuts)
        self._combining = [getattr(self._backend.namespace, COMBINING[call.name]) for call in stages.ends]
        given = [value for value in (*fused.inputs, *constants) if not cuts.is_cut(value)]
        early = [value for call in stages.before for value in call.results]
        wholes = [value for value in fused.outputs if value not in block.results]
        needed = {*wholes, *block.inputs, *(value for call in stages.after for value in call.operands())}
        self._given, self._wholes = given, wholes
        self._early = [value for value in early if value in needed]
        self._before = straight("before", given, self._early, stages.before) if self._early else None
        self._known = [value for value in (*given, *self._early, *block.totals) if value in needed]
        self._after = straight("after", self._known, wholes, stages.after, copied=True) if wholes else None
        self._part = max(1, PART // cuts.width)
        self._step = self._units()

    def _units(self) -> int:
        """Return the length of a block."""
        block, width = self._block, self._cuts.width
        elements = CACHED_BYTES // max(1, block.itemsize * block.count)
        units = max(1, min(max(elements, SHORTEST), LONGEST) // width)
        return -(-units // self._part) * self._part if block.totals else units

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return new arrays, the outputs of the group."""
        if self._fits is False:
            return self._whole(*arrays)
        cuts, block = self._cuts, self._block
        values: dict[Value, Any] = dict(zip(self.fused.inputs, arrays, strict=True))
        values.update(self._constants)
        if self._before is not None:
            values.update(zip(self._early, self._before(*(values[value] for value in self._given)), strict=True))
        address = programs_of(self._backend).address
        if not all(values[value].ndim < 2 or address(values[value]) for value in block.inputs):
            return self._whole(*arrays)  # which chooses the layout of results by that of arrays, as later views need
        views = [cuts.view(values[value], value) for value in block.inputs]
        if self._fits is None:
            self._fits = block.fits(views)
            if not self._fits:
                return self._whole(*arrays)
        empty = self._backend.namespace.empty
        for value in block.results:
            values[value] = empty(value.spec.shape, dtype=value.spec.dtype, device=value.spec.device)
        outputs = [cuts.view(values[value], value) for value in block.results]
        totals = [Total(-(-cuts.length // self._part), combine) for combine in self._combining]
        self._run(views, outputs, totals)
        for value, total in zip(block.totals, totals, strict=True):
            values[value] = cuts.restored(total.result, value)
        if self._after is not None:
            found = self._after(*(values[value] for value in self._known))
            values.update(zip(self._wholes, found, strict=True))
        return [values[value] for value in self.fused.outputs]

    def _run(self, views: Sequence[Array], outputs: Sequence[Array], totals: Sequence[Total]) -> None:
        block, length, part = self._block, self._cuts.length, self._part
        step = min(self._step, -(-length // threads()))
        step = max(2, -(-step // part) * part if totals else step)  # loops may treat a single row otherwise
        is_cut = [self._cuts.is_cut(value) for value in block.inputs]
        unused: list[list[Array]] = []  # scratch of threads that are between two blocks

        count = max(1, -(-(length - 1) // step))  # the last block takes a row that is left
        for each in {min(step, length), length - (count - 1) * step}:  # here: Python 3.11 cannot parse in two threads
            block.prepare(each)

        def compute(first: int, last: int) -> None:
            cut = slice(first * step, length if last == count else last * step)
            scratch = unused.pop() if unused else block.scratch(min(step + 1, length))
            inputs = [view[cut] if each else view for view, each in zip(views, is_cut, strict=True)]
            with programs_of(self._backend).on_rows(self._cuts.width):
                operands = block.run(cut.stop - cut.start, inputs, scratch, [output[cut] for output in outputs])
                if totals:
                    self._add(totals, cut.start, cut.stop - cut.start, operands)
            unused.append(scratch)

        run_all(compute, count, 1)

    def _add(self, totals: Sequence[Total], first: int, length: int, operands: Sequence[Array]) -> None:
        """Add the reductions of each part of a block to the totals."""
        for start in range(0, length, self._part):
            found = self._block.reduced(operands, start, min(start + self._part, length))
            for total, item in zip(totals, found, strict=True):
                total.add((first + start) // self._part, item)
