"""`ValuesLevel`: functions of values within forward mode: the iterations of a solver are not differentiated."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.levels import Level
from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.variable import Variable, constant_variable, inside
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.dual.parts import Parts
from xpgrad.transforms.enclosing.level import EntryRoot, Port, root
from xpgrad.transforms.leaves import as_leaf
from xpgrad.transforms.trees import map_leaves
from xpgrad.types import Array

Component = Callable[[list[Variable]], list[Variable]]


class ValuesLevel(DualLevel):
    """A level where all lifted arrays are constants, without a tangent of any level and without a graph.

    Functions within may be differentiated at inner levels.
    """

    def constant(self, array: Array) -> DualArray:
        """Return an array of the level below without a tangent."""
        return self.dual(plugins.backend_of(array).stopped(array), None)

    def entered(self, outside: Sequence[Variable | None], array: Array, port: Port) -> EntryRoot:
        """Return Variables of the level below as one Variable of this level, without a graph."""
        return EntryRoot(outside, root(array, False), port)


def of_values(title: str, function: Callable[..., Any], *trees: Any) -> Any:
    """Return ``function(*trees)``, computed with values only; the result consists of constants."""
    level = ValuesLevel(title)

    def entered(leaf: Any) -> Any:
        return inside(leaf) if isinstance(leaf, Variable) else leaf

    def value(leaf: Any) -> Array:
        return inside(as_leaf(leaf, title))._array.primal

    def run() -> Any:
        result = called_with(backprop_mode(False), function, *(map_leaves(entered, tree) for tree in trees))
        return map_leaves(value, result)

    return map_leaves(constant_variable, level.run(run))


def forward_levels(level: Level | None) -> list[Parts]:
    """Return the enclosing levels in forward mode whose tangents arrays carry now, innermost first."""
    found = []
    while level is not None and not isinstance(level, ValuesLevel):
        if isinstance(level, DualLevel):
            found.append(level.tangents)
        level = level.outer
    return found


def component_by_component(
    levels: Sequence[Parts], order: int, linear: Component, xs: list[Variable]
) -> list[Variable] | None:
    """Return the results of a constant linear function for all components of its arrays of one order.

    Parameters
    ----------
    levels : sequence of Parts
    order : int
        A component of order n is a tangent at n of the levels, and a primal at the other levels.
    linear : callable
    xs : list of Variable

    Returns
    -------
    list of Variable or None
        None if no such components exist.
    """
    if not levels:
        return None if order else linear(xs)
    level, rest = levels[0], levels[1:]
    primals = [level.primal_of(x) for x in xs]
    found = component_by_component(rest, order, linear, primals)
    if order == 0 or not any(map(level.has_tangent, xs)):
        return found
    changes = component_by_component(rest, order - 1, linear, [level.tangent_of(x) for x in xs])
    if changes is None:
        return found
    if found is None:
        found = [0.0 * x for x in primals]
    return [level.joined(x, t) for x, t in zip(found, changes, strict=True)]
