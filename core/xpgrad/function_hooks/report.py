"""What hooks that measure share: starts and ends of computations, and tables of text."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from xpgrad.graph.function_node import FunctionNode
from xpgrad.watch.function_hook import FunctionHook

BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}
SECONDS = {"sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Units = Mapping[str, float]
Row = tuple[str, Sequence[float], int]
"""A function, its numbers, and how often it was called."""


def print_report(
    title: str, head: Sequence[str], rows: Iterable[Row], units: Units, unit: str, file: TextIO | None
) -> None:
    """Print a table with columns aligned to the right; on the standard output if `file` is None.

    Raises
    ------
    ValueError
        `unit` is not in `units`, and does not request an automatic choice.
    """
    if unit not in units and unit not in ("auto", "auto_foreach"):
        known = ", ".join(("auto", "auto_foreach", *units))
        raise ValueError(f"{title}.print_report: unit must be {known}; got {unit!r}")
    rows, each = list(rows), unit == "auto_foreach"
    if unit == "auto":
        unit = suitable(max((abs(number) for _, numbers, _ in rows for number in numbers), default=0), units)
    lines = [("FunctionName", *head, "Occurrence")]
    for name, numbers, count in rows:
        texts = (in_unit(number, suitable(number, units) if each else unit, units) for number in numbers)
        lines.append((name, *texts, str(count)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(map(str.rjust, line, widths)), file=file or sys.stdout)


def in_unit(number: float, unit: str, units: Units, space: str = "") -> str:
    """Return a number as text in a unit."""
    return f"{number / units[unit]:.2f}{space}{unit}"


def suitable(number: float, units: Units) -> str:
    """Return the largest unit that is not larger than a number, or else the smallest; the first unit for 0."""
    if not number:
        return next(iter(units))
    fitting = [unit for unit in units if units[unit] <= abs(number)]
    return max(fitting, key=units.__getitem__) if fitting else min(units, key=units.__getitem__)


Arrays = tuple[Any, ...]


def ended(running: list[tuple[int, Any]], computed: Any) -> Any:
    """Return what was noted at the start of a computation, or None; those within it that still run have raised.

    Notes are kept with ids: references would keep a graph alive.
    """
    while running:
        started_by, note = running.pop()
        if started_by == id(computed):
            return note
    return None


class Around(FunctionHook):
    """Base of hooks that do the same around each computation, forward and backward."""

    def _start(self, function: FunctionNode, which: str, arrays: Arrays) -> None:
        raise NotImplementedError

    def _stop(self, function: FunctionNode, arrays: Arrays) -> None:
        raise NotImplementedError

    def forward_preprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Start."""
        self._start(function, "forward", in_data)

    def forward_postprocess(self, function: FunctionNode, in_data: Arrays) -> None:
        """Stop."""
        self._stop(function, in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
        """Start."""
        self._start(function, "backward", in_data + out_grad)

    def backward_postprocess(self, function: FunctionNode, in_data: Arrays, out_grad: Arrays) -> None:
        """Stop."""
        self._stop(function, in_data + out_grad)
