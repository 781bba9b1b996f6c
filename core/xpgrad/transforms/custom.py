"""`custom_vjp` and `stop_gradient`: user-defined derivatives."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from xpgrad.backend.levels import innermost, live
from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with, config
from xpgrad.errors import GradientError, GraphError
from xpgrad.graph.function_node import FunctionNode, raw_rule
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.transforms.call import recording
from xpgrad.transforms.leaves import as_leaf, is_differentiable, requires_grad, variables_in, zeros_of
from xpgrad.transforms.surroundings import Surroundings, check_repeated, copies
from xpgrad.transforms.trees import Structure, flatten, map_leaves, where
from xpgrad.types import Array

P = ParamSpec("P")
R = TypeVar("R")


def stop_gradient(tree: R) -> R:
    """Return `tree` with its Variables as constants over the same arrays; other leaves are unchanged."""
    found: R = map_leaves(_stopped, tree)
    return found


def _stopped(leaf: Any) -> Any:
    if not isinstance(leaf, Variable):
        return leaf
    y = constant_variable(leaf._array)
    if live and y._array is not None:
        y._array = plugins.backend_of(y._array).stopped(y._array)
    return y


class Customized(Generic[P, R]):
    """Base of decorators that make a function with a derivative, or a batch, of the user's.

    Attributes
    ----------
    function : callable
        The decorated function.
    """

    def __init__(self, f: Callable[P, R]) -> None:
        if not callable(f):
            raise TypeError(f"{type(self).__name__}: expected a function, got {type(f).__name__}")
        functools.update_wrapper(self, f, updated=())
        self.function = f

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the output of the function."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, with defaults."""
        if not kwargs:
            return args
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"{type(self).__name__}: {self.name} has keyword-only arguments; make them positional")
        return bound.args


class custom_vjp(Customized[P, R]):  # noqa: N801 - a decorator, with JAX's name
    """A function whose gradient the user defines; a decorator.

    ``f.defvjp(forward, backward)`` completes it::

        @custom_vjp
        def f(x, y): ...


        def forward(x, y):
            return f(x, y), (x, y)  # the output of f, and a tree of values for backward


        def backward(kept, gy):
            x, y = kept
            return gx, gy_  # one for each argument, None for those without a gradient


        f.defvjp(forward, backward)

    Forward mode transposes `backward`, unless ``f.defjvp(rule)`` gives the tangent.

    Parameters
    ----------
    f : callable
        Takes and returns trees; it is called where no gradient is needed.

    Notes
    -----
    `backward` computes on Variables, so its result can be differentiated to any order: arguments and outputs that
    `forward` keeps are Variables of the graph, and other values that it keeps are computed again, in the graph, in a
    recorded sweep. Variables that the functions capture get no gradient. Gradients of complex numbers have the
    convention of users, ``∂/∂x + i ∂/∂y``. The cotangent of an output without one is zeros.
    """

    def __init__(self, f: Callable[P, R]) -> None:
        super().__init__(f)
        self.forward: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.pushforward: Callable[..., Any] | None = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Define the gradient.

        Parameters
        ----------
        forward : callable
            Takes the arguments of the function, returns ``(output, kept)``.
        backward : callable
            Takes ``(kept, gy)``, with `gy` a tree like the output; returns a tuple with one tree or None for each
            positional argument.
        """
        self.forward, self.backward = forward, backward

    def defjvp(self, rule: Callable[..., Any]) -> None:
        """Define the tangent for forward mode, where `backward` cannot be transposed or that takes longer.

        Parameters
        ----------
        rule : callable
            Takes ``(primals, tangents)``, two tuples with one tree for each positional argument, on Variables; returns
            ``(output, tangent)``, a tree each. It is linear in the tangents, and agrees with `backward`. A missing
            tangent is zeros, and None for integers and for other objects.
        """
        self.pushforward = rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the output of the function, connected to the arguments."""
        function: Callable[..., R] = self.function
        positional = self.positional(args, kwargs)
        level = innermost()
        parts = None if level is None else level.tangents
        if parts is not None and (found := parts.custom_output(self, positional)) is not NotImplemented:
            known: R = found
            return known
        if not recording() or not requires_grad(variables_in(positional)):
            return function(*positional)
        if self.forward is None:
            raise GradientError(f"custom_vjp: {self.name} has no gradient yet; call defvjp(forward, backward)")
        y: R = applied(self, positional)
        return y


def applied(rule: custom_vjp[..., Any], args: tuple[Any, ...], arrays: Sequence[Array] | None = None) -> Any:
    """Return the output of a function with a user-defined gradient, connected to the arguments.

    Parameters
    ----------
    rule : custom_vjp
    args : tuple
    arrays : sequence of array, optional
        The floating-point leaves of the output, with other tangents than the result of `forward`.
    """
    leaves, structure = flatten(args)
    inputs: list[Any] = [as_variable(x) for x in leaves if is_differentiable(x)]
    node = CustomGradient(rule, leaves, structure, Surroundings(x.device for x in inputs))
    constants = [constant_variable(x._array) for x in inputs]
    output, kept = called_with(backprop_mode(False), node.run, constants)
    values, shape = flatten(output)
    made = [as_leaf(y, f"{rule.name}: output{where(p)}") for y, p in zip(values, shape.paths(), strict=True)]
    outputs = [y for y in made if y._node.spec.differentiable]
    if not outputs:
        return output
    for y, array in zip(outputs, outputs if arrays is None else arrays, strict=True):
        if array is not y:
            y._array = array
    results = iter(node.connected(inputs, constants, outputs, kept))
    connected = [next(results) if y._node.spec.differentiable else y for y in made]
    node.output = shape, [y._node.spec if y._node.spec.differentiable else None for y in made]
    return shape.build(connected)


class CustomGradient(FunctionNode):
    """One call of a function whose gradient the user defined.

    A class, because its inputs, outputs and kept values are defined by the user.
    """

    def __init__(
        self, rule: custom_vjp[..., Any], leaves: list[Any], structure: Structure, surroundings: Surroundings
    ) -> None:
        self.rule, self.structure, self.surroundings = rule, structure, surroundings
        self.counts = [is_differentiable(leaf) for leaf in leaves]
        self.rest = [None if counts else leaf for leaf, counts in zip(leaves, self.counts, strict=True)]
        self.output: tuple[Structure, list[Any]] = Structure(), []
        self.kept: tuple[Structure, list[tuple[str, Any]]] | None = None
        self.first: list[Array] | None = None  # in debug mode: values kept by the first run, if there may be a second

    @property
    def label(self) -> str:
        """Name of the user's function."""
        return f"custom_vjp of {self.rule.name}"

    def run(self, inputs: list[Variable]) -> tuple[Any, Any]:
        """Return the result of the user's `forward` on these inputs."""
        remaining = iter(inputs)
        filled = [next(remaining) if n else leaf for leaf, n in zip(self.rest, self.counts, strict=True)]
        forward = self.rule.forward or (lambda *xs: (self.rule.function(*xs), None))
        result = forward(*self.structure.build(filled))
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{self.label}: forward must return (output, kept), got {type(result).__name__}")
        return result

    def connected(
        self, inputs: list[Variable], constants: list[Variable], outputs: list[Variable], kept: Any
    ) -> tuple[Variable, ...]:
        """Return the outputs, connected; keep the values of the user's `forward`, arguments and outputs by position."""
        leaves, structure = flatten(kept)
        places: dict[int, tuple[str, Any]] = {id(y): ("output", i) for i, y in enumerate(outputs)}
        places |= {id(x): ("input", i) for i, x in enumerate(constants)}  # also if it is returned unchanged
        found = [places.get(id(x), ("other", x)) for x in leaves]
        again = any(kind == "other" and is_differentiable(x) and isinstance(x, Variable) for kind, x in found)
        wanted = range(len(inputs)) if again else sorted({i for kind, i in found if kind == "input"})
        self._kept_inputs = dict.fromkeys(wanted)
        self._kept_outputs = dict.fromkeys(sorted({i for kind, i in found if kind == "output"}))
        self.kept, self.repeat = (structure, found), again
        if config.debug:
            self.first = copies(x for x in leaves if isinstance(x, Variable)) if again else None
        return self._connect(inputs, [y._array for y in outputs])

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the flattened result of the user's `backward`."""
        if self.rule.backward is None:
            raise GradientError(f"custom_vjp: {self.rule.name} has no gradient yet; call defvjp(forward, backward)")
        if self.kept is None:
            raise GraphError(f"{self.label}: its kept values were released by a sweep with retain_graph=False")
        structure, specs = self.output
        remaining = iter(grad_outputs)
        gys = [None if spec is None else zeros_of(spec) if (g := next(remaining)) is None else g for spec in specs]
        result = self.rule.backward(self._rebuilt(), structure.build(gys))
        result = result if isinstance(result, (tuple, list)) else (result,)
        if len(result) != len(self.structure.children):
            raise GradientError(
                f"{self.label}: backward must return {len(self.structure.children)} gradients, one for each argument, "
                f"got {len(result)}"
            )
        leaves: list[Any] = []
        for i, (child, tree) in enumerate(zip(self.structure.children, result, strict=True)):
            what = f"{self.label}: gradient of argument {i}"
            leaves += [None] * len(list(child.paths())) if tree is None else child.leaves_of(tree, what)
        gxs = [g for g, counts in zip(leaves, self.counts, strict=True) if counts]
        return tuple(None if (g := gxs[i]) is None else as_leaf(g, self.label) for i in target_input_indexes)

    def _rebuilt(self) -> Any:
        structure, places = self.kept  # type: ignore[misc]  # the caller checked
        inputs = dict(zip(self._kept_inputs, self.get_retained_inputs(), strict=True))
        outputs = dict(zip(self._kept_outputs, self.get_retained_outputs(), strict=True))
        others = [x for _, x in places]
        if self.repeat and recording() and raw_rule.get() is not self:
            again = self.surroundings.again(self._origin, self.run, [inputs[i] for i in range(len(inputs))])
            if self.first is not None:
                check_repeated(self.label, self.first, [x for x in flatten(again[1])[0] if isinstance(x, Variable)])
            others = flatten(again[1])[0]
        values = {"input": inputs.get, "output": outputs.get}
        return structure.build(
            [other if kind == "other" else values[kind](x) for (kind, x), other in zip(places, others, strict=True)]
        )

    def release(self) -> None:
        """Drop the kept values."""
        super().release()
        self.kept = None
