"""Interpolation and integration of tabulated functions."""

from typing import Any

from xpgrad.array_api.elementwise.arithmetic import remainder
from xpgrad.array_api.elementwise.extrema import clip
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.indexing import take
from xpgrad.array_api.manipulation import broadcast_to, concat, reshape
from xpgrad.array_api.searching import searchsorted, where
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.array_api.sorting import argsort
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.array_api.utility import diff
from xpgrad.backend.indexing import at_axis
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Operand


@in_single_precision
def interp(
    x: AnyArray, xs: Any, ys: Any, /, left: Operand | None = None, right: Operand | None = None,
    period: float | None = None,
) -> Variable:  # fmt: skip
    """Value at `x` of the piecewise linear function through the points (`xs`, `ys`).

    Parameters
    ----------
    x : Variable or array, real floating-point
    xs : Variable or array, shape (N,)
        In ascending order, unless there is a `period`.
    ys : Variable or array, shape (N,)
    left, right : scalar or Variable, optional
        Values below and above `xs`; by default the first and the last of `ys`.
    period : float, optional
        Period of the function; `left` and `right` are then ignored.

    Returns
    -------
    Variable, shape of `x`
        All three arrays get gradients. At a point of the table the derivative is the slope of the segment to its right.
    """
    x, xs, ys = as_variables("interp", x, xs, ys)
    if xs.ndim != 1 or xs.shape != ys.shape or not xs.size:
        raise ShapeError(f"interp: expected xs and ys of one length, got shapes {xs.shape} and {ys.shape}")
    if period is not None:
        x, xs = remainder(x, abs(period)), remainder(xs, abs(period))
        order = argsort(as_variable(xs.array))
        xs, ys = take(xs, order), take(ys, order)
        xs, ys = concat([xs[-1:] - abs(period), xs, xs[:1] + abs(period)]), concat([ys[-1:], ys, ys[:1]])
        left = right = None
    below, above = (ys[0] if left is None else left), (ys[-1] if right is None else right)
    if xs.size == 1:
        inside = broadcast_to(ys, shape=x.shape) if x.ndim else reshape(ys, shape=())
    else:
        at = clip(searchsorted(as_variable(xs.array), as_variable(x.array), side="right") - 1, 0, xs.size - 2)
        line = reshape(at, shape=(-1,))
        x0, y0, x1, y1 = (reshape(take(a, i), shape=x.shape) for i in (line, line + 1) for a in (xs, ys))
        inside = y0 + (y1 - y0) / (x1 - x0) * (x - x0)
    return where(x < xs[0], below, where(x > xs[-1], above, inside))


@in_single_precision
def trapezoid(y: AnyArray, /, x: AnyArray | None = None, *, dx: Operand = 1.0, axis: int = -1) -> Variable:
    """Integral along `axis` by the trapezoidal rule.

    Parameters
    ----------
    y : Variable or array, floating-point
    x : Variable or array, optional
        Coordinates of the values: a vector, or an array of the shape of `y`.
    dx : scalar or Variable
        Distance of the values, if `x` is not given.
    axis : int
    """
    y = as_variable(y)
    (along,) = checked_axes(axis, y.ndim, "trapezoid")
    step = dx
    if x is not None:
        x = as_variable(x)
        step = diff(x, axis=-1 if x.ndim == 1 else along)
        if x.ndim == 1:
            step = reshape(step, shape=(-1,) + (1,) * (y.ndim - 1 - along))
    later, earlier = at_axis(along, slice(1, None)), at_axis(along, slice(0, -1))
    return sum_by_count((y[later] + y[earlier]) * step, 2.0, axis=along)
