"""`PPoly`: piecewise polynomials, in powers of the distance from the beginning of each piece."""

import functools
import math
from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.scipy.operands import beside, from_host, known, one_axis, required
from xpgrad.transforms.vectors import host_array
from xpgrad.types import AnyArray, as_list

NAMED = {"clamped": (1, 0.0), "natural": (2, 0.0)}
"""Boundary conditions as orders of derivatives and their values."""


def ends_of(bc_type: Any, name: str) -> list[Any]:
    """Return the conditions of both ends: None for "not-a-knot", else an order and a value."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else as_list(bc_type, "conditions")
    found = []
    for end in both:
        end = "not-a-knot" if end is None else end
        condition = NAMED.get(end) if isinstance(end, str) else as_list(end, "numbers")
        if condition and len(condition) == 1:  # a list of one pair, as for SciPy's make_interp_spline
            (condition,) = condition
        if len(both) != 2 or (condition is None and end != "not-a-knot") or (condition and condition[0] not in (1, 2)):
            raise ValueError(
                f"{name}: expected bc_type 'not-a-knot', 'natural', 'clamped', or (order, value) with order 1 or 2 for "
                f"each end, got {bc_type!r}"
            )
        found.append(condition)
    return found


def ordered(name: str, x: Any, y: Any, axis: int, least: int = 2) -> tuple[Variable, Variable, int]:
    """Return knots, values with their axis first, and that axis."""
    x, y = as_variables(name, x, y)
    along = one_axis(axis, y, name)
    if x.node.spec.complex:
        raise DtypeError(f"{name}: expected real knots, got {x.node.spec!r}")
    if x.ndim != 1 or y.shape[axis] != x.shape[0] or x.shape[0] < least:
        raise ShapeError(
            f"{name}: expected at least {least} knots and a value for each along axis {axis}, got {x.shape}, {y.shape}"
        )
    if known(x) and not xpa.all(x[1:] > x[:-1]):
        raise ValueError(f"{name}: expected knots in strictly ascending order")
    return x, xpa.moveaxis(y, axis, 0), along


def check_period(y: Variable, name: str) -> None:
    """Raise unless the first values equal the last, if they can be read."""
    if known(y) and not xpa.all(xpa.abs(y[0, ...] - y[-1, ...]) <= 1e-15 + 1e-5 * xpa.abs(y[-1, ...])):
        raise ValueError(f"{name}: expected equal values at both ends of a period, got {y[0]} and {y[-1]}")


def piece(x: Variable, v: Variable, first: int, last: int) -> Variable:
    """Return for each element of `v`, a vector, the index from `first` to `last` of its piece between the knots `x`."""
    values = as_variable(v.array) + 0.0  # contiguous, as torch wants them
    found = xpa.searchsorted(as_variable(x.array), values, side="right") - 1
    return xpa.clip(found, first, last)


def evaluated(
    spline: Any, v: Any, ends: tuple[Variable, Variable], nu: int, extrapolate: bool | str | None, function: Any
) -> Variable:
    """Return the values of an interpolant at `v`, whose axes replace the axis of the interpolated values.

    `function` takes a vector of arguments, which are along the first axis of its result.
    """
    (first, last), axis, name = ends, spline.axis, type(spline).__name__
    if nu < 0:
        raise ValueError(f"{name}: expected an order of the derivative of at least 0, got {nu}")
    outside = spline.extrapolate if extrapolate is None else extrapolate
    v = beside(first, v, name)
    flat = xpa.reshape(v, (-1,))
    if outside == "periodic":
        flat = first + xpa.remainder(flat - first, last - first)
    y = function(flat)
    if outside is False:
        y = xpa.where(xpa.reshape((flat >= first) & (flat <= last), (-1, *(1,) * (y.ndim - 1))), y, math.nan)
    shape = y.shape[1:]
    y = xpa.reshape(y, (*v.shape, *shape))
    order = [*range(v.ndim, v.ndim + axis), *range(v.ndim), *range(v.ndim + axis, v.ndim + len(shape))]
    return xpa.permute_dims(y, tuple(order)) if axis else y


def periodic_integral(found: Any, a: Any, b: Any, first: Variable, last: Variable) -> Variable:
    """Return the integral from `a` to `b` of a periodic function, of which `found` is the antiderivative."""
    values: list[Variable] = []
    for end in (a, b):
        v = beside(first, end, "integrate") - first
        turns = xpa.floor(v / (last - first))
        rest = found(first + v - turns * (last - first), extrapolate=True)
        values.append(turns * (found(last, extrapolate=True) - found(first, extrapolate=True)) + rest)
    return values[1] - values[0]


def _horner(c: Sequence[Variable], x: Variable) -> Variable:
    """Return the polynomial of `x` with coefficients in descending powers."""
    return functools.reduce(lambda total, each: total * x + each, c)


class PPoly:
    """A piecewise polynomial.

    Parameters
    ----------
    c : Variable or array, shape (K, M, ...)
        Coefficients of each piece, in descending powers.
    x : Variable or array, shape (M + 1,)
        Ends of the pieces, ascending.
    extrapolate : bool or "periodic"
        Whether the first and last pieces continue beyond the ends; else values there are NaN.
    axis : int
        The place of the first two axes of `c`, and of the axes of the arguments in results.
    """

    def __init__(self, c: AnyArray, x: AnyArray, extrapolate: bool | str | None = None, axis: int = 0) -> None:
        self.c, self.x = as_variables(type(self).__name__, c, x)
        self.axis = checked_axes(axis, max(self.c.ndim - 1, 1), type(self).__name__)[0]
        self.c = xpa.moveaxis(self.c, (self.axis, self.axis + 1), (0, 1)) if self.axis else self.c
        if self.x.ndim != 1 or self.c.ndim < 2 or self.c.shape[1] != self.x.shape[0] - 1:
            raise ShapeError(
                f"{type(self).__name__}: expected coefficients of shape (K, M, ...) and M + 1 ends, got {self.c.shape} "
                f"and {self.x.shape}"
            )
        if known(self.x) and not xpa.all(self.x[1:] >= self.x[:-1]):
            raise ValueError(f"{type(self).__name__}: expected ends in ascending order")
        self.extrapolate: bool | str = True if extrapolate is None else extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: bool | str | None = None) -> Variable:
        """Return the value, or the derivative of the order `nu`, at `x`.

        Parameters
        ----------
        x : Variable, array or float, real
        nu : int
        extrapolate : bool or "periodic", optional
        """
        return evaluated(self, x, (self.x[0], self.x[-1]), nu, extrapolate, lambda v: self._at(v, nu))

    def _at(self, v: Variable, nu: int) -> Variable:
        at = piece(self.x, v, 0, self.x.shape[0] - 2)
        step = xpa.reshape(v - xpa.take(self.x, at), (-1, *(1,) * (self.c.ndim - 2)))
        c, k = xpa.take(self.c, at, axis=1), self.c.shape[0]
        terms = [c[i, ...] * float(math.perm(k - 1 - i, nu)) for i in range(k - nu)]
        return _horner(terms, step) if terms else xpa.zeros_like(c[0, ...])

    def derivative(self, nu: int = 1) -> "PPoly":
        """Return the derivative of the order `nu`; of a negative order, the integral."""
        k = self.c.shape[0]
        if nu < 0:
            return self.antiderivative(-nu)
        if nu >= k:
            return self._of(xpa.zeros_like(self.c[:1, ...]), self.extrapolate)
        c = [self.c[i, ...] * float(math.perm(k - 1 - i, nu)) for i in range(k - nu)]
        return self._of(xpa.stack(c), self.extrapolate)

    def _of(self, c: Variable, extrapolate: bool | str) -> "PPoly":
        found = PPoly(c, self.x, extrapolate)
        found.axis = self.axis
        return found

    def antiderivative(self, nu: int = 1) -> "PPoly":
        """Return the integral of the order `nu` from the first end; of a negative order, the derivative."""
        found: PPoly = self if nu >= 0 else self.derivative(-nu)
        for _ in range(nu):
            found = found._integral()
        return found

    def _integral(self) -> "PPoly":
        k, step = self.c.shape[0], xpa.reshape(self.x[1:] - self.x[:-1], (-1, *(1,) * (self.c.ndim - 2)))
        c = [self.c[i, ...] / float(k - i) for i in range(k)]
        sums = xpa.cumulative_sum(_horner(c, step) * step, axis=0, include_initial=True)
        outside = self.extrapolate if self.extrapolate != "periodic" else False
        return self._of(xpa.stack([*c, sums[:-1, ...]]), outside)

    def integrate(self, a: Any, b: Any, extrapolate: bool | str | None = None) -> Variable:
        """Return the integral from `a` to `b`, continued as by `__call__`."""
        outside, found = self.extrapolate if extrapolate is None else extrapolate, self.antiderivative()
        if outside != "periodic":
            return found(b, extrapolate=outside) - found(a, extrapolate=outside)
        return periodic_integral(found, a, b, self.x[0], self.x[-1])

    def solve(self, y: float = 0.0, discontinuity: bool = True, extrapolate: bool | str | None = None) -> Variable:
        """Return the arguments, ascending, at which the polynomials of one value are `y`.

        SciPy finds them; their derivatives, of orders up to 3, follow from steps of Newton's method.
        """
        host: Any = required("scipy.interpolate", "PPoly").PPoly(
            *(host_array(as_array(each)) for each in (self.c, self.x)), self.extrapolate
        )
        x = from_host(self.x, host.solve(y, discontinuity, extrapolate))
        slope = self.derivative()
        for _ in range(2):
            x = x - (self(x, extrapolate=True) - y) / slope(x, extrapolate=True)
        return x

    def roots(self, discontinuity: bool = True, extrapolate: bool | str | None = None) -> Variable:
        """Return the arguments at which the polynomials are 0, as `solve` does."""
        return self.solve(0.0, discontinuity, extrapolate)
