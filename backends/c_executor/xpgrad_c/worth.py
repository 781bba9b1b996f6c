"""Which groups take less time as one call of C than as calls of a library."""

from xpgrad.plugin import programs_of
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import UNARY, Statement

DIRECT, BY_METHODS = (0.35, 0.1, 0.02, 0.15), (1.2, 6.0, 2.0, 2.0)
"""Microseconds of a call of a library with a small array, of a call of C, and of each array that it takes or makes:
for arrays whose memory layout C knows, and for those whose addresses the methods of the backend return."""
ELEMENT, COMPILED = 0.4e-3, 0.1e-3
"""Microseconds of an element of a simple function in a library, which goes through memory, and in C."""
DEAR = 5
"""How many times as long functions take that are no arithmetic."""
SIMPLE = frozenset(["negative", "abs", "square", "sign", "floor", "ceil", "trunc", "round", "logical_not", "isnan"])
FREE = frozenset(["constant", "load", "element", "copy"])


def worth(fused: Fused) -> bool:
    """Return whether a group is worth a call of C."""
    direct = programs_of(fused.outputs[0].spec.backend).array_layout() is not None
    call, entry, given, made = DIRECT if direct else BY_METHODS
    done, arrays = work(fused), given * len(fused.inputs) + made * len(fused.outputs)
    return call * len(fused.calls) + ELEMENT * done > entry + arrays + COMPILED * done


def work(fused: Fused) -> int:
    """Return the work of a group, in evaluations of a simple function of one element."""
    sizes = {"point": fused.rows * fused.columns, "row": fused.rows, "column": fused.columns, "one": 1, "array": 1}
    return sum(sizes[_reach(item)] * _weight(item) for item in fused.statements)


def _weight(statement: Statement) -> int:
    if statement.op in FREE:
        return 0
    return DEAR if (statement.op in UNARY and statement.op not in SIMPLE) or statement.op == "pow" else 1


def _reach(statement: Statement) -> str:
    """Return the highest level among a statement and its operands: a sum reads every element of its operand."""
    levels = {item.level for item in (statement, *statement.operands)}
    return next(level for level in ("point", "row", "column", "array", "one") if level in levels)
