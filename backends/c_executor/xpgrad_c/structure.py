"""`structure_of`: all properties of a group that its C source depends on, as text."""

from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.fusion.statements import Statement


def structure_of(fused: Fused) -> str:
    """Return a text that is the same for groups of the same C source, in a tenth of the time that the source takes.

    It has all that `generate` reads of a group: the space, how many inputs there are, all statements, and which of them
    are the outputs, at which levels.
    """
    numbers: dict[Statement, int] = {}
    lines = []
    for number, item in enumerate(fused.statements):
        numbers[item] = number
        operands = [numbers[operand] for operand in item.operands]
        lines.append(f"{item.op} {item.dtype} {item.level} {operands} {item.value!r}")
    outputs = [(numbers[item], fused.levels[value]) for item, value in zip(fused.results, fused.outputs, strict=True)]
    return "\n".join([f"{fused.rows} {fused.columns} {len(fused.inputs)} {outputs}", *lines])
