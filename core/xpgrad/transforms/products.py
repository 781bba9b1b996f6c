"""`vjp`, `jvp` and `hvp`: products with a Jacobian or a Hessian, without the matrix."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.transforms.call import Call, Mode, pulled
from xpgrad.transforms.gradient import ones_like
from xpgrad.transforms.leaves import cotangents, or_zeros, zeros_like
from xpgrad.transforms.trees import LEAF, where


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False, allow_constant: bool = False) -> tuple[Any, ...]:
    """Return the output of `f` at `primals`, and the function that pulls a cotangent back to them.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    *primals : trees of Variables, arrays or scalars, floating-point
    has_aux : bool
        `f` returns ``(output, aux)``.
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    output : tree
    pullback : callable
        Takes a cotangent, a tree like the output, and returns a tuple with a gradient for each primal. It may be called
        repeatedly; it keeps the graph alive.
    aux : object
        Only with `has_aux`.

    Notes
    -----
    Arrays give arrays and Variables Variables, as for `value_and_grad`; a cotangent that is a Variable which requires a
    gradient gives connected Variables. Complex cotangents and gradients are those that users see,
    ``∂/∂x + i ∂/∂y``: the pullback is the adjoint of the Jacobian.

    Raises
    ------
    StructureError, GradientError
        The structure, shape, dtype or device of a cotangent is not that of the output.
    """
    call = Call("vjp", f, range(len(primals)), has_aux, primals, {}, allow_constant=allow_constant)
    gradients = linear_pullback(call)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        """Return a gradient for each primal."""
        mode = Mode(cotangent)
        mode.variables |= call.mode.variables
        mode.recorded |= call.mode.recorded
        seeds = cotangents(call.structure, cotangent, call.outputs, "vjp: cotangent")
        found = gradients(seeds, recorded=mode.recorded)
        return tuple(call.over_arguments([mode.for_user(g) for g in found]))

    return (call.output(), pullback, call.aux_for_user()) if has_aux else (call.output(), pullback)


def linear_pullback(call: Call) -> Callable[..., list[Variable]]:
    """Return the function from cotangents of the outputs to gradients of the roots, zeros by default."""

    def gradients(seeds: Sequence[Variable], *, recorded: bool) -> list[Variable]:
        return or_zeros(call.gradients(seeds, recorded=recorded), call.roots)

    return gradients


class Pushforward:
    """The Jacobian of a call as a linear map of tangents: the pullback of its pullback.

    A pullback is linear in its cotangent, so its own pullback is the Jacobian, at any cotangent; it is recorded at
    zeros, once.
    """

    def __init__(self, call: Call) -> None:
        self.call = call
        self.seeds = [Variable(zeros_like(y)._array) for y in call.outputs]
        self.pulled = call.gradients(self.seeds, recorded=True)

    def __call__(self, tangents: Sequence[Variable], *, recorded: bool) -> list[Variable]:
        """Return a tangent of each output, from one of each root."""
        pairs = [(g, t) for g, t in zip(self.pulled, tangents, strict=True) if g is not None and g._node.requires_grad]
        found = pulled([g for g, _ in pairs], self.seeds, [t for _, t in pairs], recorded=recorded)
        return or_zeros(found, self.call.outputs)


def _along(
    name: str, f: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool, allow_constant: bool
) -> tuple[Call, list[Variable]]:
    """Return the call of `f` at `primals`, and the leaves of `tangents`, one for each root."""
    if not isinstance(primals, (tuple, list)):
        raise TypeError(f"{name}: primals must be a tuple, got {type(primals).__name__}")
    call = Call(name, f, range(len(primals)), has_aux, tuple(primals), {}, tangents, allow_constant=allow_constant)
    if not isinstance(tangents, (tuple, list)) or len(tangents) != len(call.arguments):
        raise TypeError(f"{name}: expected a tuple of {len(call.arguments)} tangents, one for each primal")
    found: list[Variable] = []
    for i, (argument, tangent) in enumerate(zip(call.arguments, tangents, strict=True)):
        what = f"{name}: tangent {i}"
        references = iter(argument.roots)
        leaves = argument.structure.leaves_of(tangent, what)
        for leaf, path, counts in zip(leaves, argument.structure.paths(), argument.counts, strict=True):
            if counts:
                found += cotangents(LEAF, leaf, [next(references)], what + where(path))
    return call, found


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    allow_constant: bool = False,
) -> tuple[Any, ...]:
    """Return the output of `f` at `primals`, and its derivative in the direction `tangents`.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    primals : tuple of trees of Variables, arrays or scalars, floating-point
    tangents : tuple of trees
        Like `primals`; integer leaves take None.
    has_aux : bool
        `f` returns ``(output, aux)``.
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    output : tree
    tangent : tree like the output
    aux : object
        Only with `has_aux`.

    Notes
    -----
    Forward mode by two pullbacks: it costs a forward computation, a recorded sweep, and a sweep of that, and keeps the
    graph in the meantime; functions need no additional rule. Types are as for `value_and_grad`.
    """
    call, directions = _along("jvp", f, primals, tangents, has_aux, allow_constant)
    found = Pushforward(call)(directions, recorded=call.mode.recorded)
    tangent = call.mode.for_user(call.structure.build(found))
    return (call.output(), tangent, call.aux_for_user()) if has_aux else (call.output(), tangent)


def hvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, allow_constant: bool = False
) -> tuple[Any, ...]:
    """Return the product of the Hessian of `f` at `primals` with `tangents`, by a sweep over a recorded sweep.

    Parameters
    ----------
    f : callable
        Returns one real number.
    primals : tuple of trees of Variables, arrays or scalars, floating-point
    tangents : tuple of trees
        Like `primals`; integer leaves take None.
    allow_constant : bool
        As for `value_and_grad`; it applies to the gradient, too.

    Returns
    -------
    tuple of trees
        One for each primal. Types are as for `value_and_grad`.
    """
    call, directions = _along("hvp", f, primals, tangents, False, allow_constant)
    gradients = call.gradients([ones_like(call.number())], recorded=True)
    call.check_dependence(gradients, "the gradient of the function")
    pairs = [(g, t) for g, t in zip(gradients, directions, strict=True) if g is not None and g._node.requires_grad]
    found = pulled([g for g, _ in pairs], call.roots, [t for _, t in pairs], recorded=call.mode.recorded)
    products = or_zeros(found, call.roots)
    return tuple(call.over_arguments([call.mode.for_user(g) for g in products]))
