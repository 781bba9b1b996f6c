"""`checkpoint`: a function whose intermediate values are recomputed in the backward pass instead of being kept."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

from xpgrad.backend.levels import at_level_of
from xpgrad.config import called_with, config
from xpgrad.errors import GraphError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.methods.ending import Standing
from xpgrad.graph.variable import Variable, as_variable, constant_variable, variable_over
from xpgrad.transforms.call import recording
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.leaves import alias, is_differentiable, root
from xpgrad.transforms.surroundings import Surroundings, check_repeated, copies
from xpgrad.transforms.trees import Structure, flatten
from xpgrad.types import Array

P = ParamSpec("P")
R = TypeVar("R")


def checkpoint(f: Callable[P, R]) -> Callable[P, R]:
    """Return `f` with intermediate values that are not kept, but recomputed for the gradients.

    Parameters
    ----------
    f : callable
        Takes and returns trees of any objects. A second call must give the same result.

    Returns
    -------
    callable
        Takes the arguments of `f`. Memory for gradients holds the arguments and, in the backward pass, the values of
        one run.

    Notes
    -----
    - Floating-point arrays and Variables among the arguments are passed as Variables; everything else is passed
      unchanged.
    - Variables that `f` captures (from a closure or an attribute) also get their gradients.
    - The second run has the random numbers, the device, and the entries ``train`` and ``dtype`` of the configuration
      of the first; ``config.in_recomputing`` is True in it. The random states belong to this thread's streams of
      `xpgrad.random`, and are restored afterwards.
    - Checkpoints may be nested, and gradients differentiated again; that keeps the second run's graph.
    - Without a graph (`no_backprop_mode`), or if nothing requires a gradient, it is `f`.

    Raises
    ------
    GraphError
        In the backward pass: the second run gave outputs of other shapes, or used other Variables, than the first. In
        debug mode also if it gave other values, as with random numbers not drawn by `xpgrad.random`.
    """
    if not callable(f):
        raise TypeError(f"checkpoint: expected a function, got {type(f).__name__}")

    @functools.wraps(f, updated=())
    def checkpointed(*args: P.args, **kwargs: P.kwargs) -> R:
        return run(f, args, kwargs) if recording() else f(*args, **kwargs)

    return checkpointed


def run(f: Callable[..., R], args: tuple[Any, ...], kwargs: dict[str, Any]) -> R:
    """Return the result of ``f(*args, **kwargs)``, connected by one node of the graph."""
    replay = Replay(f, *flatten((args, kwargs)))
    roots = [root(x._array) for x in replay.inputs]
    standing = Standing({copy._node: x._node for copy, x in zip(roots, replay.inputs, strict=True)})
    trace = called_with(standing.entered(), replay.run, roots)
    results: Iterator[Any]
    if trace.outputs and (trace.captured or any(x._node.requires_grad for x in replay.inputs)):
        results = iter(Recomputed(replay, trace).connected(trace))
    else:  # only the roots require a gradient, not the arguments
        results = iter([constant_variable(y._array) for y in trace.outputs])
    leaves = [next(results) if is_output else leaf for leaf, is_output in zip(*replay.outputs, strict=True)]
    replay.forget()
    y: R = replay.structure.build(leaves)
    return y


class Replay:
    """A call of a user's function that can be repeated: the arguments, and the state that it depends on.

    Attributes
    ----------
    inputs : list of Variable
        The arguments' floating-point leaves.
    result : object
        The result of the last run; `outputs` and `structure` are its leaves, with flags for the connected ones, and its
        structure.
    """

    def __init__(self, f: Callable[..., Any], leaves: list[Any], structure: Structure) -> None:
        self.f, self.arguments = f, structure
        self.counts = [is_differentiable(leaf) for leaf in leaves]
        pairs = list(zip(leaves, self.counts, strict=True))
        self.rest = [None if counts else leaf for leaf, counts in pairs]
        self.inputs = [as_variable(x) for x, counts in pairs if counts]
        self.surroundings = Surroundings(x.device for x in self.inputs)
        self.result: Any = None
        self.structure = Structure()
        self.outputs: tuple[list[Any], list[bool]] = [], []

    def run(self, roots: Sequence[Variable]) -> CapturedRun:
        """Return the trace of the function on these roots."""
        remaining = iter(roots)
        filled = [next(remaining) if n else leaf for leaf, n in zip(self.rest, self.counts, strict=True)]
        args, kwargs = self.arguments.build(filled)

        def call() -> list[Variable]:
            self.result = self.f(*args, **kwargs)
            leaves, self.structure = flatten(self.result)
            connected = [isinstance(leaf, Variable) and leaf._node.requires_grad for leaf in leaves]
            self.outputs = leaves, connected
            return [leaf for leaf, is_output in zip(leaves, connected, strict=True) if is_output]

        return CapturedRun(call, roots)

    def forget(self) -> None:
        """Drop the result of the last run, and the arguments, which the graph keeps."""
        self.inputs, self.result, self.outputs = [], None, ([], [])


class Recomputed(FunctionNode):
    """A call whose graph was discarded, and is recorded again for its gradients.

    A class, because its inputs and outputs are defined by a user's function. The inputs are the arguments, then the
    captured nodes.
    """

    of_library = True

    def __init__(self, replay: Replay, trace: CapturedRun) -> None:
        self.replay, self.captured, self.count = replay, trace.captured, len(trace.outputs)
        self.specs = [y._node.spec for y in trace.outputs]
        self.first: list[Array] | None = None  # in debug mode: the outputs of the first run

    @property
    def label(self) -> str:
        """Name that includes the user's function."""
        return f"checkpoint of {getattr(self.replay.f, '__name__', type(self.replay.f).__name__)}"

    def connected(self, trace: CapturedRun) -> tuple[Variable, ...]:
        """Return the outputs, connected to arguments and captured nodes by this node instead of their own graph."""
        inputs = [*self.replay.inputs, *(variable_over(node, None) for node in self.captured)]
        self._kept_inputs = dict.fromkeys(range(len(self.replay.inputs)))
        if config.debug:
            self.first = copies(trace.outputs)
        self.captured = []
        return self._connect(inputs, [y._array for y in trace.outputs])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run the function again, and return the gradients through its graph."""
        recorded = recording()
        trace: CapturedRun = called_with(at_level_of(self.inputs[0].spec), self._again, recorded)
        return tuple(trace.gradients(grad_outputs, target_input_indexes, recorded=recorded))

    def _again(self, recorded: bool) -> CapturedRun:
        """Return the second run."""
        arguments = self.get_retained_inputs()
        roots = [alias(x) if recorded and x._node.requires_grad else root(x._array) for x in arguments]
        trace: CapturedRun = self.replay.surroundings.again(self._origin, self.replay.run, roots)
        self.replay.forget()
        self._compare(trace, len(arguments))
        return trace

    def _compare(self, trace: CapturedRun, count: int) -> None:
        before, now = self.specs, [y._node.spec for y in trace.outputs]
        if [(s.shape, s.dtype) for s in before] != [(s.shape, s.dtype) for s in now]:
            raise GraphError(f"{self.label}: the second run returned {now}, the first {before}; it must be repeatable")
        before, now = [node.spec for node in self.inputs[count:]], [node.spec for node in trace.captured]
        if [s.shape for s in before] != [s.shape for s in now]:
            raise GraphError(
                f"{self.label}: the second run used Variables {now} from outside, the first {before}; it must be "
                "repeatable"
            )
        if self.first is not None:
            check_repeated(self.label, self.first, trace.outputs)
