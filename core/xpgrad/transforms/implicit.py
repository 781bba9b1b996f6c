"""`custom_linear_solve` and `custom_root`: derivatives of solutions by the implicit function theorem.

The derivative of a solution does not depend on how it was found; it takes one more linear solve and keeps the solution.
Every step of the backward pass is a function of Variables, so that derivatives of any order exist.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.levels import innermost
from xpgrad.boundary import bounded
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import GradientError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.methods.ending import NumberWatch
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.call import recording
from xpgrad.transforms.capture import CapturedRun
from xpgrad.transforms.dual.parts import Parts
from xpgrad.transforms.dual.values import component_by_component, forward_levels, of_values
from xpgrad.transforms.forward import along
from xpgrad.transforms.leaves import alias, as_leaf, cotangents, or_zeros, root
from xpgrad.transforms.products import vjp
from xpgrad.transforms.trees import Structure, flatten

Map = Callable[[Any], Any]
Solve = Callable[[Map, Any], Any]


def custom_linear_solve(
    matvec: Map, b: Any, solve: Solve, transpose_solve: Solve | None = None, symmetric: bool = False
) -> Any:
    """Return the solution of ``matvec(x) = b``, found by `solve`, differentiable by `b` and the Variables of `matvec`.

    Parameters
    ----------
    matvec : callable
        A linear map of trees like `b`, on Variables. Its matrix may depend on captured Variables.
    b : tree of Variables or arrays, floating-point
    solve : callable
        ``solve(matvec, b)`` returns the solution by any method; it is not differentiated.
    transpose_solve : callable, optional
        ``transpose_solve(vecmat, b)`` solves with the transposed map `vecmat` (the adjoint, for complex numbers).
    symmetric : bool
        The map is its own transpose (adjoint), so that `solve` is used for both.

    Returns
    -------
    tree of Variables, like `b`

    Raises
    ------
    GradientError
        In the backward pass: neither `transpose_solve` nor `symmetric` was given.
    """
    leaves, structure = flatten(b)
    inputs = [as_leaf(x, "custom_linear_solve: b") for x in leaves]
    start = structure.build([constant_variable(x._array) for x in inputs])
    levels, what = forward_levels(innermost()), "custom_linear_solve: the solution"

    def solved(bs: list[Variable]) -> list[Variable]:
        found = of_values("custom_linear_solve", solve, matvec, structure.build(bs))
        return cotangents(structure, found, inputs, what)

    def misfit(xs: list[Variable]) -> list[Variable]:
        made = called_with(backprop_mode(False), matvec, structure.build(xs))
        products = cotangents(structure, made, inputs, "custom_linear_solve: what the function returned")
        return [constant_variable(b._array) - y for b, y in zip(inputs, products, strict=True)]

    if levels:
        xs = _with_tangents(levels, solved(inputs), misfit, solved)
    else:
        found = called_with(backprop_mode(False), solve, matvec, start)
        xs = cotangents(structure, found, inputs, what)
    if not recording():
        return structure.build([constant_variable(x._array) for x in xs])
    if transpose_solve is not None and not callable(transpose_solve):
        raise TypeError(
            f"custom_linear_solve: expected transpose_solve as a function, got {type(transpose_solve).__name__}"
        )
    transposed = (matvec, solve) if symmetric else (None, transpose_solve)
    node = LinearSolution(matvec, structure, solve, transposed)
    return structure.build(node.connected(inputs, xs))


def custom_root(f: Map, initial: Any, solve: Solve, tangent_solve: Solve) -> Any:
    """Return the root of `f` that `solve` finds, with derivatives by the Variables that `f` captures.

    Parameters
    ----------
    f : callable
        Takes and returns a tree like `initial`, on Variables.
    initial : tree of Variables or arrays, floating-point
        Starting point of the search; the root has no derivative by it.
    solve : callable
        ``solve(f, initial)`` returns the root by any method; it is not differentiated.
    tangent_solve : callable
        ``tangent_solve(g, y)`` returns the solution of ``g(x) = y`` for a linear map `g`: the Jacobian of `f` at the
        root, or its transpose. For one number that is ``y / g(ones)``.

    Returns
    -------
    tree of Variables, like `initial`
    """
    leaves, structure = flatten(initial)
    start = [as_leaf(x, "custom_root: initial") for x in leaves]
    initial = structure.build([constant_variable(x._array) for x in start])
    levels, what = forward_levels(innermost()), "custom_root: the root"
    if levels:
        xs = cotangents(structure, of_values("custom_root", solve, f, initial), start, what)
        root_of_values = structure.build(xs)

        def misfit(xs: list[Variable]) -> list[Variable]:
            made = called_with(backprop_mode(False), f, structure.build(xs))
            return cotangents(structure, made, start, "custom_root: what the function returned")

        def step(root: Any, ys: Any) -> Any:
            def tangent(direction: Any) -> Any:
                return along("custom_root", f, (root,), (direction,), False, True)[1]

            return tangent_solve(tangent, ys)

        def linear(ys: list[Variable]) -> list[Variable]:
            found = of_values("custom_root", step, root_of_values, structure.build([-y for y in ys]))
            return cotangents(structure, found, start, "custom_root: the tangent")

        xs = _with_tangents(levels, xs, misfit, linear)
    else:
        found = called_with(backprop_mode(False), solve, f, initial)
        xs = cotangents(structure, found, start, what)
    if not recording():
        return structure.build([constant_variable(x._array) for x in xs])
    return structure.build(Root(f, structure, tangent_solve).connected([], xs))


def _with_tangents(
    levels: Sequence[Parts], xs: list[Variable], misfit: Callable[[list[Variable]], list[Variable]],
    linear: Callable[[list[Variable]], list[Variable]],
) -> list[Variable]:  # fmt: skip
    """Return a solution with its tangents at all levels in forward mode, by one linear solution for each component.

    Each correction by `linear`, which solves the equation linearised at the values, corrects the components of one
    order: the components of the misfit are then 0 up to that order.
    """
    for order in range(1, len(levels) + 1):
        found = component_by_component(levels, order, linear, misfit(xs))
        if found is not None:
            xs = [x + change for x, change in zip(xs, found, strict=True)]
    return xs


class _Implicit(FunctionNode):
    """A solution of an equation with captured Variables, which are the last inputs."""

    of_library = True

    def __init__(self, f: Map, structure: Structure) -> None:
        self.f, self.structure = f, structure

    def traced(self, roots: Sequence[Variable]) -> CapturedRun:
        """Return the trace of the user's function."""

        def run() -> list[Variable]:
            result = self.f(self.structure.build(roots))
            return cotangents(self.structure, result, list(roots), f"{self.label}: what the function returned")

        nodes = [x._node for x in roots]
        watch = NumberWatch(nodes, recorded=True)
        trace: CapturedRun = called_with(watch.entered(), CapturedRun, run, roots)
        if watch:
            text = f"{self.label}: what the function returned does not depend on its argument"
            watch.refuse([y._node for y in trace.outputs], nodes, text, "")
            watch.warn()
        return trace

    def connected(self, inputs: list[Variable], xs: list[Variable]) -> Sequence[Variable]:
        """Return the solution, connected to `inputs` and to the Variables that the user's function captured."""
        captured = self.traced([root(x._array) for x in xs]).captured
        known = [*inputs, *(variable_over(node, None) for node in captured)]
        if not any(x._node.requires_grad for x in known):
            return [constant_variable(x._array) for x in xs]
        self._kept_outputs = dict.fromkeys(range(len(xs)))
        return self._connect(known, [x._array for x in xs])

    def linearised(self) -> tuple[CapturedRun, Map]:
        """Return the trace of the user's function at the solution, and its transposed derivative there."""
        recorded = recording()
        xs = self.get_retained_outputs()
        roots = [alias(x) if recorded and x._node.requires_grad else root(x._array) for x in xs]
        trace, level = self.traced(roots), innermost()

        def transposed(u: Any) -> Any:
            if innermost() is not level:  # the solver transforms it, to have its matrix
                return vjp(self.f, self.structure.build(xs), allow_constant=True)[1](u)[0]
            us = cotangents(self.structure, u, roots, f"{self.label}: argument of the transposed map")
            found = trace.gradients(us, range(len(roots)), recorded=recording())
            return self.structure.build(or_zeros(found, roots))

        return trace, transposed

    def given(self, grad_outputs: Sequence[Any]) -> Any:
        """Return the cotangents of the solution as a tree, with zeros for missing cotangents."""
        return self.structure.build(or_zeros(grad_outputs, self.get_retained_outputs()))


class LinearSolution(_Implicit):
    """Solution of a linear equation."""

    def __init__(
        self, matvec: Map, structure: Structure, solve: Solve, transposed: tuple[Map | None, Solve | None]
    ) -> None:
        super().__init__(matvec, structure)
        self.solve, self.transposed = solve, transposed

    @property
    def label(self) -> str:
        """Name of the public function."""
        return "custom_linear_solve"

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Solve with the transposed map; the rest follows from ``matvec(x) = b``."""
        matvec, transpose_solve = self.transposed
        if transpose_solve is None:
            raise GradientError(
                "custom_linear_solve: no gradient without transpose_solve or symmetric=True; pass either argument"
            )
        trace, transposed = self.linearised()
        gb = bounded(custom_linear_solve, "custom_linear_solve")(
            matvec or transposed, self.given(grad_outputs), transpose_solve, self.solve, matvec is not None
        )
        gbs, count = flatten(gb)[0], len(trace.outputs)
        rest = [i for i in target_input_indexes if i >= count]
        others = iter(trace.gradients([-g for g in gbs], rest, recorded=recording()))
        return tuple(gbs[i] if i < count else next(others) for i in target_input_indexes)


class Root(_Implicit):
    """Root of a function."""

    def __init__(self, f: Map, structure: Structure, tangent_solve: Solve) -> None:
        super().__init__(f, structure)
        self.tangent_solve = tangent_solve

    @property
    def label(self) -> str:
        """Name of the public function."""
        return "custom_root"

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Solve with the transposed Jacobian; the rest follows from ``f(x) = 0``."""
        trace, transposed = self.linearised()
        u = custom_linear_solve(transposed, self.given(grad_outputs), self.tangent_solve, self.tangent_solve)
        negative = [-each for each in flatten(u)[0]]
        targets = [i + len(trace.outputs) for i in target_input_indexes]
        return tuple(trace.gradients(negative, targets, recorded=recording()))
