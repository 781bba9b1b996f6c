"""`Phase`: nodes that are computed together, in pieces of limited length that run one after the other."""

import math
from dataclasses import dataclass, field

from xpgrad_c.functions import ITEMSIZES, ROWS
from xpgrad_c.nodes import EFFECTS, LEAVES, Node
from xpgrad_fusion.statements import REDUCTIONS

LIMIT = 64
"""Statements of one C function: a compiler takes more than proportional time for more, half as long as with 256."""
CHEAP = 3
"""Values of at most this many cheap operations on stored values are recomputed, not kept."""


@dataclass(eq=False, slots=True)
class Piece:
    """Nodes of one C function: one loop over the columns, or straight-line code on scalars."""

    vector: bool
    nodes: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Phase:
    """The order in which nodes are computed, and which values are kept from one piece to another.

    Attributes
    ----------
    pieces : list of Piece
        In order.
    home : dict from Node to int
        The number of the piece that computes the node.
    kept : dict from Node to int
        Values used in other pieces, with the number of the last piece that uses them.
    outside : set of Node
        Values kept by an earlier phase.
    last : bool
        Whether the phase follows the last chunk, when reductions of the space are known.
    """

    nodes: list[Node]
    outside: set[Node]
    last: bool = False
    pieces: list[Piece] = field(default_factory=list)
    home: dict[Node, int] = field(default_factory=dict)
    kept: dict[Node, int] = field(default_factory=dict)
    costs: dict[Node, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stages = self._stages()
        order: dict[tuple[int, bool], list[Node]] = {}
        for node in self.nodes:
            order.setdefault((stages[node], self.loops(node)), []).append(node)
        for key in sorted(order):
            nodes = order[key]
            for first in range(0, len(nodes), LIMIT):
                self.pieces.append(Piece(key[1], nodes[first : first + LIMIT]))
        for number, piece in enumerate(self.pieces):
            for node in piece.nodes:
                self.home[node] = number
        for number, piece in enumerate(self.pieces):
            for node in piece.nodes:
                self._keep(node, number)

    def loops(self, node: Node) -> bool:
        """Whether a node is computed in a loop over the columns."""
        if node.terminal:
            return not self.last and node.level == "column" and node.operands[0].vector
        return node.vector

    def operands(self, node: Node) -> tuple[Node, ...]:
        """Return the operands that a node needs in this phase."""
        if node.terminal and self.last:
            return ()
        return node.operands

    def needed(self, node: Node) -> list[tuple[Node, bool]]:
        """Return the values that a node needs, and whether all elements of each must be in memory, for a reduction."""
        return [(item, not self.loops(node)) for item in self.operands(node)]

    def again(self, node: Node) -> bool:
        """Whether a node is computed again where another piece needs it."""
        if node in self.outside:
            return False
        if node.vector:
            return self.cost(node) <= CHEAP
        return _simple(node) and all(item.op in LEAVES for item in node.operands)

    def cost(self, node: Node) -> float:
        """Return the number of operations that compute a value from stored values; infinite with a dear one."""
        if node not in self.costs:
            if node.op in LEAVES or node in self.outside or not node.vector:
                cost: float = 0
            else:
                cost = 1 + sum(self.cost(item) for item in node.operands) if _simple(node) else math.inf
            self.costs[node] = cost
        return self.costs[node]

    def _stages(self) -> dict[Node, int]:
        stages: dict[Node, int] = {}
        users: dict[Node, list[Node]] = {}
        for node in self.nodes:
            stage = 0
            for item in self.operands(node):
                if item in stages:
                    users.setdefault(item, []).append(node)
                    stage = max(stage, stages[item] + (self.loops(item) and not self.loops(node)))
            stages[node] = stage
        for node in reversed(self.nodes):  # later, where that keeps no more values
            if self.loops(node) and not node.terminal and node in users:
                latest = min(stages[user] - (not self.loops(user)) for user in users[node])
                if latest > stages[node] and sum(self.loops(item) for item in node.operands if item in stages) <= 1:
                    stages[node] = latest
        return stages

    def _keep(self, node: Node, number: int) -> None:
        """Record the values of other pieces that a node needs."""
        pending = self.needed(node)
        while pending:
            item, whole = pending.pop()
            if item.op in LEAVES or item.op in EFFECTS or self.home.get(item, -1) == number:
                continue
            if not (item.vector and whole) and self.again(item):
                pending.extend((operand, False) for operand in item.operands)
            elif item in self.home:
                self.kept[item] = number


def _simple(node: Node) -> bool:
    return not (node.op in REDUCTIONS or node.op in EFFECTS or (node.op in ROWS and ROWS[node.op].dear))


def bytes_of(dtype: str, count: int) -> int:
    """Return the number of bytes of so many numbers, a multiple of 64."""
    return -(-count * ITEMSIZES[dtype] // 64) * 64
