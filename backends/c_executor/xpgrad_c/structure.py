"""`structure_of`: a text that identifies the C source of a group."""

import hashlib
import marshal

from xpgrad_fusion.group import Fused


def structure_of(fused: Fused) -> str:
    """Return a text that is the same for groups of the same C source, much faster than the source is generated.

    It is a hash of everything that `generate` reads from a group: the space, the number of inputs, the statements, and
    the statement and level of each output.
    """
    statements = fused.statements
    numbers = dict(zip(statements, range(len(statements)), strict=True))
    columns = (  # lists of plain objects, for which Python's garbage collector does not run
        [fused.rows, fused.columns, len(fused.inputs)],
        [numbers[item] for item in fused.results],
        [fused.levels[value] for value in fused.outputs],
        [item.op for item in statements],
        [item.dtype for item in statements],
        [item.level for item in statements],
        [item.value for item in statements],
        [len(item.operands) for item in statements],
        [numbers[operand] for item in statements for operand in item.operands],
    )
    return hashlib.sha256(marshal.dumps(columns, 2)).hexdigest()  # in a later version it depends on identities
