"""`TraceLevel`: the transformation that records a function, and the arrays and Variables that it has from outside."""

import gc
import types
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

from xpgrad.backend.backend import Backend
from xpgrad.backend.checks import spec_of
from xpgrad.backend.device import Device
from xpgrad.backend.levels import Level
from xpgrad.backend.plugins import plugins
from xpgrad.graph.methods.copies import in_graph
from xpgrad.graph.node import VariableNode
from xpgrad.graph.variable import Variable, variable_over
from xpgrad.transforms.enclosing.level import root
from xpgrad.transforms.leaves import ancestors
from xpgrad.transforms.trace.array import TracedArray
from xpgrad.transforms.trace.backend import TraceBackend, over
from xpgrad.transforms.trace.guards.objects import ARRAY, is_small, kind_of
from xpgrad.transforms.trace.program import Value
from xpgrad.transforms.trace.recording import Recording
from xpgrad.transforms.trace.watch import OutsideWatch
from xpgrad.types import Array


class InputSource(NamedTuple):
    """Where an input of a program comes from at each call.

    Attributes
    ----------
    kind : str
        "argument": the array of the leaf number `holder` of the arguments, or its gradient ("gradient of an argument");
        "array", "gradient": array or gradient of the Variable `holder`; "constant": the array `holder` itself;
        "number": value of the `Number` `holder`, computed from Python floats among the arguments.
    holder : int, Variable, array or Number
    """

    kind: str
    holder: Any


class Unrecordable(BaseException):
    """A traced function performed an operation that is only possible without a level; it is called again.

    It is never seen by users, whose handlers must not catch it.

    Attributes
    ----------
    level, facts : TraceLevel, Observer
        The run, and the values that the function had read and set before.
    places : list of Effect
        Where it had replaced arrays from outside.
    again : bool
        Whether this may be so at its first call only, as the next ones find what it has made.
    """

    facts: Any

    def __init__(self, level: "TraceLevel", text: str, places: Iterable[Any] = (), *, again: bool = False) -> None:
        super().__init__(text)
        self.level, self.places, self.again = level, list(places), again


MAX_OBJECTS = 10_000
"""How many objects that a stored one refers to are looked at."""
OUTER = "a Variable that was computed outside; compute it within the function"


class Captured:
    """An outer Variable of a traced function, and its replacement while the function runs.

    `number` is that of a leaf of the arguments; None for a captured Variable. With `first`, a Variable over the node
    that `inside` has at the beginning, gradients arrive; `array` and `grad` are those of `inside` then.
    """

    __slots__ = ("array", "first", "grad", "inside", "number", "outside")

    def __init__(self, outside: Variable, inside: Variable, number: int | None) -> None:
        self.outside, self.inside, self.number = outside, inside, number
        self.array, self.grad = inside._array, inside._grad
        self.first = variable_over(inside._node, inside._array)

    @property
    def source(self) -> InputSource:
        """Where its array comes from."""
        return InputSource("array", self.outside) if self.number is None else InputSource("argument", self.number)


class TraceLevel(Level):
    """One run of a function whose calls are recorded.

    Attributes
    ----------
    recording, inputs : Recording, list of Value
        The calls, and the inputs in the order of their first use; `sources` has their origins.
    captured : dict from id to Captured
        The outer Variables, by their identity and by the identity of their replacement.
    swept : weak set of VariableNode
        Where the function has started backward computations.
    read, shared : set of Value, set of int
        Inputs from outside whose elements are read: they are guarded; the Variables among the arguments, by the numbers
        of their leaves, that the function has from outside as well.
    watch : OutsideWatch
        Notices writes to arrays from outside that are not recorded.
    """

    transformation = "trace"

    def __init__(self, title: str, strict: bool) -> None:
        super().__init__(title)
        self.recording = Recording(self, strict)
        self.inputs: list[Value] = []
        self.sources: list[InputSource] = []
        self.captured: dict[int, Captured] = {}
        self.swept: weakref.WeakSet[VariableNode] = weakref.WeakSet()
        self.watch = OutsideWatch()
        self.facts: Any = None  # of the trace
        self.read: set[Value] = set()
        self.shared: set[int] = set()
        self._entered: dict[int, TracedArray] = {}
        self._constants: dict[int, TracedArray] = {}

    def backend(self, base: Backend) -> TraceBackend:
        """Return the backend of this level over `base`."""
        return over(base, self.depth)

    def holds(self, array: Array) -> bool:
        """Return whether `array` is of this level."""
        return isinstance(array, TracedArray) and array.backend.depth == self.depth

    def input(self, array: Array, source: InputSource) -> TracedArray:
        """Return an array from outside as an input of the program."""
        backend = plugins.backend_of(array)
        value = Value(backend.spec(array))
        self.inputs.append(value)
        self.sources.append(source)
        made: TracedArray = self.backend(backend).kind(self.recording, value, array)
        self._entered.setdefault(id(array), made)
        return made

    def enter(self, array: Array) -> TracedArray:
        """Lift a captured array, a constant of the program by reference, also if it is that of an argument."""
        found = self._constants.get(id(array))
        if found is None:
            if self.outer is not None and not self.outer.holds(array):
                array = self.outer.enter(array)
            spec_of(array, self.title)
            found = self._constants[id(array)] = self.input(array, InputSource("constant", array))
            self.watch.add(array)
        return found

    def guard_values(self, value: Value) -> bool:
        """Return whether a value is a small array from outside, after noting that its elements are read."""
        found = [s.holder for x, s in zip(self.inputs, self.sources, strict=True) if x is value]
        if not found or self.facts is None or kind_of(found[0]) is not ARRAY or not is_small(found[0]):
            return False
        self.read.add(value)
        self.facts.array(found[0])
        return True

    def entered(self, x: Any) -> TracedArray:
        """Return an array of any level as one of this level."""
        return x if self.holds(x) else self.enter(x)

    def all_entered(self) -> list[TracedArray]:
        """Return all lifted arrays."""
        return list(self._entered.values())

    def escapes_in(self, obj: Any) -> bool:
        """Return whether an object is an array of this level, or refers to one, also in a closure or a generator."""
        waiting, seen = [obj], set[int]()
        while waiting and len(seen) < MAX_OBJECTS:
            x = waiting.pop()
            if id(x) in seen or isinstance(x, (type, types.ModuleType, types.CodeType)):
                continue
            seen.add(id(x))
            array = x._array if isinstance(x, Variable) else x
            if array is not None and self.holds(array):
                return True
            space = getattr(x, "__globals__", None) if isinstance(x, types.FunctionType) else None
            found = () if isinstance(x, Variable) else gc.get_referents(x)
            waiting += [each for each in found if each is not space]
        return False

    def enter_variable(self, x: Variable) -> Variable:
        """Return the replacement of an outer Variable: its array and gradient are read at each call of the program."""
        found = self.captured.get(id(x)) or self.capture(x)
        if found.number is not None and x is found.outside:
            self.shared.add(found.number)
        return found.inside

    def capture(self, x: Variable, number: int | None = None) -> Captured:
        """Replace an outer Variable, which is leaf `number` of the arguments, or captured."""
        holder = x if number is None else number
        kind, grad_kind = ("array", "gradient") if number is None else ("argument", "gradient of argument")
        entered: Any = None if x._array is None else self.input(x._array, InputSource(kind, holder))
        inside = root(entered, x.requires_grad)
        inside._node.own_extra().passed = in_graph(x)
        if x._node.extra is not None:
            extra = inside._node.own_extra()
            extra.name, extra.hooks = x._node.extra.name, x._node.extra.hooks
        if x._grad is not None:
            array = x._grad._array if isinstance(x._grad, Variable) else x._grad
            inside._grad = self.input(array, InputSource(grad_kind, holder))
        found = self.captured[id(x)] = self.captured[id(inside)] = Captured(x, inside, number)
        return found

    def device(self, device: Device) -> Device:
        """Return the device of this level over a device of a lower level."""
        own = device.backend
        if isinstance(own, TraceBackend) and own.depth == self.depth:
            return device
        return self.backend(own).over(device)

    def check_sweep(self, outputs: Iterable[Any], inputs: Iterable[Any] | None = None) -> None:
        """Raise `Unrecordable` if a Variable that was computed outside, and could have more gradients, is reached."""
        required = (c for c in self.all_captured() if c.first._node.requires_grad)
        border = {c.first._node: c for c in required if c.outside._node.creator_node is not None}
        if not border:
            return
        if inputs is not None:
            asked = {id(c) for x in inputs if (c := self.captured.get(id(x))) is not None}
            border = {node: c for node, c in border.items() if asked - {id(c)}}
        if any(node in border for node in ancestors(outputs)):
            raise Unrecordable(self, f"a backward computation reaches {OUTER}")

    def check_cut(self, x: Any) -> None:
        """Raise `Unrecordable` if `x` was computed outside."""
        found = self.captured.get(id(x))
        made = found is None and x._array is not None and self.holds(x._array)
        if not made and (x if found is None else found.outside)._node.creator_node is not None:
            raise Unrecordable(self, f"the graph is cut at {OUTER}")

    def all_captured(self) -> list[Captured]:
        """Return the outer Variables of `captured`, each once."""
        return list(dict.fromkeys(self.captured.values()))

    def forget(self) -> None:
        """Drop all arrays, after the level has ended."""
        self._entered, self._constants, self.captured, self.watch = {}, {}, {}, OutsideWatch()
        self.recording.calls, self.recording.held = [], None
        del self.recording  # which refers to the level

    def note_outside(self, what: str, remedy: str) -> None:
        """Note that the function did something that a program cannot repeat, so that no program is recorded."""
        self.recording.fail(what, remedy)

    def refuse(self, text: str) -> None:
        """Raise `Unrecordable`: the function is called again without this level."""
        raise Unrecordable(self, text)

    def note_snapshot(self) -> None:
        """Note that random numbers may be drawn again: a repeated draw gives the value of the first draw."""
        if self.recording.drawn is None:
            self.recording.drawn = {}

    def note_sweep(self, nodes: Iterable[VariableNode]) -> None:
        """Note where a backward computation starts."""
        self.swept.update(nodes)
