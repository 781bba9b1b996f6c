"""The Variables from outside that the steps of a loop use, and the sweep of some steps down to these."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xpgrad.errors import GraphError
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.sweep import Key, key_of
from xpgrad.graph.variable import Variable
from xpgrad.transforms.capture import CapturedRun, SubgraphSweep


class Captures:
    """The nodes from outside that have been found so far, in order.

    Attributes
    ----------
    nodes : dict from VariableNode to int
        Nodes and their numbers.
    """

    def __init__(self) -> None:
        self.nodes: dict[VariableNode, int] = {}

    def add(self, trace: CapturedRun, again: Callable[[], CapturedRun]) -> None:
        """Add the captured Variables of a recorded step.

        A node at the border of the step is from outside, or was computed in the step from such nodes only. In the
        second case, recording the step once more by `again` gives a different node, and the inputs of its creator are
        examined.
        """
        if all(node in self.nodes for node in trace.captured):
            return
        other = again()
        if len(other.captured) != len(trace.captured):
            raise GraphError(
                f"a step used {len(trace.captured)} Variables from outside, and {len(other.captured)} when it was "
                "called again; it must be repeatable"
            )
        seen: set[VariableNode] = set()
        waiting = list(zip(trace.captured, other.captured, strict=True))
        while waiting:
            one, two = waiting.pop(0)
            if one in seen or not one.requires_grad:
                continue
            seen.add(one)
            function, twin = one.live_creator(), two.live_creator()
            if one is two:
                self.nodes.setdefault(one, len(self.nodes))
            if one is two or function is None or twin is None:  # else a root that each call makes anew
                continue
            pairs = zip(function.inputs or (), twin.inputs or (), strict=True)
            waiting += [(a, b) for a, b in pairs if a is not None and b is not None]


class Inside:
    """The functions that a sweep of some steps may run: all except the creators of the nodes at the border."""

    __slots__ = ("outside",)

    def __init__(self, border: Iterable[VariableNode]) -> None:
        self.outside = frozenset(f for node in border if (f := node.creator_node) is not None)

    def __contains__(self, function: FunctionBase) -> bool:
        return function not in self.outside

    def __getitem__(self, function: FunctionBase) -> bool:
        return False  # no function has inputs whose gradients are not needed

    def __bool__(self) -> bool:
        return bool(self.outside)


def swept(
    outputs: Sequence[Variable], cotangents: Sequence[Any], border: Sequence[VariableNode], *, recorded: bool
) -> list[Any]:
    """Return the gradients of the nodes at the border, None for nodes on which no output depends.

    Parameters
    ----------
    outputs : sequence of Variable
    cotangents : sequence of array or None
        One for each output; Variables if the sweep is recorded.
    border : sequence of VariableNode
        Each path from the outputs ends there.
    recorded : bool

    Raises
    ------
    GraphError
        A path ends at another node.
    """
    pairs = zip(outputs, cotangents, strict=True)
    seeds = [(y._node, g) for y, g in pairs if g is not None and y._node.requires_grad]
    keys: list[Key] = [key_of(node) for node in border]
    inside: Any = Inside(border)
    sweep = SubgraphSweep(set(border), seeds, recorded=recorded, active=inside or None, watch=frozenset(keys))
    sweep.run()
    for key in (*sweep.totals, *sweep.slots):
        if key not in sweep.watch and isinstance(key, VariableNode) and key.get_variable_or_none() is not None:
            raise GraphError(
                f"a step used the Variable {key.label} from outside, which the first step did not use; pass it in the "
                "carry, or use it at each step"
            )
    return [sweep.totals.get(key) for key in keys]
