"""`EnclosingLevel`: a function's run on arrays that enclose other arrays, and the `Port` of its values."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import spec_of
from xpgrad.backend.device import Device
from xpgrad.backend.levels import Level
from xpgrad.backend.plugins import plugins
from xpgrad.config import NO_GRAD, switches
from xpgrad.errors import EscapedArray, GraphError
from xpgrad.graph.function_node import raw_rule
from xpgrad.graph.methods.copies import in_graph
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable, leaf_variable
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.transforms.leaves import ancestors
from xpgrad.types import Array

Outer = Sequence[Array | None]


class Port(NamedTuple):
    """A pair of linear maps between arrays outside of a transformation and one array inside, adjoint to each other.

    An input is lifted by `inward`, and its gradient returned by `outward`. An output is returned by `outward`, and its
    cotangents are lifted by `inward`. So the port of an input is also the port of its gradient, which is an output of
    the sweep; and the port of an output is also the port of its cotangents, which are an input.

    Attributes
    ----------
    inward : callable
        From a sequence of outer raw arrays, with None for absent (but not all) arrays, to an inner raw array.
    outward : callable
        From an inner raw array to a list of as many outer arrays; None for absent arrays, which means zero.
    """

    inward: Callable[[Outer], Array]
    outward: Callable[[Array], list[Array | None]]


class EntryRoot(NamedTuple):
    """Variables outside of a transformation, and the root that replaces them within.

    Attributes
    ----------
    outside : sequence of Variable or None
    inside : Variable
    port : Port
    """

    outside: Sequence[Variable | None]
    inside: Variable
    port: Port


class EnclosingLevel(Level):
    """One run of a function on arrays that enclose arrays of the level below, and of the sweeps through its graph.

    Its Variables form a separate graph. `enclosing.node.connected` connects its outputs to its inputs; a sweep outside
    then continues inside, for which the level becomes active again.

    Attributes
    ----------
    entries : list of EntryRoot
        The Variables that require a gradient, in the order of their entrance.
    captured : dict
        The Variables that the function has from elsewhere, by identity, with what replaces them.
    outside : set of int
        Identities of the lifted arrays of the level below, until the function has returned. The identity of a freed
        array may be reused by another array, which is then copied unnecessarily.
    """

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.entries: list[EntryRoot] = []
        self.captured: dict[int, tuple[Variable, EntryRoot, Array | None]] = {}
        self.outside: set[int] = set()
        self._pulling: list[None] = []

    # Differences between transformations

    @abstractmethod
    def backend(self, base: Backend) -> TransformedBackend:
        """Return the backend of this level over `base`."""

    @abstractmethod
    def constant(self, array: Array) -> Array:
        """Lift an array of the level below, which the function captures, to this level."""

    @abstractmethod
    def captured_port(self) -> Port:
        """Return the port by which captured Variables are lifted, and their gradients returned."""

    # Running

    def pull(self, function: Callable[..., Any], /, *args: Any) -> Any:
        """Return ``function(*args)``, called at this level; it may sweep up to the lifted Variables."""
        self._pulling.append(None)
        try:
            return self.run(function, *args)
        finally:
            self._pulling.pop()

    # Entering

    def device(self, device: Device) -> Device:
        """Return the device of this level over a device of a lower level."""
        own = device.backend
        if isinstance(own, TransformedBackend) and own.depth >= self.depth:
            return device
        if self.outer is not None:
            device = self.outer.device(device)
        return self.backend(device.backend).over(device)

    def enter(self, array: Array) -> Array:
        """Return an array of a lower level as one of this level.

        Raises
        ------
        EscapedArray
            The array belongs to a transformation that does not enclose this level.
        """
        if self.outer is not None and not self.outer.holds(array):
            array = self.outer.enter(array)
        spec = spec_of(array, self.title)
        if isinstance(spec.backend, TransformedBackend) and spec.backend.depth >= self.depth:
            raise EscapedArray(
                f"{self.title}: an array of another call of a transformation was used; pass it as an argument, or "
                "return it from the function to which it belongs"
            )
        self.outside.add(id(array))
        return self.constant(array)

    def enter_variable(self, x: Variable) -> Variable:
        """Return the replacement of a Variable that the function captures, always the same Variable."""
        if (found := self.captured.get(id(x))) is not None:
            return found[1].inside
        below = x
        if self.outer is not None and not (x._array is not None and self.outer.holds(x._array)):
            below = self.outer.enter_variable(x)
        if below._array is None:
            entry = EntryRoot((below,), root(None, x.requires_grad), self.captured_port())
        else:
            entry = self.entered((below,), self.enter(below._array), self.captured_port())
        if x.name is not None:
            entry.inside.name = x.name
        self.captured[id(x)] = x, entry, entry.inside._array
        return entry.inside

    @staticmethod
    def below(array: Array) -> Backend:
        """Return the backend of an array of the level below."""
        return plugins.backend_of(array)

    def entered(self, outside: Sequence[Variable | None], array: Array, port: Port) -> EntryRoot:
        """Record Variables of the level below that were lifted to one `array` of this level."""
        known = [x for x in outside if x is not None]
        self.outside.update(id(x._array) for x in known)
        entry = EntryRoot(outside, root(array, any(x._node.requires_grad for x in known)), port)
        if entry.inside._node.requires_grad:
            entry.inside._node.own_extra().passed = any(map(in_graph, known))
            self.entries.append(entry)
        return entry

    @property
    def tangents(self) -> Any:
        """The object that splits Variables into primals and tangents, from the nearest level in forward mode."""
        return None if self.outer is None else self.outer.tangents

    def shown(self, array: Array) -> Array:
        """Return the array without tangents: it is disconnected, except in the user's gradients of a raw sweep."""
        backend = plugins.backend_of(array)
        if not backend.carries_tangents or raw_rule.get() is not None or switches().mode & NO_GRAD:
            return array
        return backend.stopped(array)

    def origins(self, node: VariableNode) -> list[VariableNode]:
        """Return the nodes of the Variables that were lifted to the root of `node`."""
        entered = (entry.outside for entry in self.entries if entry.inside._node is node)
        return [x._node for outside in entered for x in outside if x is not None]

    # Sweeps and stored gradients

    def check_sweep(self, outputs: Iterable[Any], inputs: Iterable[Any] | None = None) -> None:
        """Raise `GraphError` if a Variable is reached that was computed outside, where this sweep cannot go on."""
        if self._pulling or not self.entries:
            return
        border = {e.inside._node: e for e in self.entries if any(_computed(x) for x in e.outside)}
        if inputs is not None:  # their ancestors matter only if some input is from outside
            captured = {entry.inside._node for _, entry, _ in self.captured.values()}
            asked = captured & {x._node for x in inputs}
            border = {node: entry for node, entry in border.items() if asked - {node}}
        if border and any(node in border for node in ancestors(outputs)):
            raise GraphError(
                f"{self.title}: a backward computation within the function reaches a Variable that was computed "
                "outside of it; compute it within the function, or pass it as an argument and differentiate by that"
            )

    def store(self) -> None:
        """Add the gradients that the function has computed for captured Variables to theirs, and store new arrays."""
        for x, entry, first in list(self.captured.values()):
            inside, below = entry.inside, entry.outside[0]
            if below is None:
                continue
            if inside._array is not first and inside._array is not None:
                below.array = self.stored(inside._array, x)
            if inside._grad is not None:
                given = inside._grad._array if isinstance(inside._grad, Variable) else inside._grad
                g = self.stored_gradient(given, entry.port)
                inside._grad = None
                if g is not None:
                    below.grad = g if below.grad is None else plugins.backend_of(g).xp.add(below.grad, g)

    def stored_gradient(self, g: Array, port: Port) -> Array | None:
        """Return a gradient that the function has computed for a captured Variable as one of the level below."""
        (outside,) = port.outward(g)
        return outside

    @abstractmethod
    def stored(self, array: Array, x: Variable) -> Array:
        """Return an array that the function has given to the captured `x` as one of the level below, or raise."""


def root(array: Array | None, requires_grad: bool) -> Variable:
    """Return a Variable over an array of any level, which no level replaces."""
    return leaf_variable(array, None if array is None else plugins.by_type[type(array)].spec(array), requires_grad)


def _computed(x: Variable | None) -> bool:
    return x is not None and x._node.creator_node is not None
