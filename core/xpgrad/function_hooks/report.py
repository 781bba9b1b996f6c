"""Tables of text, for the reports of hooks."""

import sys
from collections.abc import Sequence
from typing import TextIO

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
