"""A program as a graph in the DOT language."""

import importlib.util
from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trace.calls import Value
from xpgrad.transforms.trace.names import named
from xpgrad.transforms.trace.text import line_text, spec_text

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program


class DotSource:
    """DOT text, for ``dot -Tsvg``; what stands for `graphviz.Source` where that package is not installed.

    Attributes
    ----------
    source : str
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def __str__(self) -> str:
        return self.source


def dot_of(program: "Program") -> Any:
    """Return a program as a `graphviz.Source` if that package is installed, else as a `DotSource`.

    Boxes are calls, ellipses are inputs and outputs; at each arrow are the name, dtype and shape of the array.
    """
    text = dot_text(program)
    if importlib.util.find_spec("graphviz") is None:
        return DotSource(text)
    import graphviz  # type: ignore[import-not-found,unused-ignore]  # an optional library

    return graphviz.Source(text)


def dot_text(program: "Program") -> str:
    """Return the DOT text of a program."""
    names = named(program)
    lines = [f"digraph {quoted(program.name)} {{", "  node [fontname=monospace]; edge [fontname=monospace];"]
    maker: dict[Value, str] = {}
    for i, value in enumerate(program.inputs):
        maker[value] = f"i{i}"
        lines.append(f"  i{i} [label={quoted(names[value])}, shape=ellipse];")
    writer: dict[Value, str] = {}
    for i, call in enumerate(program.calls):
        label = "\n".join(filter(None, (call.name, line_text(call))))
        lines.append(f"  c{i} [label={quoted(label)}, shape=box];")
        lines += [f"  {maker[value]} -> c{i} [label={arrow(value, names)}];" for value in call.operands()]
        earlier = {writer[value]: None for value in call.operands() if value in writer}
        lines += [f"  {name} -> c{i} [style=dashed];" for name in earlier]  # after that write
        maker.update(dict.fromkeys(call.results, f"c{i}"))
        writer.update((value, f"c{i}") for value in call.writes if isinstance(value, Value))
    for i, item in enumerate(program.outputs):
        lines.append(f'  o{i} [label="output {i}", shape=ellipse];')
        if isinstance(item, Value):
            lines.append(f"  {maker[item]} -> o{i} [label={arrow(item, names)}];")
    return "\n".join([*lines, "}"]) + "\n"


def arrow(value: Value, names: dict[Value, str]) -> str:
    """Return the label of an arrow."""
    return quoted(f"{names[value]}\n{spec_text(value)}")


def quoted(text: str) -> str:
    """Return text as a string of the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
