"""Piecewise cubic interpolants, which differ in their slopes at the knots."""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.errors import DtypeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.scipy.interpolate.polynomials import PPoly, check_period, ends_of, ordered
from xpgrad.scipy.linalg.banded import solve_banded
from xpgrad.scipy.operands import beside, eye_beside, zeros_beside
from xpgrad.types import AnyArray


class CubicHermiteSpline(PPoly):
    """The piecewise cubic polynomial with given values and slopes at its knots.

    Parameters
    ----------
    x : Variable or array, shape (N,), ascending
    y, dydx : Variable or array, with N elements along `axis`
    axis : int
    extrapolate : bool or "periodic", optional
    """

    def __init__(
        self, x: AnyArray, y: AnyArray, dydx: AnyArray, axis: int = 0, extrapolate: bool | str | None = None
    ) -> None:
        knots, values, place = ordered(type(self).__name__, x, y, axis)
        slopes = xpa.moveaxis(as_variables(type(self).__name__, knots, dydx)[1], axis, 0)
        self._join(knots, values, slopes, place, extrapolate)

    def _join(self, x: Variable, y: Variable, d: Variable, axis: int, extrapolate: bool | str | None) -> None:
        """Compute the coefficients."""
        step = xpa.reshape(x[1:] - x[:-1], (-1, *(1,) * (y.ndim - 1)))
        slope = (y[1:] - y[:-1]) / step
        t = (d[:-1] + d[1:] - 2.0 * slope) / step
        c = xpa.stack([t / step, (slope - d[:-1]) / step - t, d[:-1], y[:-1]])
        PPoly.__init__(self, c, x, extrapolate)
        self.axis = axis


class CubicSpline(CubicHermiteSpline):
    """The piecewise cubic polynomial with two continuous derivatives through given values.

    Parameters
    ----------
    x : Variable or array, shape (N,), ascending
    y : Variable or array, with N elements along `axis`
    axis : int
    bc_type : {"not-a-knot", "natural", "clamped", "periodic"}, or a pair
        The condition at both ends, or at each end. A pair ``(order, value)`` sets the first or second derivative; the
        value is differentiable.
    extrapolate : bool or "periodic", optional
    """

    def __init__(
        self, x: AnyArray, y: AnyArray, axis: int = 0, bc_type: Any = "not-a-knot",
        extrapolate: bool | str | None = None,
    ) -> None:  # fmt: skip
        knots, values, place = ordered("CubicSpline", x, y, axis)
        periodic = bc_type == "periodic"
        if periodic:
            check_period(values, "CubicSpline")
        slopes = _cyclic(knots, values) if periodic else _slopes(knots, values, ends_of(bc_type, "CubicSpline"))
        outside = "periodic" if periodic and extrapolate is None else extrapolate
        self._join(knots, values, slopes, place, outside)


def _slopes(x: Variable, y: Variable, ends: list[Any]) -> Variable:
    """Return the slopes at the knots, which solve a tridiagonal system."""
    n, tail = x.shape[0], (1,) * (y.ndim - 1)
    step = x[1:] - x[:-1]
    h = xpa.reshape(step, (-1, *tail))
    slope = (y[1:] - y[:-1]) / h
    if n == 2:
        ends = [(1, slope[0, ...]) if end is None else end for end in ends]
    if n == 3 and ends == [None, None]:
        second = 2.0 * (slope[1:] - slope[:1]) / (h[:1] + h[1:])
        first = slope[:1] - 0.5 * second * h[:1]
        return xpa.concat([first, first + second * h[:1], first + second * (h[:1] + h[1:])], axis=0)
    above: list[Variable] = []
    middle: list[Variable] = []
    below: list[Variable] = []
    right: list[Variable] = []
    for i, end in enumerate(ends):
        at, beyond, place = (0, 1, 1) if i == 0 else (n - 2, n - 3, -1)
        own, own_h, own_slope = step[at : at + 1], h[at : at + 1], slope[at : at + 1]
        if end is None:
            other, other_h = step[beyond : beyond + 1], h[beyond : beyond + 1]
            width = own_h + other_h
            outer, inner = other, own + other
            value = ((own_h + 2.0 * width) * other_h * own_slope + own_h**2 * slope[beyond : beyond + 1]) / width
        else:
            order, given = end
            given = xpa.broadcast_to(beside(x, given, "CubicSpline"), y.shape[1:])[None, ...]
            outer, inner = (xpa.ones_like(own), xpa.zeros_like(own)) if order == 1 else (2.0 * own, own)
            value = given if order == 1 else 3.0 * own_slope * own_h - 0.5 * place * given * own_h**2
        middle.append(outer)
        (above if i == 0 else below).append(inner)
        right.append(value)
    zero = zeros_beside(x, (1,))
    ab = xpa.stack([
        xpa.concat([zero, above[0], step[:-1]]),
        xpa.concat([middle[0], 2.0 * (step[:-1] + step[1:]), middle[1]]),
        xpa.concat([step[1:], below[0], zero]),
    ])  # fmt: skip
    inside = 3.0 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
    b = xpa.concat([right[0], inside, right[1]], axis=0)
    return xpa.reshape(solve_banded((1, 1), ab, xpa.reshape(b, (n, -1))), b.shape)


def _cyclic(x: Variable, y: Variable) -> Variable:
    """Return the slopes at the knots of a periodic function."""
    step = x[1:] - x[:-1]
    h = xpa.reshape(step, (-1, *(1,) * (y.ndim - 1)))
    slope, n = (y[1:] - y[:-1]) / h, step.shape[0]
    before, before_h = xpa.roll(step, 1), xpa.roll(h, 1, axis=0)
    eye = eye_beside(x, n)
    left, right = (xpa.roll(eye, k, axis=1) for k in (-1, 1))
    matrix = step[:, None] * left + (2.0 * (before + step))[:, None] * eye + before[:, None] * right
    b = 3.0 * (h * xpa.roll(slope, 1, axis=0) + before_h * slope)
    d = xpa.reshape(xpa.linalg.solve(matrix, xpa.reshape(b, (n, -1))), b.shape)
    return xpa.concat([d, d[:1]], axis=0)


def _real(name: str, x: Any, y: Any, axis: int) -> tuple[Variable, Variable, int]:
    """Return the same as `ordered`, for real values."""
    knots, values, place = ordered(name, x, y, axis)
    if values.node.spec.complex:
        raise DtypeError(f"{name}: expected real values, got {values.node.spec!r}")
    return knots, values, place


class PchipInterpolator(CubicHermiteSpline):
    """The piecewise cubic polynomial through given values that preserves their monotonicity.

    Parameters
    ----------
    x : Variable or array, shape (N,), ascending
    y : Variable or array, with N elements along `axis`
        Where slopes change their sign, the gradient has a kink.
    axis : int
    extrapolate : bool, optional
    """

    def __init__(self, x: AnyArray, y: AnyArray, axis: int = 0, extrapolate: bool | None = None) -> None:
        knots, values, place = _real("PchipInterpolator", x, y, axis)
        h = xpa.reshape(knots[1:] - knots[:-1], (-1, *(1,) * (values.ndim - 1)))
        m = (values[1:] - values[:-1]) / h
        if knots.shape[0] == 2:
            slopes = xpa.concat([m, m], axis=0)
        else:
            w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
            same = m[:-1] * m[1:] > 0
            one = xpa.ones_like(m[1:])
            inverse = w1 / xpa.where(same, m[:-1], one) + w2 / xpa.where(same, m[1:], one)
            inside = xpa.where(same, (w1 + w2) / xpa.where(same, inverse, one), 0.0)
            ends = [_end(h[:1], h[1:2], m[:1], m[1:2]), _end(h[-1:], h[-2:-1], m[-1:], m[-2:-1])]
            slopes = xpa.concat([ends[0], inside, ends[1]], axis=0)
        self._join(knots, values, slopes, place, extrapolate)


def _end(h0: Variable, h1: Variable, m0: Variable, m1: Variable) -> Variable:
    """Return the slope at an end."""
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (m0 * m1 <= 0) & (xpa.abs(d) > 3.0 * xpa.abs(m0))
    return xpa.where(d * m0 <= 0, 0.0, xpa.where(steep, 3.0 * m0, d))


class Akima1DInterpolator(CubicHermiteSpline):
    """The piecewise cubic polynomial of Akima through given values.

    Parameters
    ----------
    x : Variable or array, shape (N,), ascending
    y : Variable or array, with N elements along `axis`
    axis : int
    method : {"akima", "makima"}
    extrapolate : bool, optional
        By default values outside are NaN.
    """

    def __init__(
        self, x: AnyArray, y: AnyArray, axis: int = 0, *, method: str = "akima", extrapolate: bool | None = None
    ) -> None:
        if method not in ("akima", "makima"):
            raise ValueError(f"Akima1DInterpolator: expected the method 'akima' or 'makima', got {method!r}")
        knots, values, place = _real("Akima1DInterpolator", x, y, axis)
        h = xpa.reshape(knots[1:] - knots[:-1], (-1, *(1,) * (values.ndim - 1)))
        m = (values[1:] - values[:-1]) / h
        if m.shape[0] == 1:
            slopes = xpa.concat([m, m], axis=0)
        else:
            left, right = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
            m = xpa.concat([2.0 * left - m[:1], left, m, right, 2.0 * right - m[-1:]], axis=0)
            weights = xpa.abs(m[1:] - m[:-1])
            if method == "makima":
                weights = weights + 0.5 * xpa.abs(m[1:] + m[:-1])
            f1, f2 = weights[2:], weights[:-2]
            total = f1 + f2
            known = total > 1e-9 * xpa.max(total)
            share = f2 / xpa.where(known, total, 1.0)
            slopes = xpa.where(known, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
        self._join(knots, values, slopes, place, False if extrapolate is None else extrapolate)
