"""A picture as SVG, without Graphviz: every box has its own colours, to be readable on light and dark pages."""

import html
import math
import unicodedata
from collections.abc import Sequence

from xpgrad.drawing.boxes import FILLS, INK, LINE, Arrow, Box, Boxes
from xpgrad.drawing.layered import Point, layered

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


FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIZE, LINE_HEIGHT, CHARACTER = 12, 16.0, 7.3  # a character of such fonts is 0.6 of its height
MARGIN = 8.0
MAX_CHARACTERS = 60
ROUND = {"variable", "parameter", "input", "output"}


def svg_text(picture: Boxes) -> str:
    """Return the SVG of a picture, in layers or nested; its notes are at the bottom."""
    sizes = [size_of(box) for box in picture.boxes]
    paths: list[list[Point]] = []
    width = height = 0.0
    if any(box.within is not None for box in picture.boxes):
        rectangles = nested(picture.boxes, sizes)
    else:
        layout = layered(sizes, picture.arrows, picture.rankdir)
        rectangles = [
            (x - width / 2, y - height / 2, width, height)
            for (x, y), (width, height) in zip(layout.places, sizes, strict=True)
        ]
        paths, width, height = layout.paths, layout.width, layout.height
    width = max([width, *(x + w for x, _, w, _ in rectangles)])
    height = max([height, *(y + h for _, y, _, h in rectangles)])
    notes = [shortened(note, 120) for note in picture.notes]
    width = max([width, *(wide(note) * CHARACTER for note in notes)]) + 2 * MARGIN
    parts = [arrow_svg(arrow, path, picture.rankdir) for arrow, path in zip(picture.arrows, paths, strict=bool(paths))]
    parts += [box_svg(box, place) for box, place in zip(picture.boxes, rectangles, strict=True)]
    for i, note in enumerate(notes):
        parts.append(f'<text x="0" y="{height + LINE_HEIGHT * (i + 1):.1f}" fill="{LINE}">{html.escape(note)}</text>')
    height += len(notes) * LINE_HEIGHT + (4 if notes else 0) + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{html.escape(shortened(picture.name))}" font-family="{FONT}" font-size="{SIZE}">\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def wide(text: str) -> int:
    """Return the number of columns of a text: some characters take two, and some none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a text without control characters, cut to some number of columns."""
    text = "".join(c if c.isprintable() else " " for c in text[: 2 * most])
    if wide(text) <= most:
        return text
    while wide(text) >= most:
        text = text[:-1]
    return f"{text}…"


def size_of(box: Box) -> Point:
    """Return width and height of the text of a box, with its margins."""
    width = max((wide(shortened(line)) for line in box.lines), default=0) * CHARACTER + 16
    return math.ceil(max(width, 24.0)), LINE_HEIGHT * max(1, len(box.lines)) + 8


def box_svg(box: Box, place: tuple[float, float, float, float]) -> str:
    """Return a box and its text."""
    x, y, width, height = place
    own = size_of(box)
    radius = min(12.0, own[1] / 2) if box.kind in ROUND else 3.0
    fill = html.escape(box.fill or FILLS[box.kind])
    full = html.escape("\n".join(shortened(line, 1000) for line in box.lines))
    holds = height > own[1] + 1 or width > own[0] + 1
    anchor, at = ("start", x + 8) if holds or box.kind == "link" else ("middle", x + width / 2)
    parts = [f'<g><title>{full}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" ']
    parts.append(f'rx="{radius:.1f}" fill="{fill}" stroke="{LINE}"')
    parts.append(' stroke-width="2"/>' if box.kind == "repeated" else "/>")
    for i, line in enumerate(box.lines):
        bold = ' font-weight="bold"' if i == 0 and box.kind in ("function", "link", "repeated") else ""
        parts.append(
            f'<text x="{at:.1f}" y="{y + 4 + LINE_HEIGHT * (i + 0.75):.1f}" text-anchor="{anchor}" fill="{INK}"{bold}>'
            f"{html.escape(shortened(line))}</text>"
        )
    return "".join([*parts, "</g>"])


def arrow_svg(arrow: Arrow, path: Sequence[Point], rankdir: str) -> str:
    """Return a line through the points of a path, curved between its straight parts, and its head."""
    flat = rankdir in ("LR", "RL")
    (x, y), *rest = path
    texts = [f"M{x:.1f},{y:.1f}"]
    for k, (u, v) in enumerate(rest):
        if k % 2:
            texts.append(f"L{u:.1f},{v:.1f}")
        elif flat:
            texts.append(f"C{(x + u) / 2:.1f},{y:.1f} {(x + u) / 2:.1f},{v:.1f} {u:.1f},{v:.1f}")
        else:
            texts.append(f"C{x:.1f},{(y + v) / 2:.1f} {u:.1f},{(y + v) / 2:.1f} {u:.1f},{v:.1f}")
        x, y = u, v
    dash = ' stroke-dasharray="4 3"' if arrow.dashed else ""
    sign = -1 if rankdir in ("BT", "RL") else 1
    back, half = 7 * sign, 3.5
    head = (
        f"{x:.1f},{y:.1f} {x - back:.1f},{y - half:.1f} {x - back:.1f},{y + half:.1f}"
        if flat
        else f"{x:.1f},{y:.1f} {x - half:.1f},{y - back:.1f} {x + half:.1f},{y - back:.1f}"
    )
    return f'<path d="{" ".join(texts)}" fill="none" stroke="{LINE}"{dash}/><polygon points="{head}" fill="{LINE}"/>'
