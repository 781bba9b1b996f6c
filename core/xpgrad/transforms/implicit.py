"""`custom_linear_solve` and `custom_root`: derivatives of solutions by the implicit function theorem.

The derivative of a solution does not depend on how it was found; it takes one more linear solve and keeps the solution.
Every step of the backward pass is a function of Variables, so that derivatives of any order exist.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.levels import innermost
from xpgrad.config import backprop_mode, called_with, config
from xpgrad.errors import GradientError
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.methods.ending import Watch
from xpgrad.graph.variable import Variable, constant_variable, variable_over
from xpgrad.transforms.call import recording
from xpgrad.transforms.capture import Trace
from xpgrad.transforms.leaves import alias, as_leaf, cotangents, or_zeros, root
from xpgrad.transforms.trees import Structure, flatten, map_leaves
from xpgrad.watch import inspection

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
    level = innermost()
    if level is not None and level.tangents is not None:
        xs = _linear_tangents(level.tangents, matvec, inputs, structure, solve)
    else:
        found = called_with(backprop_mode(False), solve, matvec, start)
        xs = cotangents(structure, found, inputs, "custom_linear_solve: the solution")
    if not recording():
        return structure.build([constant_variable(x._array) for x in xs])
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
        Where the search starts; the root has no derivative by it.
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
    level = innermost()
    if level is not None and level.tangents is not None:
        xs = _root_tangents(level.tangents, f, start, structure, solve, tangent_solve)
    else:
        initial = structure.build([constant_variable(x._array) for x in start])
        found = called_with(backprop_mode(False), solve, f, initial)
        xs = cotangents(structure, found, start, "custom_root: the root")
    if not recording():
        return structure.build([constant_variable(x._array) for x in xs])
    return structure.build(Root(f, structure, tangent_solve).connected([], xs))


# In forward mode the tangent of a solution is found as its gradient is: by one more linear solve.


def _linear_tangents(
    level: Any, matvec: Map, inputs: list[Variable], structure: Structure, solve: Solve
) -> list[Variable]:
    """Return the solution of ``A x = b`` with its tangent, ``A dx = db - dA x``."""
    what = "custom_linear_solve: the solution"

    def plain(x: Any) -> Any:
        return map_leaves(lambda leaf: level.primal_of(as_leaf(leaf, what)), matvec(x))

    def solved(bs: list[Variable]) -> list[Variable]:
        found = called_with(backprop_mode(False), solve, plain, structure.build(bs))
        return [level.primal_of(x) for x in cotangents(structure, found, inputs, what)]

    xs = solved([level.primal_of(b) for b in inputs])
    made = called_with(backprop_mode(False), matvec, structure.build(xs))
    products = cotangents(structure, made, inputs, "custom_linear_solve: what the function returned")
    if not any(map(level.has_tangent, [*inputs, *products])):
        return xs
    changes = [level.tangent_of(b) - level.tangent_of(y) for b, y in zip(inputs, products, strict=True)]
    return [level.joined(x, t) for x, t in zip(xs, solved(changes), strict=True)]


def _root_tangents(
    level: Any, f: Map, start: list[Variable], structure: Structure, solve: Solve, tangent_solve: Solve
) -> list[Variable]:
    """Return the root of `f` with its tangent, the solution of ``J dx = -df``."""
    what = "custom_root: the root"

    def plain(x: Any) -> Any:
        return map_leaves(lambda leaf: level.primal_of(as_leaf(leaf, what)), f(x))

    def values(xs: list[Variable]) -> list[Variable]:
        found = called_with(backprop_mode(False), f, structure.build(xs))
        return cotangents(structure, found, start, "custom_root: what the function returned")

    initial = structure.build([level.primal_of(x) for x in start])
    found = called_with(backprop_mode(False), solve, plain, initial)
    xs = [level.primal_of(x) for x in cotangents(structure, found, start, what)]
    ys = values(xs)
    if not any(map(level.has_tangent, ys)):
        return xs
    own = [level.tangent_of(y) for y in ys]

    def along(direction: Any) -> Any:
        """Return the product of the Jacobian of `f` at the root with a tangent of it."""
        ts = cotangents(structure, direction, start, "custom_root: argument of the linear map")
        made = values([level.joined(x, t) for x, t in zip(xs, ts, strict=True)])
        return structure.build([level.tangent_of(y) - t for y, t in zip(made, own, strict=True)])

    found = called_with(backprop_mode(False), tangent_solve, along, structure.build([-t for t in own]))
    ts = cotangents(structure, found, start, "custom_root: the tangent")
    return [level.joined(x, t) for x, t in zip(xs, ts, strict=True)]


class _Implicit(FunctionNode):
    """A solution of an equation with captured Variables, which are the last inputs."""

    of_library = True

    def __init__(self, f: Map, structure: Structure) -> None:
        self.f, self.structure = f, structure

    def traced(self, roots: Sequence[Variable]) -> Trace:
        """Return the trace of the user's function."""

        def run() -> list[Variable]:
            result = self.f(self.structure.build(roots))
            return cotangents(self.structure, result, list(roots), f"{self.label}: what the function returned")

        nodes = [x._node for x in roots]
        watch = Watch(nodes, recorded=True)
        trace: Trace = called_with(watch.entered(), Trace, run, roots)
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
        if config.debug:
            inspection.note(self)
        return self._connect(known, tuple(x._array for x in known), tuple(x._array for x in xs), recording=True)

    def linearised(self) -> tuple[Trace, Map]:
        """Return the trace of the user's function at the solution, and its transposed derivative there."""
        recorded = recording()
        xs = self.get_retained_outputs()
        roots = [alias(x) if recorded and x._node.requires_grad else root(x._array) for x in xs]
        trace = self.traced(roots)

        def transposed(u: Any) -> Any:
            us = cotangents(self.structure, u, roots, f"{self.label}: argument of the transposed map")
            found = trace.gradients(us, range(len(roots)), recorded=recording())
            return self.structure.build(or_zeros(found, roots))

        return trace, transposed

    def given(self, grad_outputs: Sequence[Any]) -> Any:
        """Return the cotangents of the solution as a tree, with zeros for missing ones."""
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
                "custom_linear_solve: no gradient without transpose_solve or symmetric=True; pass one of them"
            )
        trace, transposed = self.linearised()
        gb = custom_linear_solve(
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
