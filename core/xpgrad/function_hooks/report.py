"""What hooks that measure share: starts and ends of computations, and tables of text."""

import sys
from collections.abc import Sequence
from typing import Any, TextIO

from xpgrad.graph.function_node import FunctionNode
from xpgrad.watch.function_hook import FunctionHook

BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}


def print_rows(rows: Sequence[Sequence[str]], file: TextIO | None) -> None:
    """Print rows of text, their columns aligned to the right; on the standard output if `file` is None."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        print(line, file=file or sys.stdout)


def check_unit(title: str, unit: str) -> None:
    """Raise ValueError unless `unit` is in `BYTES`, or requests an automatic choice."""
    if unit not in BYTES and unit not in ("auto", "auto_foreach"):
        known = ", ".join(("auto", "auto_foreach", *BYTES))
        raise ValueError(f"{title}: unit must be {known}; got {unit!r}")


def bytes_text(counts: Sequence[int], unit: str) -> list[str]:
    """Return numbers of bytes as text: in `unit`, or, for "auto_foreach", each in the unit that suits it."""
    units = [suitable([count]) if unit == "auto_foreach" else unit for count in counts]
    return [f"{count / BYTES[own]:.2f}{own}" for count, own in zip(counts, units, strict=True)]


def suitable(counts: Sequence[int]) -> str:
    """Return the unit for the largest of some numbers of bytes."""
    largest = max(map(abs, counts), default=0)
    return next((unit for unit, size in reversed(BYTES.items()) if largest >= size), "B")


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
