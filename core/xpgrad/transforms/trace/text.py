"""A program as text: one line per call, with its operands, its results and the user's line."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xpgrad.backend.spec import Spec
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.groups import within
from xpgrad.transforms.trace.names import named
from xpgrad.utils.quantities import bytes_text

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

MAX_ITEMS = 8  # of a tuple or list of constants


def constant_text(item: Any, names: Callable[[Value], str]) -> str:
    """Return an argument for readers: the names of values, numbers unchanged, arrays by dtype and shape."""
    if isinstance(item, Value):
        return names(item)
    if isinstance(item, (tuple, list)):
        shown = [constant_text(part, names) for part in item[:MAX_ITEMS]]
        shown += [f"... {len(item)} in all"] if len(item) > MAX_ITEMS else []
        left, right = "[]" if isinstance(item, list) else "()"
        return f"{left}{', '.join(shown)}{',' if len(item) == 1 and left == '(' else ''}{right}"
    if isinstance(item, dict):
        return f"{{{', '.join(f'{key!r}: {constant_text(part, names)}' for key, part in item.items())}}}"
    if isinstance(item, slice):
        parts = [item.start, item.stop] + ([] if item.step is None else [item.step])
        return ":".join("" if part is None else constant_text(part, names) for part in parts)
    if item is Ellipsis:
        return "..."
    if isinstance(item, Spec):
        return f"spec of {item!r}"
    if hasattr(item, "shape") and hasattr(item, "dtype") and not isinstance(item, type):
        return f"<{item.dtype} {tuple(item.shape)}>"
    shown_item = repr(item)
    return shown_item if len(shown_item) <= 40 else f"{shown_item[:37]}..."


def call_text(call: Call, names: Callable[[Value], str]) -> str:
    """Return the function's name and arguments as in a call."""
    given = [constant_text(item, names) for item in call.args]
    given += [f"{key}={constant_text(item, names)}" for key, item in call.kwargs.items()]
    if call.out is not None:
        given.append(f"out={names(call.out)}")
    return f"{call.name}({', '.join(given)})"


def counted(count: int) -> str:
    """Return a number of calls for readers."""
    return f"{count:,} call{'s' * (count != 1)}"


def line_text(call: Call) -> str:
    """Return file and line of the user's code, without the folder."""
    return "" if call.line is None else f"{os.path.basename(call.line[0])}:{call.line[1]}"


def text_of(program: "Program") -> str:
    """Return the program as text."""
    flat = program.replaced(calls=tuple(inner for call in program.calls for inner in within(call) or (call,)))
    names = named(flat).__getitem__
    rows = [("input", names(value), repr(value.spec), bytes_text(value.nbytes), "", "") for value in program.inputs]
    for kind, call in (x for each in program.calls for x in (*(("block", y) for y in within(each)), ("", each))):
        results = ", ".join(map(names, call.results))
        specs = ", ".join(repr(value.spec) for value in call.results)
        size = bytes_text(sum(value.nbytes for value in call.results)) if call.results else ""
        frees = f"  frees {', '.join(map(names, call.frees))}" if call.frees else ""
        rows.append((kind, results, specs, size, f"{call_text(call, names)}{frees}", line_text(call)))
    for item in program.outputs:
        spec, size = (repr(item.spec), bytes_text(item.nbytes)) if isinstance(item, Value) else ("", "")
        rows.append(("output", constant_text(item, names), spec, size, "", ""))
    widths = [min(48, max((len(row[i]) for row in rows), default=0)) for i in range(5)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows]
    total = f"{counted(len(program.calls))}, results {bytes_text(program.nbytes)}"
    total += f", at most {bytes_text(program.peak_bytes)} at a time"
    return "\n".join([f"{program.name}: {total}", *(f"  {line}".rstrip() for line in (*lines, *program.notes))])
