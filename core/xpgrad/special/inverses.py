"""Functions that solve an equation, and hypergeometric functions that are their power series."""

import math
from typing import cast

from xpgrad.array_api.elementwise.exponential import expm1, log
from xpgrad.array_api.elementwise.magnitude import abs as abs_
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.incomplete_gamma import gammaincinv
from xpgrad.special.operands import composed, special
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["gdtria", "gdtrix", "hyp0f1", "hyp2f1", "ndtri_exp", "powm1", "wrightomega"]


@special(x=lambda xp, gy, y: gy * xp.where(y > 1, 1 / (1 + 1 / xp.where(y > 1, y, 1.0)), y / (1 + y)))
def wrightomega(xp: Namespace, x: AnyArray, /) -> Array:
    """Solution `y` of ``y + log(y) = x``, elementwise."""
    low, infinite = x < -2, xp.isinf(x)
    safe = xp.where(infinite, 0.0, x)
    e = xp.exp(xp.where(low, safe, -2.0))
    small = e * (1 - e * (1 - e * (1.5 - e * (8 / 3 - e * (125 / 24)))))
    rest = xp.where(low, 0.0, safe)
    large = xp.where(rest > 1, rest - xp.log(xp.where(rest > 1, rest, 1.0)), xp.exp(0.5 * (rest - 1)))
    for _ in range(5):
        excess = rest - large - xp.log(large)
        large = large * (1 + excess / (1 + large) * (1 + 0.5 * excess / (1 + large) ** 2))
    for _ in range(2):  # for small y solve y = exp(x - y), without cancellation
        excess = small - xp.exp(xp.where(low, safe, -2.0) - small)
        small = small - excess / (1 + small)
    y = xp.where(low, small, large)
    return xp.where(infinite, xp.where(x > 0, x, xp.zeros_like(x)), y)


def _ndtri_exp_slope(xp: Namespace, x: Array, y: Array) -> Array:
    """Return the probability divided by its density."""
    low, edge = x < -0.7, x == 0
    right = xp.where(low | edge, -0.7, x)
    upper = xp.exp(right) / (-xp.expm1(right) * xp.special.inverse_mills(xp.where(low, 0.0, -y)))
    upper = xp.where(edge, math.inf, upper) + xp.cornered(xp.zeros_like(x), edge, x)
    return xp.where(low, 1 / xp.special.inverse_mills(xp.where(low, y, 0.0)), upper)


@special(x=lambda xp, gy, x, y: gy * _ndtri_exp_slope(xp, x, y))
def ndtri_exp(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse of `log_ndtr`: the normal quantile of a probability whose logarithm is `x`, elementwise.

    At 0 the result is infinite, above it NaN.
    Relative errors are up to 1e-13, including derivatives.
    """
    inside = (x < 0) & ~xp.isinf(x)
    safe = xp.where(inside, x, -1.0)
    far = safe < -2
    tail = xp.where(far, safe, -2.0)
    y = -xp.sqrt(-2 * tail - xp.log(-4 * math.pi * tail))
    for _ in range(4):
        y = y - (xp.special.log_ndtr(y) - tail) / (xp.special.mills_excess(y) - y)
    y = xp.where(far, y, -xp.special.ndtri(-xp.expm1(xp.where(far, -1.0, safe))))
    edge = xp.where(x == 0, math.inf, xp.where(x < 0, -math.inf, xp.full_like(x, math.nan)))
    return xp.where(inside, y, edge)


@composed
def gdtria(p: RealOperand, b: RealOperand, x: RealOperand, /) -> Variable:
    """Return the inverse of `gdtr` in its first argument, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return gammaincinv(b, p) / x


@composed
def gdtrix(a: RealOperand, b: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `gdtr` in its third argument, elementwise.

    Relative errors are up to 1e-11, including derivatives.
    """
    return gammaincinv(b, p) / a


@composed
def powm1(x: RealOperand, y: RealOperand, /) -> Variable:
    """Return ``x**y - 1``, accurate where that is small, elementwise.

    If `x` is not positive, `y` must be an integer, and its gradient is the same as for `pow`.
    """
    x = cast("Variable", x)
    positive = x > 0
    exponent = y * log(where(positive, x, 1.0))
    near = positive & (abs_(exponent) < 1)
    power = where(near, 1.0, x) ** where(near, 1.0, y)
    return where(near, expm1(where(near, exponent, 0.0)), power - 1)


@special(no_gradient=["v"], x=lambda xp, gy, v, x: gy * (xp.special.hyp0f1(v + 1, x) / v))
def hyp0f1(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Confluent hypergeometric limit function, elementwise.

    Where `x` is negative, errors are relative to the result for ``abs(x)``. The default body is for moderate orders.
    Relative errors are up to 1e-11, including derivatives.

    Notes
    -----
    The power series from -30 to 1000, Bessel functions outside this interval (NIST DLMF 10.16).
    """
    low, high = x < -30, x > 1000
    arg = xp.where(low | high, 0.0, x)
    term = total = xp.ones_like(v + arg)
    for k in range(120):
        term = term * (arg / ((v + k) * (k + 1)))
        total = total + term
    root = xp.sqrt(xp.abs(xp.where(low | high, x, 1.0)))
    scale = xp.special.gamma(v) * xp.pow(root, 1 - v)
    waves = scale * xp.special.jv(v - 1, 2 * root)
    grown = scale * xp.special.iv(v - 1, 2 * root)
    return xp.where(low, waves, xp.where(high, grown, total))


@special(
    no_gradient=["a", "b", "c"],
    x=lambda xp, gy, a, b, c, x: gy * (a * b / c * xp.special.hyp2f1(a + 1, b + 1, c + 1, x)),
)
def hyp2f1(xp: Namespace, a: RealOperand, b: RealOperand, c: RealOperand, x: RealOperand, /) -> Array:
    """Gauss's hypergeometric function, elementwise.

    The default body is for `x` from -9 to 0.9, with NaN beyond.

    Notes
    -----
    The power series, after Pfaff's transformation where `x` is negative (NIST DLMF 15.8).
    """
    inside, negative = (x >= -9) & (x <= 0.9), x < 0
    arg = xp.where(inside, x, 0.0)
    scale = xp.where(negative, xp.pow(1 - xp.where(negative, arg, 0.0), xp.negative(a)), xp.ones_like(a * arg))
    b = xp.where(negative, c - b, b)
    arg = xp.where(negative, arg / (arg - 1), arg)
    term = total = xp.ones_like(a + b + c + arg)
    for k in range(420):
        term = term * ((a + k) * (b + k) / ((c + k) * (k + 1)) * arg)
        total = total + term
    return xp.where(inside, total * scale, math.nan)
