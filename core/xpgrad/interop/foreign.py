"""Functions of another framework in our graph: their gradients are computed by its engine.

A call is one node of the graph. A recorded sweep requests from the tape of the call the tape of its pullback, which
becomes the next node; so every order works if the framework supports this order.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.device import Device
from xpgrad.backend.levels import around, innermost
from xpgrad.backend.plugins import plugins
from xpgrad.config import at_level, called_with, config
from xpgrad.errors import BackendMismatch, BatchError, DeviceMismatch, GraphError, UnknownArray
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable, inside
from xpgrad.interop.framework import Framework, Tape
from xpgrad.transforms.call import recording
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.array import TracedArray
from xpgrad.transforms.trace.level import TraceLevel
from xpgrad.transforms.trees import Path, where
from xpgrad.types import Array
from xpgrad.watch import inspection


def call(title: str, framework: Framework, device: Device | None, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return ``f(*args, **kwargs)``, for a function of a framework, with Variables in place of its arrays.

    Parameters
    ----------
    title : str
        Its name in messages.
    device : Device or None
        The framework's device that Variables and arrays are sent to; by default they stay in their memory.
    f : callable
        It receives arrays of the framework for Variables and for arrays of other libraries. Other arguments, including
        arrays of the framework, are passed unchanged.

    Returns
    -------
    tree
        The result of `f`, with a Variable for each array of the framework, on the device of the arguments.
    """
    leaves, paths, build = framework.flatten((args, kwargs))
    inputs: dict[int, Variable] = {}
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Variable) and leaf._array is None:
            raise UnknownArray(f"{title}: {place_of(paths[i])}: the Variable is uninitialised; set its array first")
        if isinstance(leaf, Variable) or (is_array(leaf) and not framework.owns(leaf)):
            inputs[i] = leaf if isinstance(leaf, Variable) else constant_variable(leaf)
    variables = [inside(x) for x in inputs.values()]
    raw = [opened(x, title) for x in variables]
    home = _home(title, raw, paths, list(inputs)) or framework.backend.default_device
    foreign = []
    for array, i in zip(raw, inputs, strict=True):
        try:
            foreign.append(framework.enter(array, device))
        except Exception as error:
            error.add_note(f"in {title}: {place_of(paths[i])}")
            raise

    def filled(arrays: Sequence[Array]) -> Any:
        given = dict(zip(inputs, arrays, strict=True))
        positional, named = build([given.get(i, leaf) for i, leaf in enumerate(leaves)])
        return f(*positional, **named)

    recorded = recording()
    active = [i for i, x in enumerate(variables) if (recorded and x._node.requires_grad) or has_tangent(x)]
    try:
        run = framework.run(f, filled, foreign, active, recorded or bool(active))
    except Exception as error:
        got = ", ".join(f"{plugins.backend_of(a).spec(a)!r}" for a in raw) or "no arrays"
        error.add_note(f"in {title}, called with {got}")
        raise
    results: Sequence[Variable | None] = []
    if run.tape is not None:
        homes = [Home(home, traced=True)] * len(run.tape.outputs)
        node = ForeignFunction(title, framework, run.tape, homes, result=True)
        results = node.connected([variables[i] for i in active])
    made: list[Any] = []
    for leaf, place in zip(run.leaves, run.places, strict=True):
        if place is not None:
            made.append(results[place])
        elif framework.owns(leaf):
            made.append(constant_variable(framework.leave(leaf, home, result=True)))
        else:
            made.append(leaf)
    return run.build(made)


class Home(NamedTuple):
    """The target device of an array, and whether the array is part of a trace; captured arrays are not."""

    device: Device
    traced: bool

    @classmethod
    def of(cls, spec: Any) -> "Home":
        """Return the home of an array with this spec."""
        backend, traced = spec.backend, False
        while isinstance(backend, TransformedBackend):
            traced = traced or issubclass(backend.array_types[0], TracedArray)
            backend = backend.base
        return cls(backend.device_for(spec.device), traced)


class ForeignFunction(FunctionNode):
    """A completed call of another framework's function: the outputs come from its tape.

    A class, because a user's function defines inputs and outputs, and a framework gradients. Forward mode
    transposes them.

    Parameters
    ----------
    title : str
    framework : Framework
    tape : Tape
    homes : list of Home
        Where the outputs go.
    result : bool
        Whether the outputs are results of the user's function.
    """

    of_library = True
    transposes = True

    def __init__(self, title: str, framework: Framework, tape: Tape, homes: Sequence[Home], *, result: bool) -> None:
        self.title, self.framework, self.homes, self.result = title, framework, homes, result
        self.tape: Tape | None = tape
        self.captured = tape.captured  # kept alive: sweeps store their gradients
        self.present = [i for i, y in enumerate(tape.outputs) if y is not None]

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.title

    def connected(self, inputs: Sequence[Variable]) -> list[Variable | None]:
        """Return the outputs, connected to `inputs` and to captured Variables; None for missing outputs."""
        captured = map(inside, self.captured) if isinstance(innermost(), DualLevel) else self.captured
        found = dict(zip(self.present, self.apply([*inputs, *captured]), strict=True))
        return [found.get(i) for i in range(len(self.homes))]

    def apply(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Return the outputs that exist; the inputs may be of several libraries."""
        variables = [x if isinstance(x, Variable) else outside(x) for x in inputs]
        arrays = tuple(x._array for x in variables)
        if config.debug:
            inspection.note(self)
        return self._connect(variables, arrays, self._forward(arrays), recording=recording())

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs of the tape."""
        if self.tape is None:
            raise self._released()
        self.retain_inputs(range(len(inputs)))  # also so that changes of these are detected
        self.retain_outputs(range(len(self.present)))
        level = next((x.recording.level for x in inputs if isinstance(x, TracedArray)), None)
        outputs = []
        for i in self.present:
            array = self.framework.leave(self.tape.outputs[i], self.homes[i].device, result=self.result)
            outputs.append(level.enter(array) if level is not None and self.homes[i].traced else array)
        return tuple(outputs)

    def _checked_outputs(self, outputs: Any) -> tuple[Array, ...]:
        return tuple(outputs)  # gradients may be of several libraries

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients that the framework computes."""
        if self.tape is None:
            raise self._released()
        given: list[Variable | None] = [None] * len(self.tape.outputs)
        for place, g in zip(self.present, grad_outputs, strict=True):
            given[place] = g
        cotangents = [
            None if g is None else self._cotangent(g, y) for g, y in zip(given, self.tape.outputs, strict=True)
        ]
        targets = target_input_indexes
        homes = [Home.of(self.inputs[i].spec) for i in targets]
        dual = any(node.spec.backend.carries_tangents for node in self.inputs)
        if not recording() and not dual:
            found = zip(self.tape.pull(cotangents, targets), homes, strict=True)
            return tuple(None if g is None else self._gradient(g, home) for g, home in found)
        tape = self.tape.pulled(cotangents, targets)
        node = ForeignFunction(f"gradient of {self.title}", self.framework, tape, homes, result=False)
        return tuple(node.connected([*self.get_retained_inputs(), *(g for g in given if g is not None)]))

    def _cotangent(self, g: Variable, y: Any) -> Array:
        return self.framework.enter(opened(g, self.label), self.framework.backend.device_of(y))

    def _gradient(self, g: Array, home: Home) -> Variable:
        array = self.framework.leave(g, home.device, result=False)
        level = around() if home.traced else None
        while level is not None and not isinstance(level, TraceLevel):
            level = level.outer
        return outside(array if level is None else level.enter(array))

    def _released(self) -> GraphError:
        return GraphError(f"{self.label}: its tape was released by a sweep with retain_graph=False")

    def release(self) -> None:
        """Drop the tape."""
        super().release()
        self.tape = None


def outside(array: Array) -> Variable:
    """Return a Variable over `array` that requires no gradient and is not part of an active transformation."""
    found: Variable = called_with(at_level(None), constant_variable, array)
    return found


def opened(x: Variable, title: str) -> Array:
    """Return the array of a Variable without the transformations that are active.

    The array of a dual number is its primal, because forward mode transposes the gradient. A traced array gives its
    values and prevents a program, because calls of another framework cannot be in a program.

    Raises
    ------
    BatchError
        Within a transformation whose arrays have no values for another framework, such as `vmap`.
    """
    level = around()
    while level is not None:
        if not isinstance(level, (TraceLevel, DualLevel)):
            raise BatchError(
                f"{title}: arrays within {level.title} cannot be passed to another framework; call it outside of "
                f"{level.title}, for the whole batch, or use the framework's own transformation within the function"
            )
        level = level.outer
    array = x._array
    while isinstance(array, (TracedArray, DualArray)):
        if isinstance(array, TracedArray):
            array.recording.level.check()
            array.recording.fail(f"{title} was called", "call it outside of the compiled function")
            array = array.values
        else:
            array = array.primal
    return array


def has_tangent(x: Variable) -> bool:
    """Return whether a Variable is of floating-point numbers, within forward mode."""
    spec: Any = x._node.spec
    return bool(spec.backend.carries_tangents and spec.differentiable)


def place_of(path: Path) -> str:
    """Return the text for the path of a leaf in ``(args, kwargs)``: ``argument 0 at ['w']``."""
    return f"argument {path[1]!r}{where(path[2:])}"


def _home(title: str, arrays: Sequence[Array], paths: Sequence[Path], places: Sequence[int]) -> Device | None:
    """Return the device that all arrays are on, None if there are no arrays."""
    home: Device | None = None
    for array, i in zip(arrays, places, strict=True):
        backend = plugins.backend_of(array)
        found = backend.device_of(array)
        if home is None:
            home = found
        elif found != home:
            error = DeviceMismatch if found.backend is home.backend else BackendMismatch
            raise error(
                f"{title}: expected arrays of one device, got {home} and, for {place_of(paths[i])}, {found}; move "
                "them with to_device"
            )
    return home
