"""`Node` and `NodeSpace`: the statements of a group, prepared for the C generator."""

from dataclasses import dataclass, field
from typing import Any

from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import LEVELS, REDUCTIONS, Statement

LEAVES = frozenset(["load", "element", "constant"])
"""Operations without computation: their values are read again at each use."""
EFFECTS = frozenset(["zeros", "add_at"])
"""Operations that write a scattered array; their last operand only fixes the order."""


@dataclass(eq=False, slots=True)
class Node:
    """A statement at the level at which it is computed here.

    Attributes
    ----------
    op, operands, dtype, level, value
        As in a `Statement`; ``zeros`` makes an array of `value[0]` zeros in output `value[1]`, and ``add_at``
        adds its operand to element `value[0]` of this array.
    number : int
        Counts the nodes, for their names in C.
    terminal : bool
        Whether it is a reduction of all of the space, or over its rows: it is known after the last chunk.
    late : bool
        Whether it is computed after the last chunk.
    """

    op: str
    operands: tuple["Node", ...]
    dtype: str
    level: str
    value: Any = None
    number: int = 0
    terminal: bool = False
    late: bool = False

    @property
    def vector(self) -> bool:
        """Whether it has a number for each column."""
        return self.level in ("point", "column")


@dataclass(slots=True)
class NodeSpace:
    """Nodes in order of computation, and the nodes of the outputs.

    A space with ``rows == 1`` and no reduction at "row" has only nodes at "point" and "one".
    """

    rows: int
    columns: int
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Node] = field(default_factory=list)

    @property
    def flat(self) -> bool:
        """Whether its columns may be cut anywhere."""
        return self.rows == 1 and not any(node.level == "row" for node in self.nodes)

    def add(self, op: str, operands: tuple[Node, ...], dtype: str, level: str, value: Any = None) -> Node:
        """Append a node."""
        node = Node(op, operands, dtype, level, value, len(self.nodes))
        self.nodes.append(node)
        return node


def nodes_of(fused: Fused) -> NodeSpace | None:
    """Return the nodes of a group, or None if a chunk needs a value that is known only after the last chunk."""
    space, moved = _flattened(fused)
    made: dict[Statement, Node] = {}
    for statement in _used(fused):
        if statement.op != "scatter":
            made[statement] = _node(space, statement, tuple(made[item] for item in statement.operands), moved)
    for number, (output, result) in enumerate(zip(fused.outputs, fused.results, strict=True)):
        if result.op == "scatter":
            space.outputs.append(_scatter(space, result, made, number))
            continue
        node = made[result]
        level = moved[fused.levels[output]]
        if level != node.level or node.op in LEAVES or node.op in REDUCTIONS:  # the output needs separate memory
            node = space.add("copy", (node,), node.dtype, level)
        space.outputs.append(node)
    if space.rows == 1:
        _keep_rows_whole(space)
    return space if _set_late(space) else None


def _flattened(fused: Fused) -> tuple[NodeSpace, dict[str, str]]:
    """Return an empty space with as few dimensions as the group has levels, and the level of each level there."""
    rows, columns = fused.rows, fused.columns
    levels = {item.level for item in fused.statements} | {fused.levels[output] for output in fused.outputs}
    moved = {level: level for level in LEVELS} | {"array": "one"}
    if rows * columns == 1:
        moved = dict.fromkeys(moved, "one")
    elif columns == 1:
        rows, columns, moved = 1, rows, moved | {"column": "one", "row": "point"}
    elif rows == 1:
        moved |= {"row": "one", "column": "point"}
    elif not levels & {"row", "column"}:
        rows, columns = 1, rows * columns
    return NodeSpace(rows, columns), moved


def _used(fused: Fused) -> list[Statement]:
    wanted = set(fused.results)
    for statement in reversed(fused.statements):
        if statement in wanted:
            wanted.update(statement.operands)
    return [item for item in fused.statements if item in wanted]


def _node(space: NodeSpace, statement: Statement, operands: tuple[Node, ...], moved: dict[str, str]) -> Node:
    op, dtype, level = statement.op, statement.dtype, moved.get(statement.level, "one")
    if op not in REDUCTIONS:
        return space.add(op, operands, dtype, level, statement.value)
    (x,) = operands
    if x.dtype != dtype:
        x = space.add("cast", (x,), dtype, x.level)
    if x.level in (level, "one"):  # of one number each
        return space.add("copy", (x,), dtype, level)
    if (x.level, level) in (("row", "column"), ("column", "row")):
        level = "one"
    return space.add(op, (x,), dtype, level)


def _scatter(space: NodeSpace, statement: Statement, made: dict[Statement, Node], number: int) -> Node:
    size, indices = statement.value
    last = space.add("zeros", (), statement.dtype, "one", (size, number))
    for index, operand in zip(indices, statement.operands, strict=True):
        last = space.add("add_at", (made[operand], last), statement.dtype, "one", (index, number))
    return last


def _keep_rows_whole(space: NodeSpace) -> None:
    """Move reductions of a single row to level "row" if the points of the row need the result."""
    tainted: set[Node] = set()
    for node in space.nodes:
        if any(item in tainted for item in node.operands) or (
            node.op in REDUCTIONS and node.level == "one" and node.operands[0].level == "point"
        ):
            tainted.add(node)
    if any(node.level == "point" for node in tainted):
        for node in tainted:
            if node.level == "one":
                node.level = "row"
        for node in reversed(space.nodes):
            if node.op == "add_at" and node.level == "row":
                node.operands[-1].level = "row"


def _set_late(space: NodeSpace) -> bool:
    for node in space.nodes:
        if node.level in ("one", "column"):
            if node.op in REDUCTIONS and node.operands[0].level in ("point", "row"):
                node.terminal = True
            node.late = node.terminal or any(item.late for item in node.operands)
            if not node.terminal and any(item.level in ("row", "point") for item in node.operands):
                return False
        elif any(item.late for item in node.operands):
            return False
    return True
