"""Functions of another framework in our graph: their gradients are computed by its engine.

A call is one node of the graph. A recorded sweep requests from the tape of the call the tape of its pullback, which
becomes the next node; so every order works if the framework supports this order.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from xpgrad.backend.device import Device
from xpgrad.backend.levels import innermost
from xpgrad.backend.plugins import plugins
from xpgrad.errors import BackendMismatch, BatchError, DeviceMismatch, GraphError, UnknownArray
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, constant_variable, inside
from xpgrad.interop.framework import Framework, Tape
from xpgrad.interop.opening import Batches, batches_of, has_tangent, lifted, not_batched, opened, outside, over_axes
from xpgrad.transforms.call import recording
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.enclosing.backend import TransformedBackend
from xpgrad.transforms.leaves import is_array
from xpgrad.transforms.trace.array import TracedArray
from xpgrad.transforms.trees import Path, where
from xpgrad.types import Array


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
    batches = batches_of(variables)
    raw = [opened(x, title, batches) for x in variables]
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

    whole = over_axes(title, framework, filled, batches, range(len(batches)))

    recorded = recording()
    active = [i for i, x in enumerate(variables) if (recorded and x._node.requires_grad) or has_tangent(x)]
    try:
        run = framework.run(f, whole, foreign, active, recorded or bool(active))
    except Exception as error:
        got = ", ".join(f"{plugins.backend_of(a).spec(a)!r}" for a in raw) or "no arrays"
        error.add_note(f"in {title}, called with {got}")
        raise
    results: Sequence[Variable | None] = []
    if run.tape is not None:
        homes = [Home(home, traced=True)] * len(run.tape.outputs)
        node = ForeignFunction(title, framework, run.tape, homes, batches, result=True)
        results = node.connected([variables[i] for i in active])
    made: list[Any] = []
    for leaf, place in zip(run.leaves, run.places, strict=True):
        if place is not None:
            made.append(results[place])
        elif framework.owns(leaf):
            made.append(constant_variable(lifted(framework.leave(leaf, home, result=True), batches)))
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
    batches : tuple of BatchRun
        The batches along the first axes of the tape's arrays, the outermost first.
    result : bool
        Whether the outputs are results of the user's function.
    """

    of_library = True
    transposes = True

    def __init__(
        self, title: str, framework: Framework, tape: Tape, homes: Sequence[Home], batches: Batches, *, result: bool
    ) -> None:
        self.title, self.framework, self.homes, self.batches, self.result = title, framework, homes, batches, result
        self.tape: Tape | None = tape
        self.captured = tape.captured  # kept alive: sweeps store their gradients
        if batches and self.captured:
            raise BatchError(
                f"{title}: parameters that the function captures would have one gradient for a whole batch of "
                f"{batches[-1].title}; pass them as arguments, as with parameters=True"
            )
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
        return self._connect(variables, self._forward(arrays), recording=recording())

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the outputs of the tape."""
        if self.tape is None:
            raise self._released()
        self.retain_inputs(range(len(inputs)))  # also so that changes of these are detected
        self.retain_outputs(range(len(self.present)))
        outputs = []
        for i in self.present:
            array = self.framework.leave(self.tape.outputs[i], self.homes[i].device, result=self.result)
            outputs.append(lifted(array, self.batches, self.homes[i].traced))
        return tuple(outputs)

    def _checked_outputs(self, outputs: Any) -> tuple[Array, ...]:
        return tuple(outputs)  # gradients may be of several libraries

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients that the framework computes."""
        if self.tape is None:
            raise self._released()
        framework = self.framework
        given: list[Variable | None] = [None] * len(self.tape.outputs)
        for place, g in zip(self.present, grad_outputs, strict=True):
            given[place] = g
        present = [g for g in grad_outputs if g is not None]
        batches, targets = batches_of([*self.get_retained_inputs(), *present]), target_input_indexes
        cotangents = [
            None if g is None else framework.enter(opened(g, self.label, batches), framework.backend.device_of(y))
            for g, y in zip(given, self.tape.outputs, strict=True)
        ]
        homes = [Home.of(self.inputs[i].spec) for i in targets]
        dual = any(node.spec.backend.carries_tangents for node in self.inputs)
        new = [i for i, each in enumerate(batches) if each not in self.batches]
        if not recording() and not dual:
            pull = over_axes(self.title, framework, functools.partial(self.tape.pull, targets=targets), batches, new)
            gradients = [
                None if g is None else lifted(framework.leave(g, home.device, result=False), batches, home.traced)
                for g, home in zip(pull(cotangents), homes, strict=True)
            ]
            return tuple(None if g is None else outside(g) for g in gradients)
        if new:
            raise not_batched(self.title, batches[new[0]])
        tape = self.tape.pulled(cotangents, targets)
        node = ForeignFunction(f"gradient of {self.title}", framework, tape, homes, self.batches, result=False)
        return tuple(node.connected([*self.get_retained_inputs(), *present]))

    def _released(self) -> GraphError:
        return GraphError(f"{self.label}: its tape was released by a sweep with retain_graph=False")

    def release(self) -> None:
        """Drop the tape."""
        super().release()
        self.tape = None


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
