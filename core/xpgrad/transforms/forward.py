"""`jvp` and `hvp`: derivatives in one direction, computed along with the function."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend import random
from xpgrad.config import called_with, config
from xpgrad.errors import GradientError
from xpgrad.graph.methods.cuts import GraphEnds
from xpgrad.graph.methods.ending import MAX_PLACES, rejected, rejecting, rejecting_name
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.call import (
    Evaluation,
    Mode,
    RootArgument,
    directions,
    output_leaves,
    transforming,
    with_aux,
    within,
)
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.dual.transposition import NotStepwise
from xpgrad.transforms.enclosing.node import Output, left, separated
from xpgrad.transforms.gradient import ones_like
from xpgrad.transforms.leaves import or_zeros, zeros_like
from xpgrad.transforms.products import Pushforward
from xpgrad.transforms.trees import Structure, leaves_in, map_leaves


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False,
    allow_constant: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
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

    Raises
    ------
    StructureError, GradientError
        The structure, shape, dtype or device of a tangent differs from the primal; or the output does not depend on the
        arguments because the function took a number out of a Variable, or the graph ended; or a user-defined gradient
        cannot be transposed (see `custom_vjp.defjvp`).

    Notes
    -----
    Forward mode: each array carries its tangent, so that the derivative is complete when the function returns, and no
    graph is kept: a loop takes the memory of one step. Values are known, so functions may branch on them. A constant in
    a graph is also a constant here: `stop_gradient`, integers, random numbers. Types are as for `value_and_grad`.

    For a decomposition with equal eigenvalues, or singular values that are equal or 0, the tangent depends on the
    functions applied to the result. The function is then called again, with the same random numbers, and transposed as
    a whole, as in `linearize`.
    """
    output, tangent, aux = along("jvp", f, primals, tangents, has_aux, allow_constant)
    return (output, tangent, aux) if has_aux else (output, tangent)


def along(
    name: str, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool,
    allow_constant: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return the results of `jvp`, for the transform `name`, and the auxiliary output or None."""
    run = ForwardRun(name, f, primals, tangents)
    try:
        return run(f, has_aux, allow_constant)
    except NotStepwise as error:
        run.rewind(error)
    call = Evaluation(
        name, f, range(len(primals)), has_aux, tuple(primals), {}, tangents, allow_constant=allow_constant
    )
    changes = Pushforward(call)(directions(name, call.arguments, tangents), recorded=call.mode.recorded)
    return call.output(), call.mode.for_user(call.structure.build(changes)), call.aux_for_user()


def hvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, allow_constant: bool = False
) -> tuple[Any, ...]:
    """Return the product of the Hessian of `f` at `primals` with `tangents`: the tangent of its gradient.

    Parameters
    ----------
    f : callable
        Returns one real number.
    primals : tuple of trees of Variables, arrays or scalars, floating-point
    tangents : tuple of trees
        Like `primals`; integer leaves take None.
    allow_constant : bool
        As for `value_and_grad`; it also applies to the gradient.

    Returns
    -------
    tuple of trees
        One for each primal. Types are as for `value_and_grad`.
    """
    run = ForwardRun("hvp", f, primals, tangents)

    def gradient(*arguments: Any) -> list[Variable]:
        call = Evaluation("hvp", f, range(len(arguments)), False, arguments, {}, allow_constant=allow_constant)
        recorded = run.mode.recorded or call.mode.recorded or bool(call.watch)
        found = call.gradients([ones_like(call.number())], recorded=recorded)
        call.check_dependence(found, "the gradient of the function")
        return or_zeros(found, call.roots)

    try:
        products = run.tangents_of(gradient)
    except NotStepwise as error:
        run.rewind(error)
        products = along("hvp", gradient, primals, tangents, False, True)[1]
    remaining = iter(products)
    return tuple(argument.filled([next(remaining) for _ in argument.roots]) for argument in run.arguments)


class ForwardRun:
    """One evaluation in forward mode.

    Attributes
    ----------
    mode : Mode
    arguments : list of RootArgument
        Their roots are the Variables outside.
    tangents : list of tuple of Variable
        What enters with each root: one tangent.
    level : DualLevel
    rejecting : str
        As for `Watch`.
    """

    def __init__(self, name: str, f: Callable[..., Any], primals: Any, tangents: Any) -> None:
        if not callable(f):
            raise TypeError(f"{name}: expected a function, got {type(f).__name__}")
        if not isinstance(primals, (tuple, list)):
            raise TypeError(f"{name}: primals must be a tuple, got {type(primals).__name__}")
        self.name, self.mode, self.rejecting = name, Mode(primals, tangents), rejecting_name()
        self.arguments = [
            RootArgument(value, self.mode, f"{name}: argument {i}", outside) for i, value in enumerate(primals)
        ]
        self.tangents = self._moving(tangents)
        self.level = self._level()
        self.level.repeatable = True

    def _level(self) -> DualLevel:
        return DualLevel(self.name)

    def _moving(self, tangents: Any) -> list[tuple[Variable | None, ...]]:
        """Return what enters beside each root: its tangent."""
        return [(outside(t, self.mode),) for t in directions(self.name, self.arguments, tangents)]

    def rewind(self, error: NotStepwise) -> None:
        """Reset random streams, so that the function can be called again; reraise errors of another call."""
        if error.level is not self.level:
            raise error
        if self.level.drawn is not None:
            random.restore(self.level.drawn)

    def __call__(self, f: Callable[..., Any], has_aux: bool, allow_constant: bool) -> tuple[Any, Any, Any]:
        """Return output, tangent and auxiliary output of `f` as the user receives them."""
        within_f = functools.partial(called_with, rejecting(""), f)
        outputs, structure, aux, seen = self._called(within_f, has_aux, allow_constant)
        as_result, primals, tangents = self.mode.leaf_for_user, [], []
        for output in outputs:
            y, t = self._left(output, seen)
            primals.append(as_result(y))
            tangents.append(as_result(zeros_like(y) if t is None else t))
        if has_aux:
            aux = map_leaves(lambda leaf: as_result(self._leaf_left(leaf, seen)), aux)
        return structure.build(primals), structure.build(tangents), aux

    def tangents_of(self, f: Callable[..., Any]) -> Any:
        """Return the tangent of the result of `f` for the user; the output is not computed completely."""
        outputs, structure, _, seen = self._called(f, False, True)
        as_result = self.mode.leaf_for_user
        return structure.build([as_result(self._tangent_left(y, seen)) for y in outputs])

    def _called(
        self, f: Callable[..., Any], has_aux: bool, allow_constant: bool
    ) -> tuple[list[Variable], Structure, Any, set[int]]:
        """Return the inner outputs of `f`, their structure, the auxiliary output, and the identities of user arrays."""
        level, port = self.level, self.level.argument_port()
        roots = [x for argument in self.arguments for x in argument.roots]
        given = [(x, *moving) for x, moving in zip(roots, self.tangents, strict=True)]
        arrays = [[None if x is None else x._array for x in pair] for pair in given]
        entries = [level.entered(pair, port.inward(xs), port) for pair, xs in zip(given, arrays, strict=True)]
        inside = iter([entry.inside for entry in entries])
        trees = [argument.replaced(inside) for argument in self.arguments]
        cuts = GraphEnds(level, lambda given: True)
        values = cuts.entered()
        outputs, structure, aux, leaves = level.run(
            called_with, values, self._inside, f, trees, has_aux, allow_constant
        )
        if level.places and self.rejecting and config.warn_graph_end:
            raise rejected(self.rejecting, level.places.values())
        if level.places and not allow_constant:
            self._check_dependence(outputs)
        if cuts.found and (self.rejecting or not allow_constant) and not self._depends(outputs):
            cuts.refuse(self.name, self.rejecting, outputs, leaves)
        if level.captured:
            level.store()
        return outputs, structure, aux, {id(x) for xs in arrays for x in xs if x is not None}

    def _inside(self, f: Callable[..., Any], trees: list[Any], has_aux: bool, allow_constant: bool) -> Any:
        result, aux = (transforming if self.mode.recorded else within)(f, *trees), None
        if has_aux:
            result, aux = with_aux(self.name, result)
        outputs, structure = output_leaves(self.name, result, allow_constant)
        return outputs, structure, aux, leaves_in(result)

    def _depends(self, outputs: list[Variable]) -> bool:
        return any(self.level.holds(y._array) and y._array.tangent is not None for y in outputs)

    def _check_dependence(self, outputs: list[Variable]) -> None:
        """Raise or warn because the function took numbers out of Variables."""
        places = list(self.level.places.values())
        if self._depends(outputs):
            if config.warn_graph_end:
                for place in places:
                    place.warn()
            return
        lines = "".join(f"\n  {place}; {place.advice()}" for place in places[:MAX_PLACES])
        which = " or ".join(map(str, range(len(self.arguments))))
        raise GradientError(
            f"{self.name}: the result of the function does not depend on argument {which}, because a number was taken "
            "out of a Variable that does, and Python's numbers have no gradient; allow_constant=True gives zeros:"
            f"{lines}"
        )

    def _left(self, y: Variable, seen: set[int]) -> tuple[Variable, Variable | None]:
        """Return primal and tangent of an output as outer Variables, which share no memory with the inputs."""
        level = self.level
        if not level.holds(y._array):  # an array from outside, returned unchanged
            return y, None
        if not (level.entries and y._node.requires_grad):
            array = y._array
            tangent = None if array.tangent is None else constant_variable(array.tangent)
            return own(constant_variable(array.primal), seen), None if tangent is None else own(tangent, seen)
        ((primal, change),) = left(level, [Output(y, level.output_port())])
        assert primal is not None
        return own(primal, seen), None if change is None else own(change, seen)

    def _tangent_left(self, y: Variable, seen: set[int]) -> Variable:
        """Return the tangent of an output as a Variable outside."""
        level = self.level
        if not level.holds(y._array) or y._array.tangent is None:
            return zeros_like(self._left(y, seen)[0])
        ((tangent,),) = left(level, [Output(y, level.tangent_port())])
        assert tangent is not None
        return own(tangent, seen)

    def _leaf_left(self, leaf: Any, seen: set[int]) -> Any:
        """Return a leaf of the auxiliary output outside: Variables and arrays as their primals."""
        if isinstance(leaf, Variable):
            return self._left(leaf, seen)[0] if leaf._array is not None else leaf
        if isinstance(leaf, DualArray) and self.level.holds(leaf):
            return own(constant_variable(leaf.primal), seen)._array
        return leaf


def outside(x: Variable, mode: Mode) -> Variable:
    """Return `x`, without its graph if none is recorded."""
    return x if mode.recorded or not x._node.requires_grad else constant_variable(x._array)


def own(x: Variable, seen: set[int]) -> Variable:
    """Return a result without memory shared with arrays in `seen`, and add its identity to `seen`."""
    x._array = separated(x._array, seen)
    return x
