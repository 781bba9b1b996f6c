"""`BSpline`: splines as sums of basis splines, with gradients by knots, coefficients and arguments."""

import functools
import operator
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.scipy.interpolate.polynomials import check_period, ends_of, evaluated, ordered, periodic_integral, piece
from xpgrad.scipy.operands import beside, eye_beside, known
from xpgrad.types import AnyArray


class BSpline:
    """A spline of the degree `k`.

    Parameters
    ----------
    t : Variable or array, shape (N + k + 1,)
        Knots, ascending.
    c : Variable or array, with at least N elements along `axis`
        Coefficients.
    k : int
    extrapolate : bool or "periodic"
        Whether the first and last pieces continue beyond ``t[k]`` and ``t[N]``; else values there are NaN.
    axis : int
    """

    def __init__(self, t: AnyArray, c: AnyArray, k: int, extrapolate: bool | str = True, axis: int = 0) -> None:
        self.t, c = as_variables("BSpline", t, c)
        self.k, self.extrapolate, self.axis = operator.index(k), extrapolate, axis % max(c.ndim, 1)
        self.c, n = xpa.moveaxis(c, axis, 0), self.t.shape[0] - k - 1
        if self.t.ndim != 1 or k < 0 or n < k + 1 or self.c.shape[0] < n:
            raise ShapeError(
                f"BSpline: expected at least {2 * k + 2} knots of degree {k}, and as many coefficients as knots less "
                f"{k + 1}, got {self.t.shape} and {c.shape}"
            )
        if known(self.t) and not xpa.all(self.t[1:] >= self.t[:-1]):
            raise ValueError("BSpline: expected knots in ascending order")

    def __call__(self, x: Any, nu: int = 0, extrapolate: bool | str | None = None) -> Variable:
        """Return the value, or the derivative of the order `nu`, at `x`."""
        return evaluated(self, x, self._ends, nu, extrapolate, lambda v: (self.derivative(nu) if nu else self)._at(v))

    @property
    def _ends(self) -> tuple[Variable, Variable]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def _at(self, v: Variable) -> Variable:
        at, w = basis(self.t, v, self.k)
        wide = (-1, *(1,) * (self.c.ndim - 1))
        parts = (xpa.take(self.c, at + (j - self.k), axis=0) for j in range(len(w)))
        terms = (xpa.reshape(weight, wide) * part for weight, part in zip(w, parts, strict=True))
        return functools.reduce(operator.add, terms)

    def derivative(self, nu: int = 1) -> "BSpline":
        """Return the derivative of the order `nu`; of a negative order, the integral."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self.t, self.c[: self.t.shape[0] - self.k - 1, ...], self.k
        for _ in range(nu):
            if not k:
                return BSpline(t, xpa.moveaxis(xpa.zeros_like(c), 0, self.axis), 0, self.extrapolate, self.axis)
            n = c.shape[0]
            width = xpa.reshape(t[k + 1 : k + n] - t[1:n], (-1, *(1,) * (c.ndim - 1)))
            wide = width != 0
            c = xpa.where(wide, float(k) * (c[1:] - c[:-1]) / xpa.where(wide, width, 1.0), 0.0)
            t, k = t[1:-1], k - 1
        return BSpline(t, xpa.moveaxis(c, 0, self.axis), k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> "BSpline":
        """Return the integral of the order `nu` from the first knot; of a negative order, the derivative."""
        if nu < 0:
            return self.derivative(-nu)
        t, k = self.t, self.k
        c = xpa.moveaxis(self.c[: t.shape[0] - k - 1, ...], 0, self.axis)
        for _ in range(nu):
            width = xpa.reshape(t[k + 1 :] - t[: -k - 1], (-1, *(1,) * (c.ndim - 1)))
            sums = xpa.cumulative_sum(xpa.moveaxis(c, self.axis, 0) * width, axis=0, include_initial=True) / (k + 1.0)
            t, k, c = xpa.concat([t[:1], t, t[-1:]]), k + 1, xpa.moveaxis(sums, 0, self.axis)
        outside = False if self.extrapolate == "periodic" else self.extrapolate
        return BSpline(t, c, k, outside, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: bool | str | None = None) -> Variable:
        """Return the integral from `a` to `b`, continued as by `__call__`, but by 0 if not at all."""
        outside, found = self.extrapolate if extrapolate is None else extrapolate, self.antiderivative()
        if outside == "periodic":
            return periodic_integral(found, a, b, *self._ends)
        if not outside:
            a, b = (xpa.clip(beside(self.t, end, "integrate"), *self._ends) for end in (a, b))
        return found(b, extrapolate=True) - found(a, extrapolate=True)


def basis(t: Variable, v: Variable, k: int) -> tuple[Variable, list[Any]]:
    """Return the last knot before each argument, and the ``k + 1`` basis splines that are not 0 there."""
    at = piece(t, v, k, t.shape[0] - k - 2)
    w: list[Any] = [xpa.ones_like(v)]
    for d in range(1, k + 1):
        grown: list[Any] = [0.0] * (d + 1)
        for j in range(d):
            low, high = xpa.take(t, at + (j + 1 - d)), xpa.take(t, at + (j + 1))
            width = high - low
            share = w[j] / xpa.where(width != 0, width, 1.0)
            grown[j] = grown[j] + (high - v) * share
            grown[j + 1] = grown[j + 1] + (v - low) * share
        w = grown
    return at, w


def make_interp_spline(
    x: AnyArray, y: AnyArray, k: int = 3, t: AnyArray | None = None, bc_type: Any = None, axis: int = 0
) -> BSpline:
    """Return the spline of the degree `k` through given values, with SciPy's knots by default.

    Parameters
    ----------
    x : Variable or array, shape (N,), ascending
    y : Variable or array, with N elements along `axis`
    k : int
    t : Variable or array, shape (N + k + 1,), optional
        Without it, there is no knot next to the ends ("not-a-knot"), or between the `x` for even degrees.
    bc_type : {"natural", "clamped", "not-a-knot", "periodic"}, or a pair, optional
        As for `CubicSpline`; "periodic" for any degree, the others for cubic splines.
    axis : int

    Returns
    -------
    BSpline
    """
    x, values, axis = ordered("make_interp_spline", x, y, axis, k + 1)
    n = x.shape[0]
    periodic = bc_type == "periodic"
    if periodic:
        check_period(values, "make_interp_spline")
        bc_type, periodic = None, k > 1  # others are the same with SciPy's knots
    conditions: list[Any] = [None, None] if bc_type is None else ends_of(bc_type, "make_interp_spline")
    given = [(place, each) for place, each in zip((0, n - 1), conditions, strict=True) if each is not None]
    if given and (k != 3 or t is not None or len(given) == 1):
        raise ValueError("make_interp_spline: expected conditions at both ends of a cubic spline without given knots")
    if periodic and t is None:
        middle = x if k % 2 else xpa.concat([x[:1], 0.5 * (x[1:-1] + x[:-2]), x[-1:]])
        period = x[-1] - x[0]
        t = xpa.concat([middle[n - 1 - k : n - 1] - period, middle, middle[1 : k + 1] + period])
    elif t is None:
        half = 1 if given else (k + 1) // 2
        middle = x[half : n - half] if k % 2 else 0.5 * (x[1:] + x[:-1])[half : n - 1 - half]
        ends = [xpa.broadcast_to(end, (k + 1,)) for end in (x[:1], x[-1:])]
        t = xpa.concat([ends[0], middle, ends[1]] if k else [x, x[-1:]])
    knots = as_variable(t)
    count = knots.shape[0] - k - 1 - (k if periodic else 0)
    numbers = x.node.spec.backend.xp.arange(count, device=x.node.spec.device)
    tail = values.shape[1:]

    if periodic:
        x, values = x[:-1], values[:-1]
    at, w = basis(knots, x, k)
    matrix: Any = 0.0
    for j, weight in enumerate(w):
        matrix = matrix + xpa.where(((at + (j - k)) % count)[:, None] == numbers, weight[:, None], 0.0)
    right = xpa.reshape(values, (x.shape[0], -1))
    for place, (order, value) in given:  # the derivatives of the basis at an end are splines of unit coefficients
        unit = BSpline(knots, eye_beside(x, count), k)(x[place : place + 1], nu=order)
        goal = xpa.reshape(xpa.broadcast_to(beside(x, value, "make_interp_spline"), tail), (1, -1))
        first = place == 0
        matrix = xpa.concat([unit, matrix] if first else [matrix, unit], axis=0)
        right = xpa.concat([goal, right] if first else [right, goal], axis=0)
    c = xpa.reshape(xpa.linalg.solve(matrix, right), (count, *tail))
    if periodic:
        c = xpa.concat([c, c[:k]])
    return BSpline(knots, xpa.moveaxis(c, 0, axis), k, "periodic" if periodic else True, axis)
