"""Integrals of values at given places."""

from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import beside, inexact, known, one_axis
from xpgrad.types import AnyArray


def _quotient(a: Variable, b: Variable) -> Variable:
    """Return ``a / b``, and 0 where `b` is 0: of distances between equal places."""
    apart = b != 0
    return xpa.where(apart, a / xpa.where(apart, b, 1.0), 0.0)


def _placed(name: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Variable, Variable, int]:
    """Return values with their axis last, the distances between them, and the axis."""
    y = inexact(y, name)
    along = one_axis(axis, y, name)
    if not y.shape[along]:
        raise ShapeError(f"{name}: expected at least one value along axis {axis}, got shape {y.shape}")
    if x is None:
        y = xpa.moveaxis(y, along, -1)
        return y, xpa.broadcast_to(dx * xpa.ones_like(y[..., 1:]), (*y.shape[:-1], y.shape[-1] - 1)), along
    y, x = as_variables(name, y, x)
    if x.shape not in (y.shape, (y.shape[along],)):
        raise ShapeError(f"{name}: expected x of shape {y.shape} or ({y.shape[along]},), got {x.shape}")
    x = x if x.ndim == 1 else xpa.moveaxis(x, along, -1)
    y = xpa.moveaxis(y, along, -1)
    return y, xpa.broadcast_to(x[..., 1:] - x[..., :-1], (*y.shape[:-1], y.shape[-1] - 1)), along


@in_single_precision
def simpson(y: AnyArray, x: AnyArray | None = None, *, dx: Any = 1.0, axis: int = -1) -> Variable:
    """Return the integral along an axis by Simpson's rule.

    Parameters
    ----------
    y : Variable or array, floating-point
    x : Variable or array, optional
        Places of the values: a vector, or an array of the shape of `y`; ascending for `cumulative_simpson`.
    dx : float or Variable
        The distance of the values, if `x` is not given.
    axis : int

    Returns
    -------
    Variable
        For an even number of values, the last interval has the parabola through the last three. Terms with a
        distance of 0 in their denominator are left out, as in SciPy.
    """
    y, h, _ = _placed("simpson", y, x, dx, axis)
    n = y.shape[-1]
    if n <= 2:
        return xpa.sum(0.5 * h * (y[..., 1:] + y[..., :-1]), axis=-1)
    end = n - 1 if n % 2 else n - 2
    h0, h1 = h[..., 0:end:2], h[..., 1:end:2]
    total, y0, y1, y2 = h0 + h1, y[..., 0:end:2], y[..., 1:end:2], y[..., 2 : end + 1 : 2]
    middle = _quotient(total * total, h0 * h1)
    terms = total / 6.0 * (y0 * (2.0 - _quotient(h1, h0)) + y1 * middle + y2 * (2.0 - _quotient(h0, h1)))
    found = xpa.sum(terms, axis=-1)
    if n % 2:
        return found
    a, b = h[..., -2], h[..., -1]
    found = found + y[..., -1] * _quotient(2.0 * b * b + 3.0 * a * b, 6.0 * (a + b))
    found = found + y[..., -2] * _quotient(b * b + 3.0 * a * b, 6.0 * a)
    return found - y[..., -3] * _quotient(b**3, 6.0 * a * (a + b))


def _accumulated(parts: Variable, along: int, initial: Any) -> Variable:
    sums = xpa.cumulative_sum(parts, axis=-1)
    if initial is not None:
        shape = (*parts.shape[:along], 1, *parts.shape[along:-1])
        first = xpa.moveaxis(xpa.broadcast_to(beside(parts, initial, "initial"), shape), along, -1)
        sums = xpa.concat([first, sums + first], axis=-1)
    return xpa.moveaxis(sums, -1, along)


@in_single_precision
def cumulative_trapezoid(
    y: AnyArray, x: AnyArray | None = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Variable:
    """Return the cumulative integrals from the first sample by the trapezoidal rule.

    Parameters
    ----------
    y, x, dx, axis
        As for `simpson`.
    initial : 0 or None
        If 0, insert 0 at the start of the result, which then has as many elements along `axis` as `y`.
    """
    if initial not in (0, None):
        raise ValueError(f"cumulative_trapezoid: expected initial 0 or None, got {initial!r}")
    y, h, along = _placed("cumulative_trapezoid", y, x, dx, axis)
    return _accumulated(0.5 * h * (y[..., 1:] + y[..., :-1]), along, initial)


def _first_intervals(y: Variable, h: Variable) -> Variable:
    """Return integrals over each interval of the parabola through its ends and the next sample."""
    a, b = h[..., :-1], h[..., 1:]
    share = a / (a + b)
    curved = share * (a / b)
    return a / 6.0 * ((3.0 - share) * y[..., :-2] + (3.0 + curved + share) * y[..., 1:-1] - curved * y[..., 2:])


@in_single_precision
def cumulative_simpson(
    y: AnyArray, *, x: AnyArray | None = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Variable:
    """Return the cumulative integrals from the first sample by Simpson's rule.

    Parameters
    ----------
    y, x, dx, axis
        As for `simpson`.
    initial : float, Variable or array, with one element along `axis`, optional
        Value inserted at the start of the result, and added to all other elements.
    """
    y, h, along = _placed("cumulative_simpson", y, x, dx, axis)
    n = y.shape[-1]
    if n < 3:
        return _accumulated(0.5 * h * (y[..., 1:] + y[..., :-1]), along, initial)
    if x is not None and known(h) and not xpa.all(h > 0):
        raise ValueError("cumulative_simpson: expected x in strictly ascending order")
    first = _first_intervals(y, h)
    second = xpa.flip(_first_intervals(xpa.flip(y, axis=-1), xpa.flip(h, axis=-1)), axis=-1)
    parts = [second[..., j - 1] if j % 2 or j == n - 2 else first[..., j] for j in range(n - 1)]
    return _accumulated(xpa.stack(parts, axis=-1), along, initial)
