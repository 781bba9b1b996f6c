"""DOT text, and its rendering by Graphviz."""

import importlib.util
import re
import shutil
import subprocess
from typing import Any

from xpgrad.drawing.boxes import FILLS, INK, LINE, Box, Boxes

SHAPES = {"variable": "octagon", "parameter": "octagon", "input": "ellipse", "output": "ellipse"}


class DotSource:
    """DOT text, for ``dot -Tsvg``; it replaces `graphviz.Source` if that package is not installed.

    Attributes
    ----------
    source : str
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def __str__(self) -> str:
        return self.source


def quoted(text: str) -> str:
    """Return text as a string of the DOT language."""
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def dot_text(picture: Boxes) -> str:
    """Return the DOT text of a picture."""
    lines = [
        f"digraph {quoted(picture.name)} {{",
        f'  rankdir={picture.rankdir}; bgcolor=transparent; fontname=monospace; fontsize=12; fontcolor="{LINE}";',
        f'  node [fontname=monospace, fontsize=12, style="filled,rounded", color="{LINE}", fontcolor="{INK}"];',
        f'  edge [color="{LINE}"];',
    ]
    inside: dict[int | None, list[int]] = {}
    for i, box in enumerate(picture.boxes):
        inside.setdefault(box.within, []).append(i)

    def write(i: int, depth: int) -> None:
        box, indent = picture.boxes[i], "  " * depth
        if i not in inside:
            lines.append(f"{indent}n{i} [{attributes(box)}];")
            return
        label = quoted("\n".join(box.lines))
        lines.append(f'{indent}subgraph cluster_{i} {{ label={label}; color="{LINE}";')
        for each in inside[i]:
            write(each, depth + 1)
        lines.append(f"{indent}}}")

    for i in inside.get(None, ()):
        write(i, 1)
    lines += [f"  n{a.tail} -> n{a.head}{' [style=dashed]' if a.dashed else ''};" for a in picture.arrows]
    lines += [f"  label={quoted(chr(10).join(picture.notes))};"] * bool(picture.notes)
    return "\n".join([*lines, "}"]) + "\n"


def attributes(box: Box) -> str:
    """Return the attributes of a node."""
    shape = SHAPES.get(box.kind, "box")
    style = ', style="filled"' if shape == "octagon" else ""
    return f'label={quoted(chr(10).join(box.lines))}, shape={shape}, fillcolor="{box.fill or FILLS[box.kind]}"{style}'


def graphviz_source(text: str, caller: str) -> Any:
    """Return DOT text as a `graphviz.Source`.

    Raises
    ------
    ImportError
        The package graphviz is not installed.
    """
    if importlib.util.find_spec("graphviz") is None:
        raise ImportError(
            f"{caller}: the package graphviz is not installed; pip install graphviz, or use to_svg() or to_mermaid(), "
            "which need nothing"
        )
    import graphviz  # type: ignore[import-not-found,import-untyped,unused-ignore]  # an optional library

    return graphviz.Source(text)


def installed() -> bool:
    """Return whether Graphviz's program is installed."""
    return shutil.which("dot") is not None


def svg_by_dot(text: str) -> str:
    """Return the SVG that Graphviz's program makes of DOT text.

    Raises
    ------
    RuntimeError
        It is not installed, or fails.
    """
    if not installed():
        raise RuntimeError("to_svg: Graphviz's program dot is not installed; install Graphviz, or pass engine='own'")
    command = ["dot", "-Tsvg"]
    done = subprocess.run(  # noqa: S603 - Graphviz
        command, input=text, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        raise RuntimeError(f"to_svg: dot failed: {done.stderr.strip()[:500]}")
    return re.sub(r"\A.*?(?=<svg)", "", done.stdout, flags=re.DOTALL)
