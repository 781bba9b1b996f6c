"""A program as text: its calls, one per line; and its executor, its groups, and their memory."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.transforms.trace.calls import Call, CallSequence, Value
from xpgrad.transforms.trace.groups import LEFT_OUT, CallGroup, group_of, within
from xpgrad.transforms.trace.lifetimes import peak
from xpgrad.transforms.trace.names import named
from xpgrad.utils.quantities import bytes_text

MAX_ITEMS = 8  # of a tuple or list of constants
MAX_NAMES, MAX_GROUPS = 8, 100
"""How many functions of a group are named, and how many groups are listed."""


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


def text_of(program: CallSequence) -> str:
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
    total += f", at most {bytes_text(peak(program))} at a time"
    return "\n".join([f"{program.name}: {total}", *(f"  {line}".rstrip() for line in (*lines, *program.notes))])


def explanation_of(program: CallSequence) -> str:
    """Return the text of `Program.explain`."""
    groups = [(call, group) for call in program.calls if (group := group_of(call)) is not None]
    single = [call for call in program.calls if group_of(call) is None]
    inside = sum(len(group.calls) for _, group in groups)
    lines = [
        f"{program.name}: {counted(inside + len(single))}, run by {program.executor or 'no executor yet'}",
        f"  memory: at most {bytes_text(peak(program))} at a time, results {bytes_text(program.nbytes)}",
    ]
    if groups:
        lines.append(f"  computed together: {counted(inside)} in {len(groups):,} group{'s' * (len(groups) != 1)}")
        for call, group in groups[:MAX_GROUPS]:
            lines += (f"    {line}" for line in group_lines(call, group))
        lines += [f"    and {len(groups) - MAX_GROUPS:,} more"] * (len(groups) > MAX_GROUPS)
    if single:
        lines.append(f"  on their own: {counted(len(single))}: {names_of(single)}")
        lines += (f"    {note.removeprefix(LEFT_OUT)}" for note in program.notes if note.startswith(LEFT_OUT))
    if notes := [note for note in program.notes if not note.startswith(LEFT_OUT)]:
        lines.append("  passes:")
        lines += (f"    {note}" for note in notes)
    return "\n".join(lines)


def names_of(calls: list[Call] | tuple[Call, ...]) -> str:
    """Return the names of functions, the most frequent first, with how often they are called."""
    found = Counter(call.name for call in calls).most_common()
    shown = [name if count == 1 else f"{count:,} {name}" for name, count in found[:MAX_NAMES]]
    return ", ".join([*shown, *(["..."] if len(found) > MAX_NAMES else [])])


def group_lines(call: Call, group: CallGroup) -> Iterator[str]:
    """Yield the properties of a group: its size, the bytes that it reads and writes, its functions, and notes."""
    place = f"  {line_text(call)}" if call.line else ""
    reads, writes = (sum(value.nbytes for value in values) for values in (group.inputs, group.outputs))
    moved = f"reads {bytes_text(reads)}, writes {bytes_text(writes)}"
    space = f"{group.extent}, " if group.extent else ""
    yield f"{space}{counted(len(group.calls))}, {moved}: {names_of(group.calls)}{place}"
    yield from (f"  {note}" for note in group.notes)
