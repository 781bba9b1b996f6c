"""`Boxes`: what a picture shows: boxes with text, and arrows between them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A node of a picture.

    Attributes
    ----------
    lines : tuple of str
        What is written in it.
    kind : str
        "variable", "parameter", "function", "input", "output", "repeated", "more" or "link"; it has a colour.
    within : int or None
        The index of the box that holds this one.
    fill : str or None
        Another colour.
    """

    lines: tuple[str, ...]
    kind: str = "variable"
    within: int | None = None
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another, by their indices."""

    tail: int
    head: int
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes and arrows, as what draws them sees them.

    Attributes
    ----------
    boxes : tuple of Box
    arrows : tuple of Arrow
    name : str
    rankdir : str
        Where arrows point: "TB" to the bottom, "BT", "LR" or "RL".
    notes : tuple of str
        What a reader must know, as how much has been collapsed.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()
    name: str = "graph"
    rankdir: str = "TB"
    notes: tuple[str, ...] = ()


def neighbours(count: int, arrows: Sequence[Arrow]) -> tuple[list[list[int]], list[list[int]]]:
    """Return for each of `count` boxes those that point to it, and those that it points to."""
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for arrow in arrows:
        before[arrow.head].append(arrow.tail)
        after[arrow.tail].append(arrow.head)
    return before, after
