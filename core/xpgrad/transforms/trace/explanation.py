"""`explanation_of`: a readable description of a program: its executor, its groups, and their memory."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xpgrad.transforms.trace.calls import Call
from xpgrad.transforms.trace.fusion.group import LEFT_OUT, Fused
from xpgrad.transforms.trace.groups import CallGroup, group_of
from xpgrad.transforms.trace.text import counted, line_text
from xpgrad.utils.quantities import bytes_text

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program

MAX_NAMES, MAX_GROUPS = 8, 100
"""How many functions of a group are named, and how many groups are listed."""


def explanation_of(program: "Program") -> str:
    """Return the text of `Program.explain`."""
    groups = [(call, group) for call in program.calls if (group := group_of(call)) is not None]
    single = [call for call in program.calls if group_of(call) is None]
    within = sum(len(group.calls) for _, group in groups)
    lines = [
        f"{program.name}: {counted(within + len(single))}, run by {program.executor or 'no executor yet'}",
        f"  memory: at most {bytes_text(program.peak_bytes)} at a time, results {bytes_text(program.nbytes)}",
    ]
    if groups:
        lines.append(f"  computed together: {counted(within)} in {len(groups):,} group{'s' * (len(groups) != 1)}")
        for call, group in groups[:MAX_GROUPS]:
            lines += (f"    {line}" for line in group_lines(call, group))
        lines += [f"    and {len(groups) - MAX_GROUPS:,} more"] * (len(groups) > MAX_GROUPS)
    if single:
        lines.append(f"  on their own: {counted(len(single))}: {names(single)}")
        lines += (f"    {note.removeprefix(LEFT_OUT)}" for note in program.notes if note.startswith(LEFT_OUT))
    if notes := [note for note in program.notes if not note.startswith(LEFT_OUT)]:
        lines.append("  passes:")
        lines += (f"    {note}" for note in notes)
    return "\n".join(lines)


def names(calls: list[Call] | tuple[Call, ...]) -> str:
    """Return the names of functions, the most frequent first, with how often they are called."""
    found = Counter(call.name for call in calls).most_common()
    shown = [name if count == 1 else f"{count:,} {name}" for name, count in found[:MAX_NAMES]]
    return ", ".join([*shown, *(["..."] if len(found) > MAX_NAMES else [])])


def group_lines(call: Call, group: CallGroup) -> Iterator[str]:
    """Yield the properties of a group: its size, the bytes that it reads and writes, its functions, and notes."""
    place = f"  {line_text(call)}" if call.line else ""
    reads, writes = (sum(value.nbytes for value in values) for values in (group.inputs, group.outputs))
    moved = f"reads {bytes_text(reads)}, writes {bytes_text(writes)}"
    space = f"{group.rows:,} x {group.columns:,}, " if isinstance(group, Fused) else ""
    yield f"{space}{counted(len(group.calls))}, {moved}: {names(group.calls)}{place}"
    yield from (f"  {note}" for note in (group.notes if isinstance(group, Fused) else ()))
