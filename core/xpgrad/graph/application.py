"""`Application`: the function node that records one call of a primitive in the graph."""

from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import GraphError
from xpgrad.graph import carried
from xpgrad.graph.exchange import lock
from xpgrad.graph.function_node import RELEASED, FunctionNode, made
from xpgrad.graph.hooked import HookedPullback
from xpgrad.graph.node import FunctionBase, VariableNode
from xpgrad.graph.outputs import output
from xpgrad.graph.pullback import Pullback
from xpgrad.graph.variable import Variable, constant_variable, over
from xpgrad.types import Array
from xpgrad.watch import inspection

other_labels: dict[str, str] = {}
other_names: dict[str, str] = {}
"""Labels and names that functions have instead of their own, in programs that were written for another library."""


class Application(FunctionNode):
    """One call of a primitive: its input nodes and the arrays that its rules require.

    Slots that no rule requires stay empty.
    Deep graphs are fast with few objects that Python's garbage collector tracks, so the tuple of input nodes is created
    only on request or for more than two inputs.

    Attributes
    ----------
    input, other : VariableNode or None
        The nodes of the first two inputs; if the primitive takes more or a sequence, `input` is the tuple of all.
    first, second : array
        The first two inputs.
    result : array
        The output.
    rest : dict or scalar
        Further inputs, specs and parameters by name; otherwise the scalar operand, for the label.
    """

    __slots__ = ("__weakref__", "first", "input", "other", "pullback", "rank", "rest", "result", "second")

    __new__ = object.__new__

    input: Any
    other: VariableNode | None
    pullback: Pullback
    first: Array
    second: Array
    result: Array
    rest: Any

    def __reduce__(self) -> Any:
        raise GraphError(f"copy: {self.label} is part of a graph; copy a Variable that it made, or pickle v.array")

    @property
    def input_nodes(self) -> Any:
        """Nodes of the inputs, None for a constant before another input; None if the function was unchained."""
        node, other = self.input, self.other
        if other is not None:
            return node, other
        return node if node is None or type(node) is tuple else (node,)

    @property
    def inputs(self) -> Any:
        """Nodes of the inputs, also used by code that walks the graph; None if the function was unchained.

        Constant arrays after the last input with a node are left out. Earlier inputs get a new node each time, with the
        array if a rule keeps it, because the graph has no node for them.
        """
        nodes = self.input_nodes
        if nodes is None or None not in nodes:
            return nodes
        pairs = self._kept_pairs()
        while pairs[-1][0] is None:
            pairs.pop()
        return tuple(_constant(array) if node is None else node for node, array in pairs)

    @inputs.setter
    def inputs(self, nodes: tuple[VariableNode | None, ...] | None) -> None:
        self.other = None
        if nodes is None or self.pullback.several:
            self.input = nodes
        else:
            self.input, self.other = (*nodes, None)[:2]

    @property
    def outputs(self) -> None:
        """None: the node of the output refers to its function, but not the reverse, which saves 40 ns and 72 bytes."""
        return None

    @property
    def label(self) -> str:
        """The primitive's name, or an operator with blanks for its operands and its scalar operand."""
        pullback = self.pullback
        if pullback is RELEASED or pullback is None:
            return "a released function" if pullback is RELEASED else "an unchained function"
        label = pullback.definition.label
        if label in other_labels:
            return other_labels[label]
        if "{" in label:
            return label.format_map({k: _operand(v) for k, v in self.rest.items()})
        if label.count("_") != 2 or len(pullback.definition.inputs) != 2:
            return label
        left, symbol, right = label.split(" ")
        if self.input is None:
            left = _operand(getattr(self, "rest", None))
        elif self.other is None:
            right = _operand(getattr(self, "rest", None))
        return f"{left} {symbol} {right}"

    @property
    def _impl_name(self) -> str:
        if self.pullback in (RELEASED, None):
            return self.label
        return other_names.get(self.pullback.definition.name, self.pullback.definition.name)

    @property
    def unchained(self) -> bool:  # type: ignore[override]  # a constant for functions that know their outputs
        """Whether the function was cut out of the graph; its output becomes a root at the next access."""
        return self.pullback is None

    def kept_inputs(self) -> tuple[Any, ...]:
        """Return the array of each array input, None for inputs that were not retained; used by hooks."""
        return tuple(carried.visible(array) for _, array in self._kept_pairs())

    def get_retained_inputs(self) -> tuple[Any, ...]:
        """Return the retained inputs as Variables of the graph."""
        return tuple(
            constant_variable(array) if node is None else over(node, array)
            for node, array in self._kept_pairs()
            if array is not None
        )

    def get_retained_outputs(self) -> tuple[Any, ...]:
        """Return the output as a Variable of the graph, if a rule requires it."""
        y = getattr(self, "result", None)
        if y is None:
            return ()
        return (over(self._adopted(output(y, plugins.backend_of(y).spec(y), None, 0)._node, 0), y),)

    def _kept_pairs(self) -> list[tuple[VariableNode | None, Any]]:
        """Return node and array of each array input, None for unknown nodes and arrays."""
        if self.input_nodes is None:
            return []
        rest = getattr(self, "rest", {})
        with_scalar = not isinstance(rest, dict)
        places = self.pullback.definition.inputs
        nodes = self.input if self.pullback.several else (self.input, self.other)[: len(places)]
        pairs = []
        for place, node in enumerate(nodes):
            if node is None and with_scalar:
                continue
            if len(places) != len(nodes) and not with_scalar:
                value = None  # variadic: its rule requires no arrays
            elif place < 2:
                value = getattr(self, ("first", "second")[place], None)
            else:
                value = None if with_scalar else rest.get(places[place])
            pairs.append((node, value if type(value) in plugins.by_type else None))
        return pairs

    @property
    def _hooks(self) -> dict[str, Any] | None:  # on the pullback, where hooks cost nothing when unused
        return getattr(self.pullback, "hooks", None)

    @property
    def _guards(self) -> inspection.Guards | None:  # there, too
        return getattr(self.pullback, "guards", None)

    def _own_hooks(self) -> dict[str, Any]:
        if self.pullback in (RELEASED, None):
            raise GraphError(f"hooks: this is {self.label}, which no sweep passes any more")
        with lock:
            if not isinstance(self.pullback, HookedPullback):
                self.pullback = HookedPullback(self.pullback, {}, [])
            hooks: dict[str, Any] = self.pullback.hooks
        return hooks

    def guard(self) -> None:
        """Guard the retained arrays, so that a sweep detects writes to them."""
        kept = [getattr(self, slot, None) for slot in ("first", "second", "result")]
        rest = getattr(self, "rest", None)
        kept += rest.values() if isinstance(rest, dict) else ()
        self.pullback = HookedPullback(self.pullback, {}, inspection.guards(kept))

    def release(self) -> None:
        """Release the retained arrays; a later sweep of this function raises."""
        self.pullback = RELEASED  # first, so that a sweep that misses a value below raises this
        self.first = self.second = self.result = self.rest = None

    def unchain(self) -> None:
        """Cut this function out of the graph: it forgets everything, and its output becomes a root."""
        self.release()
        self.input = self.other = self.pullback = None  # type: ignore[assignment]  # as if it was never applied


class DebugApplication(Application):
    """An application in debug mode, with the place in the program that made it."""

    __slots__ = ("_origin", "stack")


def _constant(array: Any) -> VariableNode:
    """Return a new node of a constant, which retains the array if it is known."""
    x = Variable(array, requires_grad=False)
    if array is not None:
        x.retain_data()
    return x._node


def _operand(scalar: Any) -> str:
    if not plugins.is_scalar(scalar):
        return getattr(scalar, "__name__", "constant array")
    return f"({scalar})" if not isinstance(scalar, complex) and scalar < 0 else str(scalar)


# Only now: a class whose base has such a method when it is made takes three times as long to call, and this is the call
# path of every operation. Users' own classes are made later.
FunctionNode.__new__ = made  # type: ignore[method-assign,assignment]  # mypy wants methods set in the class


def released(f: FunctionBase) -> GraphError:
    """Return the error for a sweep through a function whose retained arrays were released."""
    return GraphError(
        "the graph was swept with retain_graph=False, so its functions dropped what their gradients need; "
        "compute it again, or sweep with retain_graph=True"
    )
