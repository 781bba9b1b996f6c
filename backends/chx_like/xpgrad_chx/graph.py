"""The graph of chx arrays is xpgrad's graph: an array in a graph owns a Variable over its memory."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import xpgrad
from xpgrad import functions
from xpgrad.config import backprop_mode, called_with
from xpgrad_chx.backprop import DEFAULT, BackpropId, is_backprop_required, modes, sweeping
from xpgrad_chx.connection import NOTHING, Connection
from xpgrad_chx.memory import Memory, another

Node = xpgrad.VariableNode
new, as_array = object.__new__, xpgrad.as_array


class SpecialNodeData(NamedTuple):
    """The data of a special node: the ids for which it keeps a gradient, and the arrays that keep it."""

    required: set[BackpropId] | frozenset[BackpropId]
    connection: "weakref.ref[Connection]"


special: "weakref.WeakKeyDictionary[Node, SpecialNodeData]" = weakref.WeakKeyDictionary()
"""Nodes at which a computation back has to stop and look: roots of other ids, arrays in between with a
gradient, and views through which some ids do not go.

It is empty in most programs, which then pay nothing.
"""


class PartialView(xpgrad.FunctionNode):
    """A view, through which the gradients of some backprop ids do not go.

    A class, because its gradient depends on the id of the backward computation.
    """

    of_library = True

    def __init__(self, blocked: frozenset[BackpropId] = frozenset()) -> None:
        self.blocked = blocked

    @property
    def label(self) -> str:
        """Name with the blocked ids."""
        return f"view without {', '.join(map(repr, self.blocked))}" if self.blocked else "view"

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return another array over the same memory."""
        return (another(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradient unchanged, or None."""
        return (None,) if sweeping.get() in self.blocked else grad_outputs


def connect(x: Any) -> Connection:
    """Connect an array to the graph if it is not yet connected, and return its connection."""
    connection: Connection | None = x._graph
    if connection is None:
        connection = x._graph = Connection(xpgrad.Variable(another(x)))
    return connection


def carry(variable: xpgrad.Variable) -> Any:
    """Return an array that owns `variable`; a plain one if the Variable requires no gradient."""
    raw = as_array(variable)
    y = new(type(raw))
    y._data = raw._data
    y._device = raw._device
    y._graph = Connection(variable) if variable.node.requires_grad else None
    return y


def view(x: Any, blocked: frozenset[BackpropId] = frozenset()) -> Any:
    """Return a view of an array, or of a Variable's array, connected to its graph for all ids except blocked ids."""
    variable = x if isinstance(x, xpgrad.Variable) else None if x._graph is None else x._graph.variable
    if variable is None:
        return another(x)
    y = carry(called_with(backprop_mode(True), PartialView(blocked).apply, (variable,))[0])
    if blocked:
        connection = y._graph
        special[connection.variable.node] = SpecialNodeData(NOTHING, weakref.ref(connection))
    return y


def record(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the results of the differentiable function `name` on arrays, as arrays.

    It is one of the standard or of NumPy, as Variables have them, else one of `xpgrad.functions`.
    """

    def function(*operands: Any, **parameters: Any) -> Any:
        variable = next(x for x in leaves((operands, tuple(parameters.values()))) if isinstance(x, xpgrad.Variable))
        found = variable.__array_namespace__()
        for part in name.split("."):
            found = getattr(found, part, None) or getattr(functions, part)
        return found(*operands, **parameters)

    return recorded(function, args, kwargs)


def record_operator(function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    """Return the result of an operator on arrays and scalars, one of which is in a graph."""
    if not modes.get():
        return carry(function(*[_entered(x) for x in operands]))
    return recorded(function, operands, {})


def recorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the results of a function of Variables on arrays, as arrays in the graph of the arguments."""
    operands = [_entered(x) for x in args]
    parameters = {key: _entered(x) for key, x in kwargs.items()}
    if not modes.get():
        return _carried(function(*operands, **parameters))
    nodes = [x.node for x in leaves((operands, *parameters.values())) if isinstance(x, xpgrad.Variable)]
    ids = ids_behind(nodes)
    off = frozenset(each for each in ids if not is_backprop_required(each))
    results = _carried(called_with(backprop_mode(off != ids), function, *operands, **parameters))
    return _blocked(results, off) if off and off != ids else results


def _entered(x: Any) -> Any:
    if isinstance(x, Memory):
        return x if x._graph is None else x._graph.variable
    if type(x) in (tuple, list):
        return type(x)([_entered(item) for item in x])
    return x


def _carried(result: Any) -> Any:
    if isinstance(result, xpgrad.Variable):
        return carry(result)
    if isinstance(result, (tuple, list)):
        items = [_carried(item) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def _blocked(result: Any, off: frozenset[BackpropId]) -> Any:
    if isinstance(result, Memory):
        return view(result, off)
    return type(result)([_blocked(item, off) for item in result]) if isinstance(result, (tuple, list)) else result


def leaves(items: Iterable[Any]) -> Iterable[Any]:
    """Yield the leaves of nested lists and tuples."""
    for item in items:
        if isinstance(item, (tuple, list)):
            yield from leaves(item)
        else:
            yield item


# The nodes that an array depends on


def busy(outputs: Iterable[Node] = ()) -> bool:
    """Return whether special nodes exist, other than intermediate `outputs` that keep a gradient.

    Nodes that were special only for an expired id no longer count.
    """
    for node, place in list(special.items()):
        if isinstance(place.required, set):
            place.required.difference_update([each for each in place.required if not each.open])
        if place.required == {DEFAULT} and node.creator_node is None:
            del special[node]
    ends = {node for node in outputs if node.creator_node is not None}
    return any(node not in ends or place.required != {DEFAULT} for node, place in list(special.items()))


def behind(nodes: Iterable[Node], backprop_id: BackpropId) -> list[Connection]:
    """Return the data of the special nodes that `nodes` depend on and that keep a gradient for an id."""
    places = [place for node in _walk(nodes, backprop_id) if (place := special.get(node)) is not None]
    wanted = [place.connection() for place in places if backprop_id in place.required]
    return [connection for connection in wanted if connection is not None]


def roots_behind(nodes: Iterable[Node]) -> list[xpgrad.Variable]:
    """Return the Variables of the roots that `nodes` depend on and that have the default id."""
    found = [node for node in _walk(nodes, DEFAULT) if node.creator_node is None and node not in special]
    return [variable for node in found if (variable := node.get_variable_or_none()) is not None]


def ids_behind(nodes: Iterable[Node]) -> frozenset[BackpropId]:
    """Return the ids whose gradients flow through `nodes`."""
    nodes = [node for node in nodes if node.requires_grad]
    known = {each for place in list(special.values()) for each in place.required if each.open} | {DEFAULT}
    found = {each for each in known if any(_keeps(node, each) for node in _walk(nodes, each))}
    return frozenset(found)


def reaches(node: Node, backprop_id: BackpropId) -> bool:
    """Return whether a gradient for an id flows on from `node`, or is kept there."""
    if not node.requires_grad or (backprop_id is DEFAULT and not special):
        return node.requires_grad
    return any(_keeps(each, backprop_id) for each in _walk([node], backprop_id))


def _keeps(node: Node, backprop_id: BackpropId) -> bool:
    place = special.get(node)
    if place is not None:
        return backprop_id in place.required
    return backprop_id is DEFAULT and node.creator_node is None


def _walk(nodes: Iterable[Node], backprop_id: BackpropId) -> Iterable[Node]:
    """Yield the nodes that a gradient for an id reaches from `nodes`, including these."""
    seen: set[Any] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in seen or not node.requires_grad:
            continue
        seen.add(node)
        yield node
        function = node.creator_node
        if function is None or function in seen:
            continue
        seen.add(function)
        if not (isinstance(function, PartialView) and backprop_id in function.blocked):
            waiting.extend(each for each in function.inputs or () if each is not None)
