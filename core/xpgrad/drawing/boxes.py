"""`Boxes`: the contents of a drawing, boxes with text and arrows between them, and their colours."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A node of a picture.

    Attributes
    ----------
    lines : tuple of str
        The text of the box.
    kind : str
        "variable", "parameter", "function", "input", "output", "repeated", "more" or "link"; it has a colour.
    within : int or None
        The index of the enclosing box.
    fill : str or None
        Another colour.
    """

    lines: tuple[str, ...]
    kind: str = "variable"
    within: int | None = None
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from the box with index `tail` to the box with index `head`, which may be `dashed`."""

    tail: int
    head: int
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes and arrows, the input of the drawing functions.

    Attributes
    ----------
    boxes : tuple of Box
    arrows : tuple of Arrow
    name : str
    rankdir : str
        Where arrows point: "TB" to the bottom, "BT", "LR" or "RL".
    notes : tuple of str
        Remarks for the reader, such as how many boxes were collapsed.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    name: str = "graph"
    rankdir: str = "TB"
    notes: tuple[str, ...] = ()


def neighbours(count: int, arrows: Sequence[Arrow]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the predecessors and the successors of each of `count` boxes."""
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for arrow in arrows:
        before[arrow.head].append(arrow.tail)
        after[arrow.tail].append(arrow.head)
    return before, after


INK = "#1b1f24"
LINE = "#7d8590"

FILLS = {
    "variable": "#e4e7eb",
    "parameter": "#ffe2ad",
    "function": "#b6d0ff",
    "input": "#cdeccf",
    "output": "#ffd0cc",
    "repeated": "#e6d3fa",
    "more": "#f4f5f7",
    "link": "#eef2fa",
}
