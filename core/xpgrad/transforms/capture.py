"""The Variables that a user's function captured, found in its graph."""

import copy
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.sweep import Sweep, key_of
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import transforming

Run = Callable[[], Sequence[Variable]]
MAX_DEPTH = 1 << 32  # no graph has more functions on one path
_runs = itertools.count(1)


class CapturedRun:
    """One run of a user's function on roots, with the captured nodes that its outputs depend on.

    The roots get ranks above all existing ranks, and so do all nodes that depend on them. A node of lower rank, at the
    border, was captured: a parameter in a closure, an attribute of an object, or a value computed from captured nodes.

    Parameters
    ----------
    run : callable
        Calls the user's function, and returns the Variables among its outputs.
    roots : sequence of Variable
        Its arguments, which are in no graph yet.
    ends : collection of VariableNode, optional
        All nodes that can have been captured. Values computed from them are then inside.

    Attributes
    ----------
    outputs : list of Variable
    captured : list of VariableNode
        In the order of the graph, which is the same in each run of a computation.
    """

    def __init__(self, run: Run, roots: Sequence[Variable], ends: Collection[VariableNode] | None = None) -> None:
        self._base, self._ends = MAX_DEPTH * next(_runs), ends
        for x in roots:
            x._node.rank = self._base
        self.outputs: list[Variable] = list(transforming(run))
        self._roots = [x._node for x in roots]
        self.captured, self._functions = self._explored()

    def _explored(self) -> tuple[list[VariableNode], list[FunctionBase]]:
        """Return the nodes at the border other than roots, and the functions above it."""
        captured: dict[VariableNode, None] = {}
        functions: dict[FunctionBase, None] = {}
        seen = set(self._roots)
        waiting = [y._node for y in reversed(self.outputs)]
        while waiting:
            node = waiting.pop()
            if node in seen or not node.requires_grad:
                continue
            seen.add(node)
            function = node.live_creator()
            outside = node.rank < self._base if self._ends is None else node in self._ends
            if outside or function is None:
                captured[node] = None
            elif function not in functions:
                functions[function] = None
                waiting.extend(each for each in reversed(function.inputs or ()) if each is not None)
        return list(captured), list(functions)

    def pulled(
        self, cotangents: Sequence[Variable | None], targets: Sequence[int]
    ) -> tuple["CapturedRun", list[Variable | None]]:
        """Return the trace of the pullback, with `cotangents` as additional roots, and the gradients at `targets`."""
        seeds = [g._node for g in cotangents if g is not None]
        for node in seeds:
            node.rank = self._base
        found = self.gradients(cotangents, targets, recorded=True)
        made = copy.copy(self)
        made.outputs = [g for g in found if g is not None and g._node.requires_grad]
        made._roots = [*self._roots, *seeds]
        made.captured, made._functions = made._explored()
        return made, found

    def gradients(
        self, cotangents: Sequence[Variable | None], targets: Sequence[int], *, recorded: bool
    ) -> list[Variable | None]:
        """Return the gradients of the roots and captured nodes at `targets`; no path crosses the border.

        Parameters
        ----------
        cotangents : sequence of Variable or None
            One for each output.
        targets : sequence of int
            Positions among the roots, then the captured nodes.
        recorded : bool
        """
        border = [*self._roots, *self.captured]
        keys = [key_of(border[i]) for i in targets]
        wanted = {border[i] for i in targets}
        pairs = zip(self.outputs, cotangents, strict=True)
        seeds = [(y._node, g if recorded else g._array) for y, g in pairs if g is not None]
        active: dict[FunctionBase, bool] = {}
        for f in sorted(self._functions, key=lambda f: f.rank):
            inputs = [node for node in f.inputs or () if node is not None and node.requires_grad]
            leading = [node for node in inputs if node in wanted or node.creator_node in active]
            if leading:
                active[f] = len(leading) < len(inputs)
        sweep = SubgraphSweep(set(border), seeds, recorded=recorded, active=active, watch=frozenset(keys))
        transforming(sweep.run)  # the sweep may call a user's function again: a checkpoint, a backward rule
        found = [sweep.totals.get(key) for key in keys]
        return [g if g is None or isinstance(g, Variable) else constant_variable(g) for g in found]


class SubgraphSweep(Sweep):
    """A sweep of a part of a graph; hooks at its border are not called, because gradients there are incomplete."""

    def __init__(self, border: set[VariableNode], seeds: Any, **options: Any) -> None:
        super().__init__(seeds, **options)
        self.border = border

    def _hooked(self, node: VariableNode, gy: Any) -> Any:
        return gy if node in self.border else super()._hooked(node, gy)
