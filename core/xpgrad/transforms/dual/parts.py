"""`Parts`: how Variables are divided into primals and tangents, also within batches in forward mode."""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with, config
from xpgrad.errors import GradientError
from xpgrad.graph.variable import Variable, as_variable, constant_variable, inside
from xpgrad.transforms.call import recording
from xpgrad.transforms.custom import applied, custom_vjp
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.transposition import pushed
from xpgrad.transforms.leaves import as_leaf, cotangents, is_differentiable, requires_grad
from xpgrad.transforms.trees import Structure, flatten, where
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.dual.level import DualLevel


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


class Parts:
    """The primals and tangents of a level, for its arrays and for arrays of batches within it.

    All are constants of the innermost level without a tangent of this level.
    """

    def __init__(self, level: "DualLevel") -> None:
        self.level = level

    def has_tangent(self, x: Variable) -> bool:
        """Return whether a Variable has a tangent."""
        return self._split(inside(x)._array)[1] is not None

    def primal_of(self, x: Variable) -> Variable:
        """Return the primal of a Variable."""
        return constant_variable(self._split(inside(x)._array)[0])

    def tangent_of(self, x: Variable) -> Variable:
        """Return the tangent of a Variable, zeros by default."""
        primal, t = self._split(inside(x)._array)
        return constant_variable(plugins.backend_of(primal).xp.zeros_like(primal) if t is None else t)

    def joined(self, x: Variable, t: Variable) -> Variable:
        """Return a constant whose primal and tangent are the primals of two Variables."""
        return constant_variable(self._join(self._split(inside(x)._array)[0], self._split(inside(t)._array)[0]))

    def custom_output(self, rule: Any, args: tuple[Any, ...]) -> Any:
        """Return the output of a function with a user-defined gradient, or `NotImplemented`."""
        return custom_output(self, rule, args)

    def _split(self, array: Any) -> tuple[Array, Array | None]:
        if isinstance(array, DualArray) and array.level is self.level:
            t = array.tangent
            return self.level.constant(array.primal), None if t is None else self.level.constant(t)
        if isinstance(array, DualArray):
            return self._split_inner(array)
        if not hasattr(array, "batching"):
            return array, None
        primal, t = self._split(array.values)
        kind, batching, batched = type(array), array.batching, array.batched
        return kind(batching, primal, batched), None if t is None else kind(batching, t, batched)

    def _split_inner(self, array: DualArray) -> tuple[Array, Array | None]:
        """Return the parts of an array of an inner level in forward mode."""
        dual, (primal, t) = array.level.dual, self._split(array.primal)
        if array.tangent is None:
            return dual(primal, None), None if t is None else dual(t, None)
        inner, change = self._split(array.tangent)
        if t is None and change is not None:
            t = plugins.backend_of(primal).xp.zeros_like(primal)
        return dual(primal, inner), None if t is None else dual(t, change)

    def _join(self, primal: Any, t: Any) -> Array:
        if isinstance(primal, DualArray) and primal.level is not self.level:
            inner, change = primal.tangent, t.tangent
            if inner is not None or change is not None:
                zeros = plugins.backend_of(primal.primal).xp.zeros_like(primal.primal)
                inner = self._join(zeros if inner is None else inner, zeros if change is None else change)
            return primal.level.dual(self._join(primal.primal, t.primal), inner)
        if not hasattr(primal, "batching"):
            return self.level.dual(primal.primal, t.primal)
        if primal.batched != t.batched:  # batch elements that share one of the two get their own
            zeros_like = plugins.backend_of(primal).xp.zeros_like
            primal, t = primal + zeros_like(t), t + zeros_like(primal)
        made: Array = type(primal)(primal.batching, self._join(primal.values, t.values), primal.batched)
        return made
