"""Traces of nodes: the calls of a program on a value, as a graph whose node class the caller chooses.

xpgrad's own graph serves arrays. Traces serve programs that read graphs, programs that define kinds of values
(`Box.register`), and `autograd.tracer`.
"""

import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from xpgrad import array_api
from xpgrad_autograd.boxes import ArrayBox, Box, NodeBox, functions, is_box, is_of_program, value_of
from xpgrad_autograd.spaces import vspace
from xpgrad_autograd.trees import TREES, leaves, mapped

primitive_vjps: dict[Any, Callable[..., Any]] = {}
primitive_jvps: dict[Any, Callable[..., Any]] = {}
graph: dict[str, Callable[..., Any]] = {}
"""By xpgrad's graph: `make_vjp` under "vjp", value and tangent of a function under "jvp"; set by `derivatives`."""
constant: set[Any] = set()
"""Primitives whose results have no derivatives."""
without_default: set[Any] = set()
"""Primitives that have no derivatives before the program gives them rules."""


class Node:
    """The record of a traced call; a subclass defines its contents."""

    __slots__ = ()

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Sequence[int], parents: Sequence["Node"]
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __init__")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Initialize the node of the argument."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Self:
        """Return the node of an argument."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class TraceStack:
    """The number of the innermost trace."""

    top: ClassVar[int] = 0


trace_stack = TraceStack()


def trace(start_node: Node, fun: Callable[[Any], Any], x: Any) -> tuple[Any, Node | None]:
    """Return the value of ``fun(x)`` and its node; None, with a warning, if it does not depend on `x`.

    Parameters
    ----------
    start_node : Node
        The node of `x`; calls create nodes of the same class.
    fun : callable
    x : object
    """
    TraceStack.top += 1
    try:
        number = TraceStack.top
        result = fun(_started(x, number, start_node))
    finally:
        TraceStack.top -= 1
    result = _joined(result, number)
    if is_box(result) and result._trace == number:
        return result._value, result._node
    warnings.warn("Output seems independent of input.", stacklevel=3)
    return result, None


def _started(x: Any, number: int, node: Node) -> Any:
    if isinstance(x, (tuple, list, dict)):
        items = x.items() if isinstance(x, dict) else enumerate(x)
        made = {key: new_box(value, number, type(node)(value, operator.getitem, (x, key), {}, (0,), (node,)))
                for key, value in items}  # fmt: skip
        return made if isinstance(x, dict) else type(x)(made.values())
    return new_box(x, number, node)


def _joined(result: Any, number: int) -> Any:
    """Return a result with boxes within as one box for the call that builds the tree."""
    if not isinstance(result, (tuple, list, dict)):
        return result
    found = [leaf for leaf in leaves(result) if is_box(leaf) and leaf._trace == number]
    if not found:
        return result

    def made(*values: Any) -> Any:
        given = iter(values)
        return mapped(lambda leaf: next(given) if is_box(leaf) and leaf._trace == number else leaf, result)

    values = [box._value for box in found]
    node = type(found[0]._node)(made(*values), made, tuple(values), {}, range(len(values)), [x._node for x in found])
    return TreeBox(made(*values), number, node)


class TreeBox(Box):
    """A tree that a traced function returned."""


def new_box(value: Any, number: int, node: Node) -> Box:
    """Return a value in a trace.

    Raises
    ------
    TypeError
        No box is registered for its type.
    """
    if type(value) not in Box.type_mappings and not is_box(value):
        raise TypeError(f"Can't differentiate w.r.t. type {type(value)}")
    return (Box.type_mappings[type(value)] if is_of_program(value) else NodeBox)(value, number, node)


def is_traced(x: Any) -> bool:
    """Return whether `x` is in a trace of nodes, rather than in xpgrad's graph."""
    kind = type(x)
    return kind in Box.types and kind is not ArrayBox


def among(args: Iterable[Any]) -> bool:
    """Return whether an argument is in a trace of nodes."""
    for x in args:  # a generator takes three times as long, for each call of a function
        kind = type(x)
        if (kind in Box.types and kind is not ArrayBox) or ((kind is list or kind is tuple) and among(x)):
            return True
    return False


def inside_dict(x: Any) -> bool:
    """Return whether `x` is a dictionary with boxes."""
    return isinstance(x, dict) and any(map(is_box, leaves(x)))


def of_boxes(arg: Any, gradient: Any) -> list[Any]:
    """Return the gradients by the boxes within an argument; the gradient by a sequence may be an array."""
    if not isinstance(arg, TREES):
        return [gradient] if is_box(arg) else []
    items = arg.items() if isinstance(arg, dict) else enumerate(arg)
    return [g for key, each in items for g in of_boxes(each, gradient[key])]


def applied(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, constant: bool) -> Any:
    """Return a call in the innermost trace of its arguments."""
    flat, call = _spread(function, args)
    number = max(x._trace for x in flat if is_traced(x))
    argnums = tuple(i for i, x in enumerate(flat) if is_traced(x) and x._trace == number)
    values = tuple(x._value if i in argnums else x for i, x in enumerate(flat))
    result = call(*values, **kwargs)
    nodes = [flat[i]._node for i in argnums]
    if constant and isinstance(nodes[0], (VJPNode, JVPNode)):
        return result
    if isinstance(result, (tuple, list)):
        made = [_element(call, i, each, values, kwargs, argnums, nodes, number) for i, each in enumerate(result)]
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    return new_box(result, number, type(nodes[0])(result, call, values, kwargs, argnums, nodes))


def _element(
    call: Any, i: int, value: Any, values: Any, kwargs: Any, argnums: Any, nodes: Sequence[Node], number: int
) -> Any:
    def one(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs)[i]

    return new_box(value, number, type(nodes[0])(value, one, values, kwargs, argnums, nodes))


def _spread(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """Return the arguments with sequences flattened, and the function of these arguments."""
    if not any(type(x) in (list, tuple) and among(x) for x in args):
        return args, function
    flat = [y for x in args for y in (x if type(x) in (list, tuple) and among(x) else (x,))]

    @functools.wraps(function, updated=())
    def call(*given: Any, **kwargs: Any) -> Any:
        rest = iter(given)
        joined = [type(x)(next(rest) for _ in x) if type(x) in (list, tuple) and among(x) else next(rest) for x in args]
        return function(*joined, **kwargs)

    return tuple(flat), call


def toposort(end_node: Any, parents: Callable[[Any], Sequence[Any]] = operator.attrgetter("parents")) -> Iterator[Any]:
    """Yield the nodes of a graph, each before its parents."""
    counts: dict[Any, int] = {}
    stack = [end_node]
    while stack:
        node = stack.pop()
        counts[node] = counts.get(node, 0) + 1
        if counts[node] == 1:
            stack.extend(parents(node))
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            counts[parent] -= 1
            if not counts[parent]:
                ready.append(parent)


# Derivatives in traces of nodes


def vjp_of(function: Any) -> Callable[..., Any]:
    """Return the rule of a primitive, ``rule(argnums, ans, args, kwargs)``; by default computed by xpgrad.

    Raises
    ------
    NotImplementedError
        It is a primitive of the program, without rule.
    """
    found = primitive_vjps.get(function)
    if found is not None:
        return found
    if function in primitive_jvps:
        return functools.partial(_transposed, function)
    if function in without_default:
        raise not_defined(function)
    return functools.partial(_computed, function)


def not_defined(function: Any) -> NotImplementedError:
    """Return the error for a primitive without the rule that is needed."""
    return NotImplementedError(f"VJP of {getattr(function, '__name__', function)} not defined; give it one by defvjp")


transposing: list[Any] = []
"""Primitives whose rule for tangents is being transposed, in which the primitive itself would be of no use."""


def _computed(function: Any, argnums: Sequence[int], ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the pullback of a function of arrays: rules for real elementwise functions, else xpgrad's graph."""
    rules = _elementwise_rules(function)
    if rules is not None and not kwargs and all(map(_is_real, args)):
        return lambda g: [_by_rule(rules[i], g, ans, args, i) for i in argnums]
    if (
        function.__name__ == "power"
        and argnums == (0,)
        and type(args[1]) in (int, float)
        and args[1]
        and _is_real(args[0])
    ):
        return lambda g: [g * (args[1] * args[0] ** (args[1] - 1))]
    pull = _pullback(function, tuple(argnums), kwargs)
    return lambda g: pull(g, *args)


Rules = tuple[tuple[Callable[..., Any], tuple[int, ...]], ...]


@functools.cache
def _elementwise_rules(function: Any) -> Rules | None:
    """Return xpgrad's rule for each argument of an elementwise function, and the numbers of the arrays that it takes.

    The result has the number -1. None if xpgrad's function has another signature.
    """
    name = ARRAY_API.get(str(function.__name__), str(function.__name__))
    definition = getattr(getattr(array_api, name, None), "definition", None)
    if definition is None or not definition.elementwise or definition.parameters or not hasattr(np, name):
        return None
    numbers = {"y": -1} | {x: i for i, x in enumerate(definition.inputs)}
    if definition.asks.keys() != set(definition.inputs) or not numbers.keys() >= set().union(*definition.asks.values()):
        return None
    return tuple((definition.rules[x], tuple(map(numbers.__getitem__, definition.asks[x]))) for x in definition.inputs)


ARRAY_API = {"power": "pow", "true_divide": "divide"}
"""Names of the Array API for those of NumPy."""


class Functions:
    """The functions of ``autograd.numpy`` as the namespace of a rule."""

    def __getattr__(self, name: str) -> Any:
        return functions()[name]


def _by_rule(rule: Any, g: Any, ans: Any, args: tuple[Any, ...], i: int) -> Any:
    """Return the gradient by one argument, summed to its shape."""
    formula, numbers = rule
    made = formula(Functions(), g, *[ans if k < 0 else args[k] for k in numbers])
    shape = np.shape(value_of(args[i]))
    return made if np.shape(value_of(made)) == shape else functions()["_unbroadcast"](made, args[i])


def _is_real(x: Any) -> bool:
    kind = type(value_of(x))
    return kind in (float, int, np.float64) or (kind is np.ndarray and value_of(x).dtype.kind == "f")


def _pullback(function: Any, argnums: tuple[int, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
    """Return the function of a cotangent and the arguments that gives the gradients; a call of it can be traced."""
    by_graph = graph["vjp"]

    def call(g: Any, *args: Any) -> Any:
        if among((g, *args)):
            return applied(call, (g, *args), {}, constant=False)

        def of_some(values: Sequence[Any]) -> Any:
            given = list(args)
            for i, value in zip(argnums, values, strict=True):
                given[i] = value
            return function(*given, **kwargs)

        return by_graph(of_some, tuple(args[i] for i in argnums))[0](g)

    return call


def _pushforward(function: Any) -> Callable[..., Any]:
    """Return the tangent rule of a function of arrays, computed by xpgrad's graph; its calls can be traced."""
    vjp_of(function)  # of a primitive without rules it raises
    by_graph = graph["jvp"]

    def call(argnums: tuple[int, ...], tangents: Sequence[Any], ans: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        def pushed(*given: Any) -> Any:
            if among(given):
                return applied(pushed, given, {}, constant=False)

            def of_some(values: Sequence[Any]) -> Any:
                rest = list(given[len(argnums) :])
                for i, value in zip(argnums, values, strict=True):
                    rest[i] = value
                return function(*rest, **kwargs)

            return by_graph(of_some, tuple(given[len(argnums) + i] for i in argnums), given[: len(argnums)])[1]

        return pushed(*tangents, *args)

    return call


def _transposed(function: Any, argnums: Sequence[int], ans: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Return the pullback of a primitive that has only a tangent rule, by transposing that linear rule."""
    by_graph = graph["vjp"]
    rule = primitive_jvps[function]
    zeros = tuple(vspace(args[i]).zeros() for i in argnums)
    transposing.append(function)
    try:
        return by_graph(lambda tangents: rule(argnums, tangents, ans, args, kwargs), zeros)[0]
    finally:
        transposing.remove(function)


class VJPNode(Node):
    """A call with its pullback."""

    __slots__ = ("parents", "vjp")

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        self.parents = parents
        rule = vjp_of(fun) if fun is not operator.getitem else _of_item
        self.vjp = rule(tuple(parent_argnums), value, args, kwargs)

    def initialize_root(self) -> None:
        """Initialize the node of the argument."""
        self.parents, self.vjp = (), lambda g: ()


def _of_item(argnums: Sequence[int], ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the pullback of taking an entry of a tree."""
    tree, key = args

    def pulled(g: Any) -> tuple[Any]:
        made = vspace(tree).zeros()
        if isinstance(tree, dict):
            return ({**made, key: g},)
        return (type(tree)(g if i == key else each for i, each in enumerate(made)),)

    return pulled


class JVPNode(Node):
    """A call with its tangent."""

    __slots__ = ("g",)

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
        rule = primitive_jvps.get(fun) or _pushforward(fun)
        self.g = rule(tuple(parent_argnums), [parent.g for parent in parents], value, args, kwargs)

    def initialize_root(self, g: Any) -> None:
        """Set the tangent of the argument."""
        self.g = g


def needed(x: Any) -> bool:
    """Return whether a value is of a kind that the program has registered, or in a trace of nodes."""
    if Box.type_mappings.get(type(x)) is ArrayBox:
        return False
    return any(is_traced(leaf) or is_of_program(leaf) for leaf in leaves(x))


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Return the pullback of a function, and its value, computed on a trace."""
    value, end = trace(VJPNode.new_root(), fun, x)
    if end is None:
        return lambda g: vspace(x).zeros(), value
    return functools.partial(backward_pass, end_node=end), value


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that maps a tangent to a value and its tangent, computed on a trace."""

    def pushed(g: Any) -> tuple[Any, Any]:
        """Return the value and its tangent."""
        end: Any  # a JVPNode
        value, end = trace(JVPNode.new_root(g), fun, x)
        return value, vspace(value).zeros() if end is None else end.g

    return pushed


def backward_pass(g: Any, end_node: Any) -> Any:
    """Return the gradient of the argument, from a cotangent of the result."""
    sums = {end_node: g}
    found = g
    for node in toposort(end_node):
        found = sums.pop(node)
        for parent, ingrad in zip(node.parents, node.vjp(found), strict=True):
            sums[parent] = add_outgrads(sums.get(parent), ingrad)
    return found


def add_outgrads(total: Any, g: Any) -> Any:
    """Return the sum of two gradients of one value; the first may be None."""
    if isinstance(g, SparseObject):
        return g.mut_add(g.vs.zeros() if total is None else g.vs.add(g.vs.zeros(), total))
    return g if total is None else vspace(g).add(total, g)


def sum_outgrads(gradients: Iterable[Any]) -> Any:
    """Return the sum of gradients of one value."""
    return functools.reduce(add_outgrads, gradients, None)


class SparseObject:
    """A gradient that is added to a dense gradient.

    Parameters
    ----------
    vs : VSpace
    mut_add : callable
        Takes an array, which it may write to, and returns the sum.
    """

    __slots__ = ("mut_add", "vs")

    def __init__(self, vs: Any, mut_add: Callable[[Any], Any]) -> None:
        self.vs, self.mut_add = vs, mut_add


def register_notrace(trace_type: type[Node], function: Any) -> None:
    """Say that results of a primitive have no derivatives."""
    constant.add(function)
