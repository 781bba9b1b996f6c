"""Tangents by transposition: a gradient is linear in its cotangent, and the gradient of that is the tangent."""

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.backend.kernels import OWNER
from xpgrad.backend.plugins import plugins
from xpgrad.config import call_plain, called_with, config, plain_at
from xpgrad.errors import GradientError
from xpgrad.graph.backward import grad as sweep
from xpgrad.graph.definition import Definition
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
from xpgrad.transforms.gradient import ones_like
from xpgrad.transforms.leaves import UNTRANSPOSED, check_connected, zeros_like
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.dual.backend import DualBackend

MISFIT = 1e-2
"""The share of a gradient whose loss is an error in debug mode; dtypes of two digits round so much."""


class NotStepwise(BaseException):
    """A function has no separate tangent: the whole function that `jvp` received must be transposed.

    It passes all handlers of errors up to that call, which repeats the function.

    Parameters
    ----------
    level : DualLevel
    """

    def __init__(self, level: Any) -> None:
        super().__init__(level)
        self.level = level


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
    users = OWNER in definition.kernel.name
    ((y, t),) = call_plain(pushed, definition.name, call, primals, tangents, users, users and config.debug)
    return y._array, t


def pushed(
    name: str, call: Callable[[Sequence[Any]], Sequence[Variable]], primals: Sequence[Any], tangents: Sequence[Any],
    users: bool = False, checked: bool = False,
) -> list[tuple[Variable, Array | None]]:  # fmt: skip
    """Return the results of a function of Variables, each with the array that is its tangent, or None.

    Parameters
    ----------
    name : str
        Name of the function, for messages.
    call : callable
        Takes Variables for primals with tangents, otherwise the primals; returns Variables.
    primals, tangents : sequence of arrays
    users : bool
        Whether the gradient is the user's code, which may not be differentiable.
    checked : bool
        Check that the tangent and the gradient are of one function, as in debug mode.

    Raises
    ------
    GradientError
        The user's gradient is not computed by functions of Variables; if `checked`, also if only a part is not.
    """
    xs = [x if t is None else Variable(x) for x, t in zip(primals, tangents, strict=True)]
    outputs = list(call(xs))
    tracked = [y for y in outputs if y._node.requires_grad]
    if not tracked:
        return [(y, None) for y in outputs]
    roots = [(x, t) for x, t in zip(xs, tangents, strict=True) if t is not None]
    if len(outputs) == 1 and _is_number(outputs[0]) and not any(x._node.spec.complex for x, _ in roots):
        return [(outputs[0], _along(outputs[0], roots))]
    start = ones_like if users else zeros_like  # a gradient that ignores a cotangent of 0 could be right
    seeds = [Variable(start(y)._array) for y in tracked]
    try:
        pulled = sweep(tracked, [x for x, _ in roots], seeds, enable_double_backprop=True)
    except Exception as error:
        if users:
            error.add_note(
                f"in forward mode, which transposes the gradient of {name}; its tangent may be given by defjvp"
            )
        raise
    pairs = [(g, Variable(t, requires_grad=False)) for g, (_, t) in zip(pulled, roots, strict=True) if g is not None]
    if users:
        check_connected(name, [g for g, _ in pairs], {x._node for x in seeds})
    pairs = [(g, t) for g, t in pairs if g._node.requires_grad]
    found = sweep([g for g, _ in pairs], seeds, [t for _, t in pairs]) if pairs else [None] * len(seeds)
    if checked:
        _check_adjoint(name, seeds, found, pulled, [t for _, t in roots])
    remaining = iter(found)
    made = [next(remaining) if y._node.requires_grad else None for y in outputs]
    return [(y, None if t is None else t._array) for y, t in zip(outputs, made, strict=True)]


def _check_adjoint(
    name: str, seeds: Sequence[Variable], found: Sequence[Any], pulled: Sequence[Any], tangents: Sequence[Array]
) -> None:
    """Raise unless cotangents times the tangents of outputs are the gradients times the tangents of inputs.

    A gradient that is computed outside of the graph in part loses that part when it is transposed.
    """
    difference = scale = 0.0
    for sign, left, right in ((1.0, seeds, [None if t is None else t._array for t in found]), (-1.0, pulled, tangents)):
        for x, y in zip(left, right, strict=True):
            if x is None or y is None:
                continue
            spec = x._node.spec
            if spec.complex or not spec.backend.has_values(y):
                return
            product = spec.backend.xp.astype(spec.backend.xp.multiply(x._array, y), spec.wide)
            total, size = (spec.backend.xp.sum(each, axis=None, keepdims=False) for each in (product, abs(product)))
            difference, scale = difference + sign * float(total), scale + float(size)
    if abs(difference) > MISFIT * scale:
        raise GradientError(
            f"{name}: its tangent and its gradient belong to different functions: they differ by {difference:.3g} of "
            f"{scale:.3g}, because a part of its gradient is computed outside of the graph, {UNTRANSPOSED}"
        )


def _is_number(y: Variable) -> bool:
    spec = y._node.spec
    return not (spec.shape or spec.complex)


def _along(y: Variable, roots: list[tuple[Variable, Array]]) -> Array | None:
    """Return the tangent of a real number: the sum of the products of the gradient with the tangents."""
    spec = y._node.spec
    xp, total = spec.backend.xp, None
    for g, (_, t) in zip(sweep([y], [x for x, _ in roots], [ones_like(y)]), roots, strict=True):
        if g is not None:
            part = xp.sum(xp.multiply(g._array, t), axis=None, keepdims=False, dtype=spec.wide)
            total = part if total is None else xp.add(total, part)
    if total is None:
        return None
    return spec.backend.restore(total if spec.wide == spec.dtype else xp.astype(total, spec.dtype))


def node_outputs(backend: "DualBackend", function: FunctionNode, arrays: tuple[Array, ...]) -> Any:
    """Return the outputs of a function node for dual arrays; None for those that compute with any arrays."""
    levels: list[Any] = []
    primals = backend.opened(arrays, levels)
    tangents, level = [x.tangent for x in arrays], levels[-1]
    plain = plain_at(level.outer)
    pairs = called_with(plain, pushed_outputs, function, backend.base, primals, tangents, level, config.debug)
    if pairs is None:
        return None
    return tuple(level.backend(plugins.backend_of(y)).kind(level, y, t) for y, t in pairs)


def pushed_outputs(
    function: FunctionNode, base: Any, primals: Sequence[Array], tangents: Sequence[Any], level: Any,
    debug: bool,
) -> list[tuple[Array, Any]] | None:  # fmt: skip
    """Return the outputs of a function node for arrays of `base`, each with its tangent or None.

    A copy of the function runs on the primals, and its `backward` is transposed; `function` gets the attributes and
    retained values of the copy, so that its `backward` can run on arrays of the level. None is returned for functions
    of the library that compute with any arrays.
    """
    if function.of_library and not function.transposes:
        return None
    twin: FunctionNode = copy.copy(function)
    users = not function.of_library

    def call(xs: Sequence[Any]) -> Sequence[Variable]:
        ys = twin.apply(xs)
        if level.repeatable and not twin.has_tangents(ys):
            raise NotStepwise(level)
        return ys

    push = getattr(twin, "push", None)
    if all(t is None for t in tangents):
        pairs: list[Any] = [(y, None) for y in twin._forward(tuple(primals))]
    elif push is not None and (made := push(base.xp, primals, tangents)) is not None:
        pairs = [(y, None if t is None else base.restore(t)) for y, t in zip(*made, strict=True)]
    else:
        made = pushed(function.label, call, primals, tangents, users, users and debug)
        pairs = [(y._array, t) for y, t in made]
    for name, value in twin.__getstate__().items():
        setattr(function, name, value)
    function._kept_inputs, function._kept_outputs = (
        None if kept is None else dict.fromkeys(kept) for kept in (twin._kept_inputs, twin._kept_outputs)
    )
    return pairs
