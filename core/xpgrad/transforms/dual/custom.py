"""Functions with a gradient of the user's in forward mode: their tangents agree with the gradient."""

from typing import TYPE_CHECKING, Any

from xpgrad.config import backprop_mode, called_with, config
from xpgrad.errors import GradientError
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.transforms.call import recording
from xpgrad.transforms.custom import applied, custom_vjp
from xpgrad.transforms.dual.transposition import pushed
from xpgrad.transforms.leaves import as_leaf, cotangents, is_differentiable, requires_grad
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.dual.parts import Parts


def custom_output(parts: "Parts", rule: custom_vjp[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the output of `rule` for arguments with tangents, or `NotImplemented` without tangents."""
    leaves, structure = flatten(args)
    counts = [is_differentiable(leaf) for leaf in leaves]
    inputs = [as_variable(x) for x, n in zip(leaves, counts, strict=True) if n]
    around = None if parts.level.outer is None else parts.level.outer.tangents
    moving = any(map(parts.has_tangent, inputs))
    if not moving and around is None:
        return NotImplemented
    rest = [None if n else leaf for leaf, n in zip(leaves, counts, strict=True)]

    def filled(values: Any) -> tuple[Any, ...]:
        remaining = iter(values)
        built: tuple[Any, ...] = structure.build(
            [next(remaining) if n else leaf for leaf, n in zip(rest, counts, strict=True)]
        )
        return built

    below: Any = NotImplemented
    if around is not None:  # the primals may have tangents of that level, which must match the user's gradient as well
        below = around.custom_output(rule, filled(map(parts.primal_of, inputs)))
    if moving:
        push = _by_rule if rule.pushforward is not None else _by_transposition
        made, shape, tangents = called_with(backprop_mode(True), push, parts, rule, inputs, filled)
        made = made if below is NotImplemented else _leaves(rule, below)[0]
    elif below is NotImplemented:
        return NotImplemented
    else:
        made, shape = _leaves(rule, below)
        tangents = [None] * len(made)
    arrays: list[Array] = []
    outputs: list[Variable] = []
    for y, t in zip(made, tangents, strict=True):
        if y._node.spec.differentiable:
            y = parts.primal_of(y) if t is None else parts.joined(y, t)
            arrays.append(y._array)
        outputs.append(y)
    if recording() and requires_grad(inputs):
        return applied(rule, filled(inputs), arrays)
    return shape.build(outputs)


Outcome = tuple[list[Variable], Structure, list[Variable | None]]
"""The leaves of an output, its structure, and the tangents of the leaves."""


def _by_rule(parts: "Parts", rule: custom_vjp[..., Any], inputs: list[Variable], filled: Any) -> Outcome:
    """Return the result of the rule of `defjvp`."""
    primals = filled(map(parts.primal_of, inputs))
    structure = flatten(primals)[1]
    directions = iter(map(parts.tangent_of, inputs))
    leaves = [next(directions) if is_differentiable(leaf) else None for leaf in flatten(primals)[0]]
    pushforward: Any = rule.pushforward
    result = pushforward(primals, structure.build(leaves))
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(
            f"custom_vjp of {rule.name}: the rule of defjvp must return (output, tangent), got {type(result).__name__}"
        )
    made, shape = _leaves(rule, result[0])
    differ = [y._node.spec.differentiable for y in made]
    given = shape.leaves_of(result[1], f"custom_vjp of {rule.name}: tangent of defjvp")
    ts: list[Variable | None] = []
    for y, t, n in zip(made, given, differ, strict=True):
        what = f"custom_vjp of {rule.name}: tangent of defjvp"
        ts.append(cotangents(Structure(), t, [y], what)[0] if n and t is not None else None)
    return made, shape, ts


def _by_transposition(parts: "Parts", rule: custom_vjp[..., Any], inputs: list[Variable], filled: Any) -> Outcome:
    """Return the result of the transposed `backward`."""
    if rule.forward is None:
        raise GradientError(
            f"custom_vjp: {rule.name} has no gradient yet; call defvjp(forward, backward), or defjvp(rule)"
        )
    shapes: list[Structure] = []

    def call(xs: Any) -> list[Variable]:
        made, shape = _leaves(rule, applied(rule, filled(xs)))
        shapes.append(shape)
        return made

    primals = [parts.primal_of(x)._array for x in inputs]
    tangents = [parts.tangent_of(x)._array if parts.has_tangent(x) else None for x in inputs]
    xs = [constant_variable(x) if t is None else x for x, t in zip(primals, tangents, strict=True)]
    pairs = pushed(f"custom_vjp of {rule.name}", call, xs, tangents, users=True, checked=config.debug)
    return [y for y, _ in pairs], shapes[0], [None if t is None else constant_variable(t) for _, t in pairs]


def _leaves(rule: custom_vjp[..., Any], output: Any) -> tuple[list[Variable], Structure]:
    leaves, shape = flatten(output)
    paths = shape.paths()
    return [as_leaf(y, f"{rule.name}: output{where(p)}") for y, p in zip(leaves, paths, strict=True)], shape
