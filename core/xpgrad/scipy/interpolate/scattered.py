"""Interpolation in several dimensions: on grids, and by radial functions."""

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables, is_operand
from xpgrad.graph.variable import Variable
from xpgrad.scipy.interpolate.bsplines import basis, make_interp_spline
from xpgrad.scipy.interpolate.polynomials import piece
from xpgrad.scipy.operands import beside, eye_beside, known, zeros_beside
from xpgrad.types import AnyArray, as_list

DEGREES = {"linear": 1, "slinear": 1, "cubic": 3, "quintic": 5}
"""Degrees of the piecewise polynomials along each axis."""


class RegularGridInterpolator:
    """The interpolant of values on a rectangular grid.

    Parameters
    ----------
    points : sequence of Variables or arrays, shape (M1,), ..., (MN,), ascending or descending
    values : Variable or array, shape (M1, ..., MN, ...)
    method : {"linear", "nearest", "slinear", "cubic", "quintic"}
        The last three are splines of degree 1, 3 and 5 along each axis, with more points than their degree.
    bounds_error : bool
        Raise ValueError for points outside, which reads values.
    fill_value : float or None
        The value outside; None extrapolates.
    """

    def __init__(
        self, points: Sequence[AnyArray], values: AnyArray, method: str = "linear", bounds_error: bool = True,
        fill_value: float | None = math.nan,
    ) -> None:  # fmt: skip
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self.values, *grid = as_variables("RegularGridInterpolator", values, *as_list(points, "arrays"))
        self.grid = tuple(grid)
        shape = tuple(x.shape[0] for x in self.grid)
        if any(x.ndim != 1 or x.shape[0] < 2 for x in self.grid) or self.values.shape[: len(shape)] != shape:
            raise ShapeError(
                f"RegularGridInterpolator: expected values of shape {shape} for these points, at least two along each "
                f"axis, got {self.values.shape}"
            )
        self._checked(method)
        for i, x in enumerate(grid):
            down = x[0] > x[-1]
            if not known(x) or bool(down):
                grid[i] = xpa.where(down, xpa.flip(x), x)
                self.values = xpa.where(down, xpa.flip(self.values, axis=i), self.values)
        self.grid = tuple(grid)

    def _checked(self, method: str) -> str:
        if method != "nearest" and method not in DEGREES:
            names = ", ".join(map(repr, ("nearest", *DEGREES)))
            raise ValueError(f"RegularGridInterpolator: expected the method {names}, got {method!r}")
        return method

    def __call__(self, xi: Any, method: str | None = None, *, nu: Sequence[int] | None = None) -> Variable:
        """Return the values at points.

        Parameters
        ----------
        xi : Variable or array, shape (..., N), or a tuple of N that broadcast
        method : str, optional
        nu : sequence of N int, optional
            Orders of the derivative along each axis, of splines.
        """
        method, n = self._checked(self.method if method is None else method), len(self.grid)
        orders = [0] * n if nu is None else list(nu)
        if len(orders) != n or min(orders) < 0 or (nu is not None and method in ("linear", "nearest")):
            raise ValueError(
                f"RegularGridInterpolator: expected nu of {n} orders, at least 0, of a spline, got {nu!r} ({method!r})"
            )
        if isinstance(xi, (tuple, list)) and is_operand(xi[0]):
            parts = xpa.broadcast_arrays(*(beside(self.values, x, "RegularGridInterpolator") for x in xi))
            xi = xpa.stack(list(parts), axis=-1)
        xi = beside(self.values, xi, "RegularGridInterpolator")
        if not xi.ndim or (xi.shape[-1] != n and not (n == 1)):
            raise ShapeError(f"RegularGridInterpolator: expected points of shape (..., {n}), got {xi.shape}")
        if xi.shape[-1] != n:
            xi = xi[..., None]
        flat = xpa.reshape(xi, (-1, n))
        y = self._at([flat[:, i] for i in range(n)], method, orders)
        return xpa.reshape(y, (*xi.shape[:-1], *y.shape[1:]))

    def _at(self, parts: list[Variable], method: str, orders: list[int]) -> Variable:
        inside: Any = None
        for x, v in zip(self.grid, parts, strict=True):
            within = (v >= x[0]) & (v <= x[-1])
            inside = within if inside is None else inside & within
        if self.bounds_error and not bool(xpa.all(inside)):
            raise ValueError("RegularGridInterpolator: expected points within the grid, got one outside")
        taps, table = [], self.values
        for axis, (x, v, order) in enumerate(zip(self.grid, parts, orders, strict=True)):
            if method not in ("linear", "nearest"):
                if x.shape[0] <= DEGREES[method]:
                    raise ShapeError(
                        f"RegularGridInterpolator: expected more than {DEGREES[method]} points along each axis for the "
                        f"method {method!r}, got {x.shape[0]}"
                    )
                spline = make_interp_spline(x, table, DEGREES[method], axis=axis).derivative(order)
                table = xpa.moveaxis(spline.c, 0, axis)
                at, w = basis(spline.t, v, spline.k)
                taps.append([(at + (j - spline.k), weight) for j, weight in enumerate(w)])
                continue
            at = piece(x, v, 0, x.shape[0] - 2)
            low, high = xpa.take(x, at), xpa.take(x, at + 1)
            share = (v - low) / (high - low)
            if method == "nearest":
                taps.append([(at + xpa.astype(share > 0.5, at.dtype), xpa.ones_like(share))])
            else:
                taps.append([(at, 1.0 - share), (at + 1, share)])
        n, tail = len(parts), self.values.shape[len(parts) :]
        counts = table.shape[:n]
        table = xpa.reshape(table, (math.prod(counts), *tail))
        wide = (-1, *(1,) * len(tail))
        terms = []
        for corner in itertools.product(*taps):
            flat: Any = 0
            for (place, _), count in zip(corner, counts, strict=True):
                flat = flat * count + place
            weight = functools.reduce(operator.mul, (w for _, w in corner))
            terms.append(xpa.reshape(weight, wide) * xpa.take(table, flat, axis=0))
        y: Variable = functools.reduce(operator.add, terms)
        if self.fill_value is not None and not self.bounds_error:
            y = xpa.where(xpa.reshape(inside, wide), y, self.fill_value)
        return y


def _thin_plate(r2: Variable) -> Variable:
    apart = r2 != 0
    return xpa.where(apart, 0.5 * r2 * xpa.log(xpa.where(apart, r2, 1.0)), 0.0)


def _power(degree: int, sign: float) -> Callable[[Variable], Variable]:
    def function(r2: Variable) -> Variable:
        apart = r2 != 0
        return xpa.where(apart, sign * xpa.sqrt(xpa.where(apart, r2, 1.0)) ** degree, 0.0)

    return function


KERNELS: dict[str, tuple[Callable[[Variable], Variable], int]] = {
    "linear": (_power(1, -1.0), 0),
    "thin_plate_spline": (_thin_plate, 1),
    "cubic": (_power(3, 1.0), 1),
    "quintic": (_power(5, -1.0), 2),
    "multiquadric": (lambda r2: -xpa.sqrt(r2 + 1.0), 0),
    "inverse_multiquadric": (lambda r2: 1.0 / xpa.sqrt(r2 + 1.0), -1),
    "inverse_quadratic": (lambda r2: 1.0 / (r2 + 1.0), -1),
    "gaussian": (lambda r2: xpa.exp(-r2), -1),
}
"""Functions of squared distances, and the least degree of the polynomial beside each."""
SCALE_INVARIANT = ("linear", "thin_plate_spline", "cubic", "quintic")


class RBFInterpolator:
    """The sum of radial functions around points, and of a polynomial, with given values at the points.

    Parameters
    ----------
    y : Variable or array, shape (P, N)
        The points.
    d : Variable or array, shape (P, ...)
        Values.
    smoothing : float, or Variable or array, shape () or (P,)
        0 interpolates; larger values approximate.
    kernel : str
        "linear", "thin_plate_spline", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic"
        or "gaussian".
    epsilon : float, or Variable, shape ()
        The factor of distances, 1 by default for those kernels that need none.
    degree : int, optional
        The degree of the polynomial; -1 for none.
    """

    def __init__(
        self, y: AnyArray, d: AnyArray, smoothing: Any = 0.0, kernel: str = "thin_plate_spline", epsilon: Any = None,
        degree: int | None = None,
    ) -> None:  # fmt: skip
        if kernel not in KERNELS:
            raise ValueError(f"RBFInterpolator: expected the kernel {', '.join(KERNELS)}, got {kernel!r}")
        if epsilon is None and kernel not in SCALE_INVARIANT:
            raise ValueError(f"RBFInterpolator: expected epsilon for the kernel {kernel!r}, got None")
        self.y, d = as_variables("RBFInterpolator", y, d)
        if self.y.ndim != 2 or not d.ndim or d.shape[0] != self.y.shape[0]:
            raise ShapeError(
                f"RBFInterpolator: expected points of shape (P, N) and P values, got {self.y.shape} and {d.shape}"
            )
        self.function, least = KERNELS[kernel]
        self.degree = max(least, 0) if degree is None else degree
        if self.degree < -1:
            raise ValueError(f"RBFInterpolator: expected a degree of at least -1, got {degree!r}")
        self.epsilon, (count, n), self.tail = 1.0 if epsilon is None else epsilon, self.y.shape, d.shape[1:]
        self.powers = [p for p in itertools.product(range(self.degree + 1), repeat=n) if sum(p) <= self.degree]
        low, high = xpa.min(self.y, axis=0), xpa.max(self.y, axis=0)
        self.shift, width = 0.5 * (low + high), 0.5 * (high - low)
        self.scale = xpa.where(width == 0, 1.0, width)
        smooth = xpa.broadcast_to(beside(self.y, smoothing, "RBFInterpolator"), (count,))
        matrix = self._radial(self.y) + smooth[:, None] * eye_beside(self.y, count)
        values, r = xpa.reshape(d, (count, -1)), len(self.powers)
        if r:
            if count < r:
                raise ShapeError(f"RBFInterpolator: expected at least {r} points for degree {self.degree}, got {count}")
            p = self._polynomials(self.y)
            zeros = zeros_beside(self.y, (r, r + values.shape[1]))
            matrix = xpa.concat([
                xpa.concat([matrix, p], axis=1), xpa.concat([xpa.matrix_transpose(p), zeros[:, :r]], axis=1)
            ])  # fmt: skip
            values = xpa.concat([values, zeros[:, r:]])
        self.weights = xpa.linalg.solve(matrix, values)

    def _radial(self, x: Variable) -> Variable:
        difference = (x[:, None, :] - self.y[None, :, :]) * self.epsilon
        return self.function(xpa.sum(difference * difference, axis=-1))

    def _polynomials(self, x: Variable) -> Variable:
        z, columns = (x - self.shift) / self.scale, []
        for powers in self.powers:
            column: Any = xpa.ones_like(z[:, 0])
            for axis, power in enumerate(powers):
                for _ in range(power):
                    column = column * z[:, axis]
            columns.append(column)
        return xpa.stack(columns, axis=1)

    def __call__(self, x: AnyArray) -> Variable:
        """Return the values at points, shape (Q, N)."""
        x = as_variables("RBFInterpolator", self.y, x)[1]
        if x.ndim != 2 or x.shape[1] != self.y.shape[1]:
            raise ShapeError(f"RBFInterpolator: expected points of shape (Q, {self.y.shape[1]}), got {x.shape}")
        parts = [self._radial(x), *([self._polynomials(x)] if self.powers else [])]
        matrix = xpa.concat(parts, axis=1) if len(parts) > 1 else parts[0]
        return xpa.reshape(xpa.matmul(matrix, self.weights), (x.shape[0], *self.tail))
