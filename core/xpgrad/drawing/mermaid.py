"""A picture as a flowchart of Mermaid."""

import re

from xpgrad.drawing.boxes import FILLS, INK, LINE, Boxes

SHAPES = {"variable": ("([", "])"), "parameter": ("([", "])"), "input": ("([", "])"), "output": ("([", "])")}


def mermaid_text(picture: Boxes) -> str:
    """Return the text of a picture, for a block ``mermaid`` in Markdown."""
    lines = [f"flowchart {picture.rankdir}"]
    inside: dict[int | None, list[int]] = {}
    for i, box in enumerate(picture.boxes):
        inside.setdefault(box.within, []).append(i)

    def write(i: int, depth: int) -> None:
        box, indent = picture.boxes[i], "  " * depth
        if i not in inside:
            left, right = SHAPES.get(box.kind, ("[", "]"))
            lines.append(f"{indent}n{i}{left}{label(box.lines)}{right}:::{box.kind}Box")
            return
        lines.append(f"{indent}subgraph n{i} [{label(box.lines)}]")
        for each in inside[i]:
            write(each, depth + 1)
        lines.extend((f"{indent}end", f"{indent}class n{i} {box.kind}Box"))

    for i in inside.get(None, ()):
        write(i, 1)
    lines += [f"  n{a.tail} {'-.->' if a.dashed else '-->'} n{a.head}" for a in picture.arrows]
    kinds = dict.fromkeys(box.kind for box in picture.boxes)
    lines += [f"  classDef {kind}Box fill:{FILLS[kind]},stroke:{LINE},color:{INK}" for kind in kinds]
    lines += [f"  %% {note}" for note in picture.notes]
    return "\n".join(lines) + "\n"


def label(lines: tuple[str, ...]) -> str:
    """Return the text of a box, with special characters of Mermaid and HTML escaped."""
    safe = (re.sub(r'[#&<>"`\\]', lambda found: f"#{ord(found[0])};", line) for line in lines)
    return f'"{"<br>".join(safe)}"'
