"""`collapsed`: a large picture with few boxes, in which repeated parts are drawn once."""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from xpgrad.drawing.boxes import Arrow, Box, Boxes, neighbours

P = TypeVar("P", bound=Boxes)
MAX_LINES = 12
DEPTHS = 2, 1, 0
NEAR = 2  # the first and the last step of a loop often differ
MAX_REPEATED, PARTS = 60, 40
"""Of more texts a circle is no repetition; then the picture is cut into so many parts."""


def collapsed(picture: P, most: int) -> P:
    """Return a picture of at most `most` boxes.

    Boxes with equal text and equal neighbourhoods become one box. If such boxes form a cycle, as the steps of a
    loop do, the cycle also becomes one box, so that the picture is acyclic. Neighbourhoods count as far as `most`
    allows; then numbers in texts are ignored, then texts. If little repeats, each box is a part of the whole instead.
    """
    before, after = neighbours(len(picture.boxes), picture.arrows)
    boxes = picture.boxes
    for labels in (
        [(box.kind, box.lines) for box in boxes],
        [(box.kind, re.sub(r"\d+", "#", " ".join(box.lines))) for box in boxes],
        [box.kind for box in boxes],
    ):
        for depth in DEPTHS:
            classes = refined(labels, before, after, depth)
            groups = merged(classes, picture.arrows)
            if max(groups) < most:
                return drawn(picture, classes, groups) if repeats(groups) else divided(picture, before, after)
    return divided(picture, before, after)


def repeats(groups: list[int]) -> bool:
    """Return whether each group is of few classes."""
    return max(Counter(groups).values()) <= MAX_REPEATED


def divided(picture: P, before: list[list[int]], after: list[list[int]]) -> P:
    """Return a picture of parts, one after the other."""
    waiting = [len(tails) for tails in before]
    ready = [i for i, tails in enumerate(waiting) if not tails]
    for i in ready:
        for head in after[i]:
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    size = -(-len(ready) // PARTS)
    part = {i: k // size for k, i in enumerate(ready)}
    members: list[list[int]] = [[] for _ in range(max(part.values()) + 1)]
    for i in ready:
        members[part[i]].append(i)
    boxes = []
    for k, own in enumerate(members):
        common = Counter(picture.boxes[i].lines[0] for i in own).most_common(MAX_LINES // 2)
        lines = [f"{text} × {count:,}" if count > 1 else text for text, count in common]
        boxes.append(Box((f"part {k + 1} of {len(members)}: {len(own):,} nodes", *lines, "…"), "repeated"))
    pairs = dict.fromkeys((part[a.tail], part[a.head]) for a in picture.arrows)
    return changed(picture, boxes, [Arrow(tail, head) for tail, head in pairs if tail != head], "each box is a part")


def refined(
    labels: Sequence[Hashable], before: list[list[int]], after: list[list[int]], depth: int
) -> list[int]:  # fmt: skip
    """Return a number for each box, equal for boxes with equal neighbourhoods up to `depth` steps."""
    classes = numbered(labels)
    for _ in range(depth):
        around = (
            (own, frozenset(map(classes.__getitem__, b)), frozenset(map(classes.__getitem__, a)))
            for own, b, a in zip(classes, before, after, strict=True)
        )
        classes = numbered(around)
    return classes


def numbered(keys: Sequence[Hashable] | Iterator[Hashable]) -> list[int]:
    """Return the keys as numbers, in the order of their first occurrence."""
    known: dict[Hashable, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def merged(classes: list[int], arrows: Sequence[Arrow]) -> list[int]:
    """Return the number of the group of each class: classes on a common circle are in one group."""
    count = max(classes) + 1
    after: list[dict[int, None]] = [{} for _ in range(count)]
    for arrow in arrows:
        after[classes[arrow.tail]][classes[arrow.head]] = None
    group, stack, numbers, low, found = [-1] * count, [], [0] * count, [0] * count, 0
    counter = 0
    for start in range(count):  # Tarjan's strongly connected components, without recursion
        if numbers[start]:
            continue
        waiting = [(start, iter(after[start]))]
        counter += 1
        numbers[start] = low[start] = counter
        stack.append(start)
        while waiting:
            v, following = waiting[-1]
            for w in following:
                if not numbers[w]:
                    counter += 1
                    numbers[w] = low[w] = counter
                    stack.append(w)
                    waiting.append((w, iter(after[w])))
                    break
                if group[w] < 0:
                    low[v] = min(low[v], numbers[w])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[v])
                if low[v] == numbers[v]:
                    while True:
                        w = stack.pop()
                        group[w] = found
                        if w == v:
                            break
                    found += 1
    return group


def drawn(picture: P, classes: list[int], groups: list[int]) -> P:
    """Return the picture of the groups."""
    counts = Counter(classes)
    example: dict[int, Box] = {}
    members: dict[int, list[int]] = {}
    for own, box in zip(classes, picture.boxes, strict=True):
        if own not in example:
            example[own] = box
            members.setdefault(groups[own], []).append(own)
    place = {group: i for i, group in enumerate(members)}
    circles = {groups[classes[a.tail]] for a in picture.arrows if groups[classes[a.tail]] == groups[classes[a.head]]}
    boxes = tuple(box_of(own, example, counts, group in circles) for group, own in members.items())
    links: dict[tuple[int, int], Arrow] = {}
    for arrow in picture.arrows:
        tail, head = place[groups[classes[arrow.tail]]], place[groups[classes[arrow.head]]]
        if tail != head:
            links.setdefault((tail, head), Arrow(tail, head, arrow.dashed))
    return changed(picture, boxes, list(links.values()), "what repeats is drawn once, with how often")


def changed(picture: P, boxes: Sequence[Box], arrows: Sequence[Arrow], how: str) -> P:
    """Return a picture with other boxes and arrows, and a note about that."""
    note = f"{len(picture.boxes):,} nodes, drawn as {len(boxes):,} box{'es' * (len(boxes) != 1)}: {how}"
    return replace(picture, boxes=tuple(boxes), arrows=tuple(arrows), notes=(*picture.notes, note))


def box_of(members: list[int], example: dict[int, Box], counts: Counter[int], circle: bool) -> Box:
    """Return the box of a group."""
    if len(members) == 1 and not circle:
        box, count = example[members[0]], counts[members[0]]
        return box if count == 1 else Box((*box.lines, f"× {count:,}"), box.kind)
    texts: dict[str, int] = {}
    for own in members:
        text = " ".join(example[own].lines)
        texts[text] = texts.get(text, 0) + counts[own]
    usual = Counter(texts.values()).most_common(1)[0][0]
    lines = [text if abs(count - usual) <= NEAR else f"{text}  × {count:,}" for text, count in texts.items()]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"and {len(lines) - MAX_LINES + 1} more"]
    return Box((f"repeated × {usual:,}", *lines), "repeated")
