"""`jet`: derivatives of every order along a curve, in Taylor mode, and its level, `SeriesLevel`."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Never

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.errors import StructureError
from xpgrad.graph.variable import Variable, constant_variable
from xpgrad.transforms.batch.collectives import psum
from xpgrad.transforms.call import directions, transforming
from xpgrad.transforms.dual.level import DualLevel
from xpgrad.transforms.dual.transposition import NotStepwise
from xpgrad.transforms.enclosing.level import Outer, Port
from xpgrad.transforms.enclosing.node import Output, left
from xpgrad.transforms.forward import ForwardRun, jvp, outside, own
from xpgrad.transforms.leaves import as_leaf, zeros_like
from xpgrad.transforms.series.backend import SeriesBackend, over
from xpgrad.transforms.trees import flatten, map_leaves
from xpgrad.types import Array


class SeriesLevel(DualLevel):
    """One run of a function on series.

    A cotangent c of a series y stands for the coefficient of ``t**order`` of c y. So the gradient by the coefficient of
    ``t**k`` is the coefficient of ``t**(order - k)`` of the gradient.

    Parameters
    ----------
    title : str
    order : int
    collapsed : bool
        As for `SeriesArithmetic`.
    """

    transformation = "series"

    def __init__(self, title: str, order: int, collapsed: bool = False) -> None:
        super().__init__(title)
        self.order, self.collapsed = order, collapsed

    def backend(self, base: Backend) -> SeriesBackend:
        """Return the backend of this level over `base`."""
        return over(base, self.depth, self.order)

    @property
    def tangents(self) -> Never:  # of the whole function, by nested `jvp`
        """Raise: a rule of the user's has a tangent, but no further coefficients."""
        raise NotStepwise(self)

    def captured_port(self) -> Port:
        """Return how Variables from outside enter: as constants."""
        return Port(lambda given: self.dual(given[0], None), lambda g: g.terms[-1:])

    def argument_port(self) -> Port:
        """Return how the coefficients of an argument enter as one array."""
        return Port(self._series, lambda g: g.terms[::-1])

    def output_port(self) -> Port:
        """Return how an array leaves as its coefficients."""
        return Port(lambda given: self._series(given[::-1]), lambda y: y.terms)

    def _series(self, given: Outer | Sequence[Any]) -> Array:
        primal, *tail = given
        if primal is None:
            like = next(t for t in tail if t is not None)
            primal = plugins.backend_of(like).xp.zeros_like(like)
        return self.dual(primal, None if all(t is None for t in tail) else tuple(tail))


def jet(f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
    """Return the output of `f` on a curve, and its derivatives up to the order to which those of the curve are given.

    Parameters
    ----------
    f : callable
        Returns a tree of Variables.
    primals : tuple of trees of Variables, arrays or scalars, floating-point
        The arguments of `f`: the point of the curve at 0.
    series : tuple of sequences of trees
        For each primal, the first to n-th derivative of the curve at 0, each like the primal.

    Returns
    -------
    output : tree
    derivatives : list of trees like the output
        The first to n-th derivative of ``f`` along the curve at 0.

    Raises
    ------
    StructureError
        The numbers of derivatives differ, or one is not like its primal.

    Notes
    -----
    Taylor mode: each array carries the coefficients of its power series, which products convolve and linear functions
    map one by one, so that n derivatives take O(n^2) products, where nested `jvp` takes O(2^n). ``exp``, ``tanh``,
    ``expit``, roots, quotients and powers with an integer have recurrences of as many; other primitives are computed by
    their rules in forward mode on series that are shorter by one, in O(n^3) if these call one such function.
    If `f` calls a function with a gradient of the user's, or a decomposition whose tangents depend on what follows, it
    is differentiated as a whole by nested `jvp`. Derivatives are differentiable.
    (A. Griewank, A. Walther: Evaluating Derivatives, chapter 13, SIAM 2008)

    Examples
    --------
    >>> import numpy as np
    >>> from xpgrad import array_api as xp
    >>> from xpgrad.transforms import jet
    >>> along = [np.asarray(1.0), np.asarray(0.0), np.asarray(0.0)]
    >>> y, derivatives = jet(xp.sin, (np.asarray(0.0),), (along,))
    >>> [float(x) for x in (y, *derivatives)]
    [0.0, 1.0, 0.0, -1.0]
    """
    counts = {len(each) for each in series}
    if len(series) != len(primals) or len(counts) != 1:
        raise StructureError(
            f"jet: expected as many derivatives of each of the {len(primals)} primals, got {[len(s) for s in series]}"
        )
    (order,) = counts
    if not order:
        zeros = [map_leaves(lambda x: x * 0, each) for each in primals]
        return jvp(f, primals, zeros, allow_constant=True)[0], []
    found = coefficients("jet", f, primals, [[s[k] for s in series] for k in range(order)], order)
    output, *rest = found
    return output, rest


def coefficients(
    name: str, f: Callable[..., Any], primals: Sequence[Any], derivatives: Sequence[Sequence[Any]], order: int,
    collapsed: str | None = None,
) -> list[Any]:  # fmt: skip
    """Return the output and its derivatives up to `order`, for those of all primals; others are 0.

    If `collapsed` is the name of the innermost `vmap`, the first derivative is batched by it and the only one, and the
    second one found is the sum over its members.
    """
    run = _SeriesRun(name, f, primals, derivatives, order, collapsed is not None)
    try:
        return run.terms(f)
    except NotStepwise as error:
        run.rewind(error)
    nested = functools.partial(transforming, _nested) if run.mode.recorded else _nested
    found: list[Any] = nested(f, primals, derivatives, order)
    if collapsed is not None:
        found[2] = map_leaves(functools.partial(psum, axis_name=collapsed), found[2])
    return found


class _SeriesRun(ForwardRun):
    """One evaluation in Taylor mode."""

    def __init__(
        self, name: str, f: Callable[..., Any], primals: Any, derivatives: Sequence[Any], order: int,
        collapsed: bool,
    ) -> None:  # fmt: skip
        self.order, self.collapsed = order, collapsed
        super().__init__(name, f, primals, derivatives)

    def _level(self) -> SeriesLevel:
        return SeriesLevel(self.name, self.order, self.collapsed)

    def _moving(self, tangents: Any) -> list[tuple[Variable | None, ...]]:
        """Return what enters beside each root: the coefficients after the first."""
        rows = []
        for k, each in enumerate(tangents, 1):
            found = [outside(t, self.mode) for t in directions(self.name, self.arguments, each)]
            rows.append([t / math.factorial(k) if k > 1 else t for t in found])
        absent = (None,) * (self.order - len(rows))
        return [(*each, *absent) for each in zip(*rows, strict=True)]

    def terms(self, f: Callable[..., Any]) -> list[Any]:
        """Return the output of `f` and its derivatives as the user receives them."""
        outputs, structure, _, seen = self._called(f, False, True)
        columns = [self._terms_left(y, seen) for y in outputs]
        return [self.mode.for_user(structure.build(list(each))) for each in zip(*columns, strict=True)]

    def _terms_left(self, y: Variable, seen: set[int]) -> list[Variable]:
        """Return an output and its derivatives as Variables outside; they share no memory with what entered."""
        level, found = self.level, list[Variable | None]()
        if not level.holds(y._array):
            found = [y, *(None,) * self.order]
        elif level.entries and y._node.requires_grad:
            (found,) = left(level, [Output(y, level.output_port())])
        else:
            found = [None if x is None else constant_variable(x) for x in y._array.terms]
        primal = found[0]
        assert primal is not None
        made = [zeros_like(primal) if x is None else x * math.factorial(k) if k > 1 else x for k, x in enumerate(found)]
        return [own(x, seen) if level.holds(y._array) or k else x for k, x in enumerate(made)]


def _nested(
    f: Callable[..., Any], primals: Sequence[Any], derivatives: Sequence[Sequence[Any]], order: int
) -> list[Any]:
    """Return the output and its derivatives by nested `jvp`, by the parameter of the curve."""
    leaves, structure = flatten(tuple(primals))
    rows = [flatten(tuple(each))[0] for each in derivatives]
    given = any(isinstance(x, Variable) for x in (*leaves, *(x for row in rows for x in row)))
    points = [as_leaf(x, "jet") for x in leaves]
    starts = [zeros_like(x if not x.ndim else x.ravel()[0]) for x in points]
    times = starts if given else [t._array for t in starts]

    def on_curve(*times: Any) -> Any:
        moved = []
        for i, (x, t) in enumerate(zip(points, times, strict=True)):
            power = t
            for k, row in enumerate(rows, 1):
                x = x + as_leaf(row[i], "jet") * (power / math.factorial(k))
                power = power * t
            moved.append(x)
        return f(*structure.build(moved))

    function: Callable[..., Any] = on_curve
    found = [_along_times(function, *times)[0]]
    for _ in range(order):
        found.append(_along_times(function, *times)[1])
        function = functools.partial(_slope, function)
    return found


def _along_times(function: Callable[..., Any], *times: Any) -> tuple[Any, ...]:
    """Return the result of a function of times that pass together, and its derivative."""
    return jvp(function, times, [t * 0 + 1 for t in times], allow_constant=True)


def _slope(function: Callable[..., Any], *times: Any) -> Any:
    return _along_times(function, *times)[1]
