"""Tangents by transposition: a gradient is linear in its cotangent, and the gradient of that is the tangent."""

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import call_plain
from xpgrad.errors import GradientError
from xpgrad.graph.backward import grad as sweep
from xpgrad.graph.definition import Definition
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
from xpgrad.transforms.leaves import zeros_of
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.dual.backend import DualBackend

REMEDY = (
    "so forward mode cannot transpose it; compute it by functions of Variables, or write the function as a custom_vjp "
    "and give its tangent by defjvp"
)


def transposed(
    backend: "DualBackend", definition: Definition, primals: Sequence[Any], tangents: Sequence[Any],
    parameters: dict[str, Any],
) -> tuple[Array, Array | None]:  # fmt: skip
    """Return the result of a primitive for arrays of the base, and its tangent."""
    function = definition.paths["public"]

    def call(xs: Sequence[Any]) -> list[Variable]:
        return [function(list(xs), **parameters) if definition.variadic else function(*xs, **parameters)]

    rules = [definition.variadic or x in definition.rules for x in definition.inputs]
    if not definition.variadic:
        tangents = [t if has else None for t, has in zip(tangents, rules, strict=True)]
    ((y, t),) = call_plain(pushed, definition.name, call, primals, tangents)
    return y._array, t


def pushed(
    name: str, call: Callable[[Sequence[Any]], Sequence[Variable]], primals: Sequence[Any], tangents: Sequence[Any]
) -> list[tuple[Variable, Array | None]]:
    """Return the results of a function of Variables, each with the array that is its tangent, or None.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    call : callable
        Takes Variables where there are tangents, else the primals; returns Variables.
    primals, tangents : sequence of arrays
    """
    xs = [x if t is None else Variable(x) for x, t in zip(primals, tangents, strict=True)]
    outputs = list(call(xs))
    tracked = [y for y in outputs if y._node.requires_grad]
    if not tracked:
        return [(y, None) for y in outputs]
    seeds = [Variable(zeros_of(y._node.spec)._array) for y in tracked]
    roots = [(x, t) for x, t in zip(xs, tangents, strict=True) if t is not None]
    pulled = sweep(tracked, [x for x, _ in roots], seeds, enable_double_backprop=True)
    pairs = [(g, Variable(t, requires_grad=False)) for g, (_, t) in zip(pulled, roots, strict=True) if g is not None]
    for g, _ in pairs:
        if not g._node.requires_grad and _is_nonzero(g):
            raise GradientError(f"{name}: its gradient is computed outside of the graph, {REMEDY}")
    pairs = [(g, t) for g, t in pairs if g._node.requires_grad]
    found = sweep([g for g, _ in pairs], seeds, [t for _, t in pairs]) if pairs else [None] * len(seeds)
    remaining = iter(found)
    made = [next(remaining) if y._node.requires_grad else None for y in outputs]
    return [(y, None if t is None else t._array) for y, t in zip(outputs, made, strict=True)]


def _is_nonzero(g: Variable) -> bool:
    """Return whether a gradient that does not depend on its cotangent, which is 0, is another than 0."""
    backend = g._node.spec.backend
    return backend.has_values(g._array) and bool(backend.namespace.any(g._array != 0))


def node_outputs(backend: "DualBackend", function: FunctionNode, arrays: tuple[Array, ...]) -> Any:
    """Return the outputs of a function node for dual arrays; None for the library's own that compute with any arrays.

    A copy of it runs on the primals, and its `backward` is transposed; `function` gets the attributes and what is to be
    kept from the copy, so that its own `backward` can run on dual arrays.
    """
    if function.of_library and not function.transposes:
        return None
    levels: list[Any] = []
    primals = backend.opened(arrays, levels)
    tangents = [x.tangent for x in arrays]
    twin: FunctionNode = copy.copy(function)

    def call(xs: Sequence[Any]) -> Sequence[Variable]:
        return twin.apply(xs)

    if all(t is None for t in tangents):
        pairs: list[Any] = [(y, None) for y in call_plain(twin._forward, primals)]
    else:
        pairs = [(y._array, t) for y, t in call_plain(pushed, function.label, call, primals, tangents)]
    for name, value in twin.__getstate__().items():
        setattr(function, name, value)
    function._kept_inputs, function._kept_outputs = (
        None if kept is None else dict.fromkeys(kept) for kept in (twin._kept_inputs, twin._kept_outputs)
    )
    level = levels[-1]
    return tuple(level.backend(plugins.backend_of(y)).kind(level, y, t) for y, t in pairs)
