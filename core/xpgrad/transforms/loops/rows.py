"""`Rows`: arrays of which each step of a loop takes one row, and rows collected at each step."""

from collections.abc import Iterator, Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.backend.plugins import plugins
from xpgrad.graph.outputs import output
from xpgrad.graph.variable import Variable
from xpgrad.transforms.leaves import root
from xpgrad.types import Array

Slices = Iterator[Sequence[Variable]]
MAX_ROWS = 256
"""How many rows are collected before they are joined."""


class Rows:
    """Arrays whose first axis has one row for each step.

    Parameters
    ----------
    variables : sequence of Variable
    reverse : bool
        The last row belongs to the first step.
    length : int
        Number of steps.
    """

    def __init__(self, variables: Sequence[Variable], reverse: bool, length: int) -> None:
        self.reverse, self.length = reverse, length
        self.specs = []
        for x in variables:
            spec = x._node.spec
            self.specs.append(spec.backend.spec_for(spec.shape[1:], spec.dtype, spec.device))

    def place(self, step: int) -> int:
        """Return the row of a step."""
        return self.length - 1 - step if self.reverse else step

    def constants(self, arrays: Sequence[Array], start: int, end: int) -> Slices:
        """Yield the rows of steps from `start` to `end`, as constant Variables."""
        numbers = range(self.place(start), self.place(end), -1 if self.reverse else 1)
        if len(arrays) == 1:
            (array,), (spec,) = arrays, self.specs
            restore = spec.backend.restore
            return ((output(restore(array[i, ...]), spec, None, 0),) for i in numbers)
        pairs = list(zip(arrays, self.specs, strict=True))
        return ([output(s.backend.restore(a[i, ...]), s, None, 0) for a, s in pairs] for i in numbers)

    def roots(self, arrays: Sequence[Array], wanted: Sequence[bool], start: int, end: int) -> list[Sequence[Variable]]:
        """Return the rows of steps from `start` to `end`, with rows of `wanted` arrays as roots of a graph."""
        found = self.constants(arrays, start, end)
        if not any(wanted):
            return list(found)
        return [
            [root(x._array) if wants else x for x, wants in zip(row, wanted, strict=True)] for row in found
        ]  # fmt: skip

    def connected(self, variables: Sequence[Variable], start: int, end: int) -> Slices:
        """Yield the rows of steps from `start` to `end`, connected to the Variables."""
        return ([x[self.place(step), ...] for x in variables] for step in range(start, end))


class Collected:
    """Rows of arrays that are collected, and joined to one array for each place in the row.

    Parameters
    ----------
    reverse : bool
    """

    def __init__(self, reverse: bool) -> None:
        self.reverse = reverse
        self.rows: list[Sequence[Any]] = []
        self._parts: list[list[Array]] = []

    def add(self, row: Sequence[Array]) -> None:
        """Add the row of the next step."""
        self.rows.append(row)
        if len(self.rows) >= MAX_ROWS:
            self.pack()

    def pack(self) -> None:
        """Join the rows so far, which takes less memory than to keep each."""
        if self.rows and self.rows[0]:
            self._parts.append([stacked(column, self.reverse) for column in zip(*self.rows, strict=True)])
        self.rows.clear()

    def arrays(self) -> list[Array]:
        """Return one array for each place in a row."""
        self.pack()
        return [joined(parts, self.reverse) for parts in zip(*self._parts, strict=True)]


class Stack(Collected):
    """Rows of Variables, which are joined as raw arrays or connected to the result."""

    def pack(self) -> None:
        """Join the rows so far as raw arrays."""
        self.rows[:] = [[x._array for x in row] for row in self.rows]
        super().pack()

    def variables(self) -> list[Variable]:
        """Return one Variable for each place in a row, connected to the rows."""
        rows = self.rows[::-1] if self.reverse else self.rows
        return [array_api.stack(list(column)) for column in zip(*rows, strict=True)]


def stacked(rows: Sequence[Array], reverse: bool) -> Array:
    """Stack arrays as the rows of one array."""
    return _called("stack", list(rows[::-1] if reverse else rows))


def joined(parts: Sequence[Array], reverse: bool) -> Array:
    """Return arrays joined along their first axis."""
    if len(parts) == 1:
        return parts[0]
    return _called("concat", list(parts[::-1] if reverse else parts))


def _called(name: str, arrays: list[Array]) -> Array:
    backend = plugins.backend_of(arrays[0])
    return backend.restore(getattr(backend.xp, name)(arrays, axis=0))
