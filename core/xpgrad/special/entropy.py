"""Entropies, products with logarithms, and Huber's losses."""

import math
from typing import Any

from xpgrad.special.operands import special, where_scalars
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["entr", "huber", "kl_div", "pseudo_huber", "rel_entr", "xlog1py", "xlogy"]


@special(
    x1=lambda xp, gy, x1, x2: gy * xp.log(_safe(xp, x1, x2)),
    x2=lambda xp, gy, x1, x2: gy * xp.where((x1 == 0) & (x2 == 0), 0.0, x1 / _safe(xp, x1, x2)),
)
def xlogy(xp: Namespace, x1: RealOperand, x2: RealOperand, /) -> Array:
    """``x1 * log(x2)``, and 0 where `x1` is 0 and `x2` is not NaN, elementwise.

    Where both are 0 both gradients are 0.
    """
    zero = (x1 == 0) & ~xp.isnan(x2)
    return xp.where(zero, 0.0, x1 * xp.log(xp.where(zero, 1.0, x2)))


def _safe(xp: Namespace, x1: Array, x2: Array, edge: float = 0.0) -> Array:
    """Return `x2`, replaced where `x1` is 0 and `x2` at the edge of the logarithm's domain."""
    return xp.where((x1 == 0) & (x2 == edge), 1.0 + edge, x2)


@special(
    x1=lambda xp, gy, x1, x2: gy * xp.log1p(_safe(xp, x1, x2, -1.0)),
    x2=lambda xp, gy, x1, x2: gy * xp.where((x1 == 0) & (x2 == -1), 0.0, x1 / (1 + _safe(xp, x1, x2, -1.0))),
)
def xlog1py(xp: Namespace, x1: RealOperand, x2: RealOperand, /) -> Array:
    """``x1 * log(1 + x2)``, and 0 where `x1` is 0 and `x2` is not NaN, elementwise.

    Where ``x1 == 0`` and ``x2 == -1`` both gradients are 0.
    """
    zero = (x1 == 0) & ~xp.isnan(x2)
    return xp.where(zero, 0.0, x1 * xp.log1p(xp.where(zero, 0.0, x2)))


@special(x=lambda xp, gy, x: gy * xp.where(x < 0, 0.0, -1 - xp.log(xp.where(x < 0, 1.0, x))))
def entr(xp: Namespace, x: AnyArray, /) -> Array:
    """Entropy ``-x * log(x)``, 0 at 0, minus infinity below it, elementwise.

    The gradient at 0 is infinite, below 0 it is 0.
    """
    inside = ~(x <= 0)
    safe = xp.where(inside, x, 1.0)
    return xp.where(inside, -safe * xp.log(safe), where_scalars(xp, x == 0, 0.0, -math.inf, x))


def _inside(x1: Array, x2: Array) -> Array:
    return (x1 > 0) & (x2 > 0)


@special(
    x1=lambda xp, gy, x1, x2: xp.where(_inside(x1, x2), gy * (_log_ratio(xp, x1, x2) + 1), 0.0),
    x2=lambda xp, gy, x1, x2: xp.where(_inside(x1, x2), gy * (-x1 / xp.where(x2 > 0, x2, 1.0)), 0.0),
)
def rel_entr(xp: Namespace, x1: RealOperand, x2: RealOperand, /) -> Array:
    """Relative entropy ``x1 * log(x1 / x2)``, elementwise.

    Where `x1` is 0 and `x2` is not negative the result is 0; where an input is not positive otherwise,
    it is infinite. There the gradients are 0.
    """
    value = x1 * _log_ratio(xp, x1, x2)
    outside = where_scalars(xp, (x1 == 0) & (x2 >= 0), 0.0, math.inf, value)
    return xp.where(xp.isnan(x1) | xp.isnan(x2), x1 + x2, xp.where(_inside(x1, x2), value, outside))


def _log_ratio(xp: Namespace, x1: Array, x2: Array) -> Array:
    """Return ``log(x1 / x2)``, and 0 outside of positive numbers; accurate where the two are near."""
    inside = _inside(x1, x2)
    x1, x2 = xp.where(inside, x1, 1.0), xp.where(inside, x2, 1.0)
    difference = (x1 - x2) / x2
    near = xp.abs(difference) < 0.5
    return xp.where(near, xp.log1p(xp.where(near, difference, 0.0)), xp.log(x1) - xp.log(x2))


@special(
    x1=lambda xp, gy, x1, x2: xp.where(_inside(x1, x2), gy * _log_ratio(xp, x1, x2), 0.0),
    x2=lambda xp, gy, x1, x2: gy * _kl_by_x2(xp, x1, x2),
)
def kl_div(xp: Namespace, x1: RealOperand, x2: RealOperand, /) -> Array:
    """Kullback–Leibler divergence ``x1 * log(x1 / x2) - x1 + x2``, elementwise.

    For `x1` 0 and `x2` not negative the result is `x2`; for other nonpositive numbers it is infinite. There the
    gradients are 0, except the gradient for `x2` where `x1` is 0.
    """
    outside = xp.where((x1 == 0) & (x2 >= 0), x2, math.inf)
    value = x1 * _log_ratio(xp, x1, x2) - x1 + x2
    return xp.where(xp.isnan(x1) | xp.isnan(x2), x1 + x2, xp.where(_inside(x1, x2), value, outside))


def _kl_by_x2(xp: Namespace, x1: Array, x2: Array) -> Array:
    inside, edge = _inside(x1, x2), (x1 == 0) & (x2 > 0)
    slope = 1 - xp.where(inside, x1 / xp.where(inside, x2, 1.0), 0.0)
    return xp.where(inside | edge, slope, 0.0)


@special(
    delta=lambda xp, gy, delta, r: gy * xp.where(xp.abs(r) <= delta, 0.0, xp.abs(r) - delta),
    r=lambda xp, gy, delta, r: gy * xp.where(xp.abs(r) <= delta, r, delta * xp.sign(r)),
)
def huber(xp: Namespace, delta: RealOperand, r: RealOperand, /) -> Array:
    """Huber's loss: ``r**2 / 2`` up to `delta`, and linear beyond, elementwise.

    For a negative `delta` the result is infinite.
    """
    bound: Any = delta
    near = xp.clip(r, -bound, bound)
    return xp.where(bound < 0, math.inf, near * (r - 0.5 * near))


@special(
    delta=lambda xp, gy, delta, r: gy * _pseudo_delta(xp, delta, r),
    r=lambda xp, gy, delta, r: gy * _pseudo_slope(xp, delta, r),
)
def pseudo_huber(xp: Namespace, delta: RealOperand, r: RealOperand, /) -> Array:
    """Smooth form of Huber's loss, ``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``, elementwise.

    For a negative `delta` the result is infinite; at ``delta == 0`` it is 0.
    """
    root = xp.hypot(delta, r)
    total = root + xp.abs(delta) + where_scalars(xp, root == 0, 1.0, 0.0, root)
    loss = (xp.abs(delta) * r) * (r / total)
    return xp.where(delta < 0, math.inf, loss)


def _pseudo_slope(xp: Namespace, delta: Array, r: Array) -> Array:
    """Return ``delta * r / hypot(delta, r)``, in forms whose derivatives are not differences."""
    far = xp.abs(r) > xp.abs(delta)
    large, quotient = xp.where(far, r, 1.0), xp.where(far, delta, 0.0) / xp.where(far, r, 1.0)
    outer = delta * xp.sign(large) / xp.hypot(xp.ones_like(quotient), quotient)
    small, width = xp.where(far, 0.0, r), xp.where(far | (delta == 0), 1.0, delta)
    return xp.where(far, outer, xp.sign(width) * small / xp.hypot(xp.ones_like(width), small / width))


def _pseudo_delta(xp: Namespace, delta: Array, r: Array) -> Array:
    """Return the derivative of ``delta * (root - delta)`` with respect to `delta`, ``(root - delta)**2 / root``."""
    root = xp.hypot(delta, xp.where((delta == 0) & (r == 0), 1.0, r))
    excess = r * (r / (root + delta))
    return excess * (excess / root)
