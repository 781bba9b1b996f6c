"""`structure_of`: a text that identifies the C source of a group."""

from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.fusion.statements import Statement


def structure_of(fused: Fused) -> str:
    """Return a text that is the same for groups of the same C source, in a tenth of the time that the source takes.

    The text contains everything that `generate` reads from a group: the space, the number of inputs, the statements,
    and the statement and level of each output.
    """
    numbers: dict[Statement, int] = {}
    lines = []
    for number, item in enumerate(fused.statements):
        numbers[item] = number
        operands = [numbers[operand] for operand in item.operands]
        lines.append(f"{item.op} {item.dtype} {item.level} {operands} {item.value!r}")
    outputs = [(numbers[item], fused.levels[value]) for item, value in zip(fused.results, fused.outputs, strict=True)]
    return "\n".join([f"{fused.rows} {fused.columns} {len(fused.inputs)} {outputs}", *lines])
