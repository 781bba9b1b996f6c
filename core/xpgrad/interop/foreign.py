"""Functions of another framework in our graph: their gradients are computed by its engine.

A call is one node of the graph. A recorded sweep asks the tape of the call for the tape of its pullback, which makes
the next node; so every order works if the framework's does.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.device import Device
from xpgrad.backend.levels import around, entered
from xpgrad.backend.plugins import plugins
from xpgrad.config import at_level, called_with, config
from xpgrad.errors import BackendMismatch, DeviceMismatch, GraphError, UnknownArray
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.interop.framework import Framework, Tape
from xpgrad.transforms.call import recording
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
        What messages call it.
    device : Device or None
        The framework's device that Variables and arrays are sent to; by default they stay in their memory.
    f : callable
        It gets arrays of the framework for Variables and for arrays of other libraries. Other arguments, arrays of the
        framework among them, are passed on as they are.

    Returns
    -------
    tree
        What `f` returned, with a Variable for each array of the framework, on the device of the arguments.
    """
    leaves, paths, build = framework.flatten((args, kwargs))
    inputs: dict[int, Variable] = {}
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Variable) and leaf._array is None:
            raise UnknownArray(f"{title}: {place_of(paths[i])}: the Variable is uninitialised; set its array first")
        if isinstance(leaf, Variable) or (is_array(leaf) and not framework.owns(leaf)):
            inputs[i] = leaf if isinstance(leaf, Variable) else constant_variable(leaf)
    variables = list(inputs.values())
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
    active = [i for i, x in enumerate(variables) if recorded and x._node.requires_grad]
    try:
        run = framework.run(f, filled, foreign, active, recorded)
    except Exception as error:
        got = ", ".join(f"{plugins.backend_of(a).spec(a)!r}" for a in raw) or "no arrays"
        error.add_note(f"in {title}, called with {got}")
        raise
    results: Sequence[Variable | None] = []
    if run.tape is not None:
        homes = [Home(home, inside=True)] * len(run.tape.outputs)
        node = ForeignFunction(title, framework, run.tape, homes, device, result=True)
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
    """Where an array goes, and whether it enters the transformations that are active, as for `compile`.

    What the framework's function captured is not in them.
    """

    device: Device
    inside: bool

    @classmethod
    def of(cls, spec: Any) -> "Home":
        """Return where the array of a spec is."""
        backend = spec.backend
        while issubclass(backend.array_types[0], TracedArray):
            backend = backend.base
        return cls(backend.device_for(spec.device), backend is not spec.backend)


class ForeignFunction(FunctionNode):
    """A call of another framework's function.

    A class, because its inputs and outputs are those of a user's function, and its gradients are not ours.

    Parameters
    ----------
    title : str
    framework : Framework
    tape : Tape
    homes : list of Home
        Where the outputs go.
    device : Device or None
        As for `call`.
    result : bool
        Whether the outputs are those of the user's function.
    """

    of_library = True

    def __init__(
        self, title: str, framework: Framework, tape: Tape, homes: "Sequence[Home]", device: Device | None, *,
        result: bool,
    ) -> None:  # fmt: skip
        self.title, self.framework, self.homes, self.device, self.result = title, framework, homes, device, result
        self.tape: Tape | None = tape
        self.captured = tape.captured  # kept alive: sweeps store their gradients

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.title

    def connected(self, inputs: Sequence[Variable]) -> list[Variable | None]:
        """Return the outputs, connected to `inputs` and what the tape captured."""
        tape: Any = self.tape
        present = [i for i, y in enumerate(tape.outputs) if y is not None]
        arrays = tuple(self._left(tape.outputs[i], self.homes[i]) for i in present)
        variables = [*inputs, *self.captured]
        self._kept_inputs = dict.fromkeys(range(len(variables)))  # also for those who look whether they are changed
        self._kept_outputs = dict.fromkeys(range(len(arrays)))
        self.present = present
        if config.debug:
            inspection.note(self)
        results = self._connect(variables, tuple(x._array for x in variables), arrays, recording=True)
        found = dict(zip(present, results, strict=True))
        return [found.get(i) for i in range(len(tape.outputs))]

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients that the framework computes."""
        if self.tape is None:
            raise GraphError(f"{self.label}: its tape was released by a sweep with retain_graph=False")
        given: list[Variable | None] = [None] * len(self.tape.outputs)
        for place, g in zip(self.present, grad_outputs, strict=True):
            given[place] = g
        cotangents = [
            None if g is None else self.framework.enter(opened(g, self.label), None if y is None else self._at(y))
            for g, y in zip(given, self.tape.outputs, strict=True)
        ]
        targets = target_input_indexes
        homes = [Home.of(self.inputs[i].spec) for i in targets]
        if not recording():
            found = zip(self.tape.pull(cotangents, targets), homes, strict=True)
            return tuple(None if g is None else outside(self._left(g, home)) for g, home in found)
        tape = self.tape.pulled(cotangents, targets)
        node = ForeignFunction(f"gradient of {self.title}", self.framework, tape, homes, self.device, result=False)
        return tuple(node.connected([*self.get_retained_inputs(), *(g for g in given if g is not None)]))

    def _left(self, array: Array, home: "Home") -> Array:
        left = self.framework.leave(array, home.device, result=self.result)
        return entered(left) if home.inside else left

    def _at(self, array: Array) -> Device:
        return self.framework.backend.device_of(array)

    def release(self) -> None:
        """Drop the tape."""
        super().release()
        self.tape = None


def outside(array: Array) -> Variable:
    """Return a Variable over `array` that requires no gradient and enters no transformation that is active."""
    found: Variable = called_with(at_level(None), constant_variable, array)
    return found


def opened(x: Variable, title: str) -> Array:
    """Return the array of a Variable without the transformations that are active.

    A traced array gives its values, and there is no program then: another framework's calls cannot be in one.

    Raises
    ------
    GraphError
        Within a transformation whose arrays have no values for another framework, such as `vmap`.
    """
    level = around()
    while level is not None:
        if not isinstance(level, TraceLevel):
            raise GraphError(
                f"{title}: arrays within {level.title} cannot be passed to another framework; call it outside of "
                f"{level.title}, or use the framework's own transformation within the function"
            )
        level = level.outer
    array = x._array
    while isinstance(array, TracedArray):
        array.recording.level.check()
        array.recording.fail(f"{title} was called", "call it outside of the compiled function")
        array = array.values
    return array


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
