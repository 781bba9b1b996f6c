"""Inverses of distribution functions in a parameter: derivatives are those of the distribution function, by its slope.

A default body solves for the logarithm of the unknown by secant steps within bounds, in a fixed number of them.
"""

import math
from collections.abc import Callable
from typing import cast

from xpgrad.array_api.elementwise.extrema import maximum
from xpgrad.graph.variable import Variable
from xpgrad.special.distributions import student_density
from xpgrad.special.error_functions import ndtri
from xpgrad.special.incomplete_beta import beta_density, beta_tails
from xpgrad.special.incomplete_gamma import gamma_density
from xpgrad.special.operands import composed, special
from xpgrad.types import Array, Namespace, RealOperand

__all__ = [
    "bdtrik", "bdtrin", "btdtria", "btdtrib", "chdtriv", "gammainc_shape_of", "gdtrib", "nbdtrik", "nbdtrin",
    "nrdtrimn", "nrdtrisd", "pdtrik", "stdtridf", "successes_of", "tklmbda",
]  # fmt: skip

STEPS, REACH = 16, 80.0
Tails = Callable[[Array], tuple[Array, Array]]


def _link(xp: Namespace, lower: Array, upper: Array, sharp: Array, rising: bool) -> tuple[Array, Array]:
    """Return a function of a probability that is nearly linear in `_solved`, and where the smaller tail is 0."""
    small, tiny = lower < 0.5, float(xp.finfo(lower.dtype).smallest_normal)
    tail = xp.where(small, lower, upper)
    gone = tail <= tiny
    tail = xp.where(gone, tiny, tail)
    known, z = ~small if rising else small, xp.special.ndtri(tail)  # known: of the probability that falls with `y`
    return xp.where(sharp, xp.where(known, -z, z), xp.log(-xp.where(known, xp.log(tail), xp.log1p(-tail)))), gone


def _solved(xp: Namespace, tails: Tails, p: Array, valid: Array, rising: bool, centre: Array, count: Array) -> Array:
    """Return the positive `y` at which the first of ``tails(y)`` is `p`, NaN where it is not `valid`.

    Secant steps in ``log(y)`` within bounds, on a scale on which the probability is nearly linear: normal quantiles if
    the distribution is narrow, else the logarithm of minus the logarithm of the probability that falls with `y`.

    Parameters
    ----------
    xp : namespace
    tails : callable
        The probability and 1 minus it, by `y`.
    p, valid : array
    rising : bool
        Whether the first probability grows with `y`.
    centre, count : array
        About the `y` of the median, and the inverse square of the distribution's width in ``log(y)``.
    """
    valid = valid & (p > 0) & (p < 1)
    p = xp.where(valid, p, 0.5)
    sharp = count > 4
    goal, _ = _link(xp, p, 1 - p, sharp, rising)
    size = xp.where(sharp, 1 / xp.sqrt(xp.where(sharp, count, 1.0)), 1.0)
    low, high = xp.zeros_like(p) - REACH, xp.zeros_like(p) + REACH
    u = xp.minimum(xp.maximum(xp.log(centre) + 0 * p, low), high)
    last, before, was_gone = u, goal, p < 0
    for step in range(STEPS):
        value, gone = _link(xp, *tails(xp.exp(u)), sharp, rising)
        off = value - goal
        low, high = xp.where(off > 0, low, u), xp.where(off > 0, u, high)
        if step:
            change = off - before
            ratio = (u - last) / xp.where(change == 0, 1.0, change)
            size = xp.where((ratio > 0) & ~gone & ~was_gone, ratio, size)
        move = -off * size
        if not step:  # far above the centre, probabilities fall faster
            far = xp.maximum(move, xp.zeros_like(move))
            move = xp.where(move < 0, move, xp.where(sharp, 2 * xp.log1p(0.5 * far), 0.5 * far))
        last, before, was_gone, moved = u, off, gone, u + move
        u = xp.where(~gone & (moved >= low) & (moved <= high), moved, 0.5 * (low + high))
    return xp.where(valid, xp.exp(u), math.nan)


def _by_a(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    """Return the derivative of `betainc` by its first parameter."""
    return xp.special.betainc_slope(a, b, x, m=1, n=0)


def _by_b(xp: Namespace, a: Array, b: Array, x: Array) -> Array:
    return xp.special.betainc_slope(a, b, x, m=0, n=1)


@special(
    p=lambda xp, gy, b, x, y: gy / _by_a(xp, y, b, x),
    b=lambda xp, gy, b, x, y: -gy * _by_b(xp, y, b, x) / _by_a(xp, y, b, x),
    x=lambda xp, gy, b, x, y: -gy * beta_density(xp, y, b, x, 1 - x) / _by_a(xp, y, b, x),
)
def btdtria(xp: Namespace, p: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Inverse of `betainc` in its first parameter, elementwise.

    Relative errors are up to 1e-7, those of derivatives too.
    """
    p, b, x = xp.broadcast_arrays(p, b, x)
    valid = (b > 0) & (x > 0) & (x < 1)
    b, x = xp.where(valid, b, 1.0), xp.where(valid, x, 0.5)
    centre = b * xp.pow(x / (1 - x), xp.minimum(b, xp.ones_like(b))) + 1 / 3
    return _solved(xp, lambda y: beta_tails(xp, y, b, x), p, valid, False, centre, b * x)


@special(
    a=lambda xp, gy, a, x, y: -gy * _by_a(xp, a, y, x) / _by_b(xp, a, y, x),
    p=lambda xp, gy, a, x, y: gy / _by_b(xp, a, y, x),
    x=lambda xp, gy, a, x, y: -gy * beta_density(xp, a, y, x, 1 - x) / _by_b(xp, a, y, x),
)
def btdtrib(xp: Namespace, a: RealOperand, p: RealOperand, x: RealOperand, /) -> Array:
    """Inverse of `betainc` in its second parameter, elementwise.

    Relative errors are up to 1e-7, those of derivatives too.
    """
    a, p, x = xp.broadcast_arrays(a, p, x)
    valid = (a > 0) & (x > 0) & (x < 1)
    a, x = xp.where(valid, a, 1.0), xp.where(valid, x, 0.5)
    centre = a * xp.pow((1 - x) / x, xp.minimum(a, xp.ones_like(a))) + 1 / 3
    return _solved(xp, lambda y: beta_tails(xp, a, y, x), p, valid, True, centre, a * (1 - x))


@composed
def bdtrin(k: RealOperand, y: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `bdtr` in its second argument, for real numbers of events, elementwise.

    Relative errors are up to 1e-7, those of derivatives too.
    """
    return k + btdtria(y, k + 1, 1 - p)


@composed
def nbdtrik(y: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `nbdtr` in its first argument, for real numbers of events, elementwise.

    It is 0 where the probability of no event is larger than that given.
    Relative errors are up to 1e-7, those of derivatives too.
    """
    return maximum(btdtrib(n, y, p) - 1, 0)


@composed
def nbdtrin(k: RealOperand, y: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `nbdtr` in its second argument, for real numbers of events, elementwise.

    Relative errors are up to 1e-7, those of derivatives too.
    """
    return btdtria(y, k + 1, p)


def _share_slope(xp: Namespace, k: Array, n: Array, p: Array) -> Array:
    """Return the derivative of `bdtr` by the number of successes."""
    return _by_b(xp, k + 1, n - k, p) - _by_a(xp, k + 1, n - k, p)


@special(
    p=lambda xp, gy, n, x, y: gy / _share_slope(xp, y, n, x),
    n=lambda xp, gy, n, x, y: gy * _by_b(xp, y + 1, n - y, x) / _share_slope(xp, y, n, x),
    x=lambda xp, gy, n, x, y: gy * beta_density(xp, y + 1, n - y, x, 1 - x) / _share_slope(xp, y, n, x),
)
def successes_of(xp: Namespace, p: RealOperand, n: RealOperand, x: RealOperand, /) -> Array:
    """Number of successes, a real one from -1 on, elementwise.

    `p` is the probability of so many successes or less, `n` the number of trials, `x` the probability of each.
    """
    p, n, x = xp.broadcast_arrays(p, n, x)
    valid = (n > 0) & (x > 0) & (x < 1)
    n, x, special = xp.where(valid, n, 1.0), xp.where(valid, x, 0.5), xp.special

    def successes(odds: Array) -> Array:
        return (n * odds - 1) / (1 + odds)  # from -1 to n

    def tails(odds: Array) -> tuple[Array, Array]:
        a, b = (n + 1) * odds / (1 + odds), (n + 1) / (1 + odds)
        return special.betaincc(a, b, x), special.betainc(a, b, x)

    a, b = (n + 1) * x, (n + 1) * (1 - x)
    return successes(_solved(xp, tails, p, valid, True, (a + 0.1) / (b + 0.1), a * (1 - x)))


@composed
def bdtrik(y: RealOperand, n: RealOperand, p: RealOperand, /) -> Variable:
    """Return the inverse of `bdtr` in its first argument, for real numbers of events, elementwise.

    It is 0 where the probability of no event is larger than `y`.
    Relative errors are up to 1e-7, those of derivatives too.
    """
    return maximum(successes_of(y, n, p), 0)


@special(
    p=lambda xp, gy, x, y, upper: (1 - 2 * upper) * gy / xp.special.gammainc_slope(y, x, n=1),
    x=lambda xp, gy, x, y: -gy * gamma_density(xp, y, x) / xp.special.gammainc_slope(y, x, n=1),
)
def gammainc_shape_of(xp: Namespace, p: RealOperand, x: RealOperand, /, upper: int) -> Array:
    """Inverse of `gammainc` in its parameter, of `gammaincc` if `upper` is 1, elementwise."""
    p, x = xp.broadcast_arrays(p, x)
    valid = x > 0
    x, special = xp.where(valid, x, 1.0), xp.special

    def tails(y: Array) -> tuple[Array, Array]:
        lower, other = special.gammainc(y, x), special.gammaincc(y, x)
        return (other, lower) if upper else (lower, other)

    return _solved(xp, tails, p, valid, bool(upper), x + 1 / 3, x)


@composed
def gdtrib(a: RealOperand, p: RealOperand, x: RealOperand, /) -> Variable:
    """Return the inverse of `gdtr` in its second argument, elementwise.

    Relative errors are up to 1e-9, those of derivatives too.
    """
    return gammainc_shape_of(p, a * x, upper=0)


@composed
def chdtriv(p: RealOperand, x: RealOperand, /) -> Variable:
    """Return the inverse of `chdtr` in its first argument, the degrees of freedom, elementwise.

    Relative errors are up to 1e-9, those of derivatives too.
    """
    return 2 * gammainc_shape_of(p, 0.5 * x, upper=0)


@composed
def pdtrik(p: RealOperand, m: RealOperand, /) -> Variable:
    """Return the inverse of `pdtr` in its first argument, for real numbers of events, elementwise.

    It is 0 where the probability of no event is larger than that given.
    Relative errors are up to 1e-9, those of derivatives too.
    """
    return maximum(gammainc_shape_of(p, m, upper=1) - 1, 0)


@special(
    p=lambda xp, gy, t, y: gy / xp.special.stdtr_slope(y, t, n=1),
    t=lambda xp, gy, t, y: -gy * student_density(xp, y, t) / xp.special.stdtr_slope(y, t, n=1),
)
def stdtridf(xp: Namespace, p: RealOperand, t: RealOperand, /) -> Array:
    """Inverse of `stdtr` in its first argument, the degrees of freedom, elementwise.

    The result is NaN where no distribution has the probability `p` at `t`.
    Relative errors are up to 1e-7, those of derivatives too.
    """
    p, t = xp.broadcast_arrays(p, t)
    size, tail = xp.abs(t), xp.where(t < 0, p, 1 - p)
    least = xp.special.ndtr(-size)
    valid = (size > 0) & (tail > least) & (tail < 0.5)
    size, least = xp.where(valid, size, 1.0), xp.where(valid, least, 0.0)
    square, half = size * size, xp.full_like(size, 0.5)

    def tails(y: Array) -> tuple[Array, Array]:  # of those between an infinite number of degrees, and 0
        far = square > y
        at = xp.where(far, y, square) / (y + square)
        one, other = beta_tails(xp, xp.where(far, 0.5 * y, half), xp.where(far, half, 0.5 * y), at)
        outer, inner = xp.where(far, one, other), xp.where(far, other, one)
        return (outer - 2 * least) / (1 - 2 * least), inner / (1 - 2 * least)

    return _solved(xp, tails, 2 * (tail - least) / (1 - 2 * least), valid, False, 1 + 0 * size, 0 * size)


@composed
def nrdtrimn(p: RealOperand, std: RealOperand, x: RealOperand, /) -> Variable:
    """Return the mean of the normal distribution of standard deviation `std` that has the probability `p` up to `x`.

    Relative errors are up to 1e-11, those of derivatives too.
    """
    return x - std * ndtri(cast("Variable", p))


@composed
def nrdtrisd(mn: RealOperand, p: RealOperand, x: RealOperand, /) -> Variable:
    """Return the standard deviation of the normal distribution of mean `mn` that has the probability `p` up to `x`.

    Relative errors are up to 1e-11, those of derivatives too.
    """
    return (x - mn) / ndtri(cast("Variable", p))


def _boxcox_slope(xp: Namespace, x: Array, lmbda: Array) -> Array:
    """Return the derivative of `boxcox` by `lmbda`."""
    log = xp.log(x)
    return log * log * xp.special.exprel_of(lmbda * log, n=1)


def _tukey_density(xp: Namespace, p: Array, lmbda: Array) -> Array:
    return 1 / (xp.pow(p, lmbda - 1) + xp.pow(1 - p, lmbda - 1))


def _beyond(xp: Namespace, x: Array, lmbda: Array) -> Array:
    """Return whether the distribution function is 0 or 1, and so constant."""
    return (lmbda > 0) & (xp.abs(x) >= 1 / xp.where(lmbda > 0, lmbda, 1.0))


def _tukey_shape_rule(xp: Namespace, gy: Array, x: Array, lmbda: Array, y: Array) -> Array:
    beyond = _beyond(xp, x, lmbda)
    y = xp.where(beyond, 0.5, y)
    change = _tukey_density(xp, y, lmbda) * (_boxcox_slope(xp, 1 - y, lmbda) - _boxcox_slope(xp, y, lmbda))
    return gy * xp.where(beyond, 0.0, change)


def _tukey_rule(xp: Namespace, gy: Array, x: Array, lmbda: Array, y: Array) -> Array:
    beyond = _beyond(xp, x, lmbda)
    return gy * xp.where(beyond, 0.0, _tukey_density(xp, xp.where(beyond, 0.5, y), lmbda))


@special(x=_tukey_rule, lmbda=_tukey_shape_rule)
def tklmbda(xp: Namespace, x: RealOperand, lmbda: RealOperand, /) -> Array:
    """Distribution function of Tukey's lambda distribution, elementwise.

    Where `lmbda` is positive, it is 0 or 1 from ``1 / lmbda`` away from 0 on.
    Relative errors are up to 1e-9, those of derivatives too.
    """
    x, lmbda = xp.broadcast_arrays(x, lmbda)
    outside = _beyond(xp, x, lmbda)
    size = xp.where(outside, 0.0, xp.abs(x))
    low, high = xp.zeros_like(x) - 745.0, xp.zeros_like(x)  # of the logarithm of the smaller tail, less than log 2
    u = xp.zeros_like(x)
    for _ in range(70):
        tail = 0.5 * xp.exp(u)
        off = xp.special.boxcox(1 - tail, lmbda) - xp.special.boxcox(tail, lmbda) - size
        low, high = xp.where(off > 0, u, low), xp.where(off > 0, high, u)
        moved = u + off * _tukey_density(xp, tail, lmbda) / tail
        u = xp.where((moved >= low) & (moved <= high), moved, 0.5 * (low + high))
    tail = xp.where(outside, 0.0, 0.5 * xp.exp(u))
    return xp.where(x < 0, tail, 1 - tail)
