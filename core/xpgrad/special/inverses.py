"""Functions that solve an equation, and hypergeometric functions that are their power series."""

import math
from typing import cast

from xpgrad.array_api.elementwise.exponential import expm1, log
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.incomplete_beta import betaincinv
from xpgrad.special.incomplete_gamma import gammaincinv
from xpgrad.special.operands import composed, special
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["betainccinv", "gdtria", "gdtrix", "hyp0f1", "hyp2f1", "ndtri_exp", "powm1", "wrightomega"]


@special(x=lambda xp, gy, y: gy * (y / (1 + y)))
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
    for _ in range(2):  # for small y solve y = exp(x - y), in which nothing cancels
        excess = small - xp.exp(xp.where(low, safe, -2.0) - small)
        small = small - excess / (1 + small)
    y = xp.where(low, small, large)
    return xp.where(infinite, xp.where(x > 0, x, xp.zeros_like(x)), y)


@special(x=lambda xp, gy, x, y: gy * (math.sqrt(2 * math.pi) * xp.exp(x + 0.5 * (y * y))))
def ndtri_exp(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse of `log_ndtr`: the normal quantile of a probability whose logarithm is `x`, elementwise.

    At 0 the result is infinite, above it NaN.
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
    """Return the inverse of `gdtr` in its first argument, elementwise."""
    return gammaincinv(b, p) / x


@composed
def gdtrix(a: RealOperand, b: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `gdtr` in its third argument, elementwise."""
    return gammaincinv(b, p) / a


@composed
def betainccinv(a: RealOperand, b: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `betaincc` in its third argument, elementwise.

    `a` and `b` are positive, and `p` is a probability.
    """
    return 1 - betaincinv(b, a, p)


@composed
def powm1(x: RealOperand, y: RealOperand, /) -> Variable:
    """Return ``x**y - 1``, accurate where that is small, elementwise.

    Where `x` is not positive, `y` is an integer without a gradient.
    """
    x = cast("Variable", x)
    inside = x > 0
    power = where(inside, 1.0, x) ** where(inside, 1.0, y)
    return where(inside, expm1(y * log(where(inside, x, 1.0))), power - 1)


@special(
    no_gradient=["v"],
    x=lambda xp, gy, v, x: gy * (xp.special.hyp0f1(v + 1, x) / v),
)
def hyp0f1(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Confluent hypergeometric limit function, elementwise.

    The default body is for `x` from -30 to 1000, with NaN beyond.
    """
    inside = (x >= -30) & (x <= 1000)
    arg = xp.where(inside, x, 0.0)
    term = total = xp.ones_like(v + arg)
    for k in range(120):
        term = term * (arg / ((v + k) * (k + 1)))
        total = total + term
    return xp.where(inside, total, math.nan)


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
