"""Functions as graphs: functions that always call the same primitives, and drawings of the calls."""

from collections.abc import Callable
from functools import partial
from typing import Any

from xpgrad_autograd.nodes import Node, toposort, trace
from xpgrad_autograd.package.util import subvals
from xpgrad_autograd.package.wrap_util import wraps


class ConstGraphNode(Node):
    """A call that can be repeated with other values."""

    __slots__ = ("parents", "partial_fun")

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        places = tuple(parent_argnums)
        args = subvals(args, [(i, None) for i in places])
        self.parents = parents
        self.partial_fun = lambda values: fun(*subvals(args, zip(places, values, strict=True)), **kwargs)

    def initialize_root(self) -> None:
        """Set that the argument has no parents."""
        self.parents = ()


def const_graph_unary(fun: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of one argument that repeats the calls of the first time."""
    kept: list[Any] = []

    def repeated(x: Any) -> Any:
        if not kept:
            value, end = trace(ConstGraphNode.new_root(), fun, x)
            if end is None:
                raise ValueError("const_graph: expected a function that depends on its argument")
            kept.extend(list(toposort(end))[::-1])
            return value
        values = {kept[0]: x}
        for node in kept[1:]:
            values[node] = node.partial_fun([values[parent] for parent in node.parents])
        return values[kept[-1]]

    return repeated


def const_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``fun(*args, ..., **kwargs)`` as a function of its other arguments that repeats the first calls."""
    given = partial(fun, *args, **kwargs)
    repeated = const_graph_unary(lambda rest: given(*rest))

    def function(*rest: Any) -> Any:
        return repeated(rest)

    return wraps(fun)(function)


class FullGraphNode(Node):
    """A call with its value, function and arguments."""

    __slots__ = ("recipe", "value")

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        self.value, self.recipe = value, (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        """Set that the argument is no call."""
        self.value, self.recipe = None, (lambda x: x, (), {}, [])


def full_graph(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the node of the result, which leads to all other nodes."""
    return trace(FullGraphNode.new_root(), lambda given: fun(*given, **kwargs), args)[1]
