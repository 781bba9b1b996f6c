"""`nested`: places for boxes within boxes."""

from collections.abc import Sequence

from xpgrad.drawing.boxes import Box

PADDING, GAP = 10.0, 8.0
MAX_WIDTH = 760.0

Rectangle = tuple[float, float, float, float]


def nested(boxes: Sequence[Box], sizes: Sequence[tuple[float, float]]) -> list[Rectangle]:
    """Return left, top, width and height of each box; nested boxes are below the text.

    Parameters
    ----------
    boxes : sequence of Box
    sizes : sequence of (float, float)
        Width and height of the text of each.
    """
    inside: dict[int | None, list[int]] = {}
    for i, box in enumerate(boxes):
        inside.setdefault(box.within, []).append(i)
    found: list[Rectangle] = [(0.0, 0.0, *size) for size in sizes]
    for i in reversed([None, *range(len(boxes))]):  # an enclosing box precedes its contents
        held = inside.get(i, [])
        if not held:
            continue
        left, top, title = (0.0, 0.0, 0.0) if i is None else (PADDING, sizes[i][1], sizes[i][0])
        width, height = _flow(held, inside, found, left, top)
        if i is not None:
            found[i] = 0.0, 0.0, max(title, width + PADDING), height + PADDING
    for i, box in enumerate(boxes):
        if box.within is not None:
            x, y, *_ = found[box.within]
            found[i] = found[i][0] + x, found[i][1] + y, *found[i][2:]
    return found


def _flow(
    held: list[int], inside: dict[int | None, list[int]], found: list[Rectangle], left: float, top: float
) -> tuple[float, float]:
    """Arrange boxes side by side in lines, enclosing boxes one below another; return the right and lower end."""
    x, y, line, right = left, top, 0.0, left
    for i in held:
        width, height = found[i][2:]
        alone = i in inside
        if x > left and (alone or x + width > MAX_WIDTH):
            x, y, line = left, y + line + GAP, 0.0
        found[i] = x, y, width, height
        right, line = max(right, x + width), max(line, height)
        x += width + GAP
        if alone:
            x, y, line = left, y + line + GAP, 0.0
    return right, y + line if line else y - GAP
