"""`vjp` and `linearize`: the Jacobian of a function as a linear map, without the matrix."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api.linalg.repetition import irregular
from xpgrad.backend.levels import live
from xpgrad.graph.backward import between
from xpgrad.graph.node import FunctionBase
from xpgrad.graph.sweep import Sweep
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.transforms.call import Evaluation, Mode, directions, new_root, pulled, transforming
from xpgrad.transforms.leaves import check_connected, cotangents, or_zeros, zeros_like


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False, allow_constant: bool = False) -> tuple[Any, ...]:
    """Return the output of `f` at `primals`, and the function that maps a cotangent to their gradients.

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
    gradient gives connected Variables. Complex cotangents and gradients have the convention of users, ``∂/∂x + i
    ∂/∂y``: the pullback is the adjoint of the Jacobian.

    Raises
    ------
    StructureError, GradientError
        The structure, shape, dtype or device of a cotangent differs from the output.
    """
    call = Evaluation("vjp", f, range(len(primals)), has_aux, primals, {}, allow_constant=allow_constant)
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


def unchecked_vjp(
    f: Callable[[list[Variable]], list[Variable]], primals: list[Any]
) -> tuple[list[Any], Callable[[list[Any]], list[Any]]]:
    """Return outputs and pullback as `vjp` with `allow_constant` does, in half the time, for small arrays.

    It is for adapters that have checked their arguments: `f` and cotangents are used as they are, and numbers that `f`
    takes out of Variables give no warning.

    Parameters
    ----------
    f : callable
        Takes a list of Variables, and returns one.
    primals : list of Variable or array, floating-point

    Returns
    -------
    outputs : list of Variable or array
        Variables if their graph is connected to other graphs: within another transform, or for primals that require a
        gradient.
    pullback : callable
        Takes a list with a cotangent of shape, dtype and device of each output, and returns a list with a gradient of
        each primal: Variables if those are, or if a cotangent requires a gradient, else arrays.
    """
    if live:
        checked, pull = vjp(f, primals, allow_constant=True)
        return checked, lambda given: pull(given)[0]
    mode = Mode(found=[x for x in primals if isinstance(x, Variable)])
    roots = [new_root(x, mode) if isinstance(x, Variable) else Variable(x) for x in primals]
    nodes = [x._node for x in roots]
    outputs = transforming(f, roots)
    active: dict[FunctionBase, bool] = {}  # found by the first call of the pullback that records nothing

    def pullback(given: list[Any]) -> list[Any]:
        """Return a gradient for each primal."""
        recorded = Mode(found=[g for g in given if isinstance(g, Variable)]).recorded or mode.recorded
        if recorded or live:
            found = or_zeros(pulled(outputs, roots, list(map(as_variable, given)), recorded=recorded), roots)
            return found if recorded else [g._array for g in found]
        if not active:
            active.update(between([y._node for y in outputs], set(nodes)))
        arrays = [g._array if isinstance(g, Variable) else g for g in given]
        pairs = [(y._node, g) for y, g in zip(outputs, arrays, strict=True) if y._node.requires_grad]
        totals = Sweep(pairs, active=active, watch=set(nodes)).run().totals
        return [totals[x._node] if x._node in totals else zeros_like(x)._array for x in roots]

    return (outputs if mode.recorded else [y._array for y in outputs]), pullback


vars(unchecked_vjp)["bounded"] = True  # its errors are those of the adapter's functions


def linear_pullback(call: Evaluation) -> Callable[..., list[Variable]]:
    """Return the function from cotangents of the outputs to gradients of the roots, zeros by default."""

    def gradients(seeds: Sequence[Variable], *, recorded: bool) -> list[Variable]:
        return or_zeros(call.gradients(seeds, recorded=recorded), call.roots)

    return gradients


class Pushforward:
    """The Jacobian of a call as a linear map of tangents: the pullback of its pullback.

    A pullback is linear in its cotangent, so its own pullback is the Jacobian, at any cotangent; it is recorded once,
    at irregular cotangents, which avoid the special cases of rules.
    """

    def __init__(self, call: Evaluation) -> None:
        self.call = call
        self.seeds = [Variable(irregular(y._node.spec)) if y._node.spec.differentiable else None for y in call.outputs]
        self.pulled = call.gradients(self.seeds, recorded=True)
        seeds = {x._node for x in self.seeds if x is not None}
        check_connected(call.name, [g for g in self.pulled if g is not None], seeds)

    def __call__(self, tangents: Sequence[Variable], *, recorded: bool) -> list[Variable]:
        """Return a tangent of each output, from one of each root."""
        pairs = [(g, t) for g, t in zip(self.pulled, tangents, strict=True) if g is not None and g._node.requires_grad]
        seeds = [x for x in self.seeds if x is not None]
        found = iter(pulled([g for g, _ in pairs], seeds, [t for _, t in pairs], recorded=recorded))
        return or_zeros([None if x is None else next(found) for x in self.seeds], self.call.outputs)


def linearize(f: Callable[..., Any], *primals: Any, allow_constant: bool = False) -> tuple[Any, Callable[..., Any]]:
    """Return the output of `f` at `primals`, and the function that pushes tangents of them forward.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    *primals : trees of Variables, arrays or scalars, floating-point
    allow_constant : bool
        As for `value_and_grad`.

    Returns
    -------
    output : tree
    pushforward : callable
        Takes a tangent for each primal, trees like them whose integer leaves are None, and returns a tree like the
        output: the derivative in that direction. It is linear. It may be called repeatedly; it keeps the graph alive.

    Notes
    -----
    The function runs once, and its gradient is transposed once: a call of the pushforward costs one sweep. For one
    direction `jvp` is faster, and takes no memory for a graph. Types are as for `value_and_grad`; a tangent that is a
    Variable which requires a gradient gives connected Variables.

    Raises
    ------
    StructureError, GradientError
        The structure, shape, dtype or device of a tangent differs from the primal.
    """
    call = Evaluation("linearize", f, range(len(primals)), False, primals, {}, allow_constant=allow_constant)
    push = Pushforward(call)

    def pushforward(*tangents: Any) -> Any:
        """Return the derivative of the output in the direction of `tangents`."""
        mode = Mode(tangents)
        mode.variables |= call.mode.variables
        mode.recorded |= call.mode.recorded
        found = push(directions("linearize", call.arguments, tangents), recorded=mode.recorded)
        return mode.for_user(call.structure.build(found))

    return call.output(), pushforward
