"""The logistic function, its inverse and logarithm, and sums of exponentials."""

import math

from xpgrad.array_api.exponential import exp, log
from xpgrad.array_api.statistical import Axis, max, sum
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import either, fitted, special
from xpgrad.types import AnyArray, Array, Namespace


@special(x=lambda xp, gy, x: gy * (xp.special.expit(x) * xp.special.expit(-x)))
def expit(xp: Namespace, x: AnyArray, /) -> Array:
    """Logistic function, ``1 / (1 + exp(-x))``, elementwise, without overflow and with accurate tails.

    Parameters
    ----------
    x : Variable or array, real
    """
    e = xp.exp(-xp.abs(x))
    return xp.where(x < 0, e, 1.0) / (1 + e)


@special(x=lambda xp, gy, x: gy * xp.special.expit(-x))
def log_expit(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the logistic function, elementwise, without overflow.

    Parameters
    ----------
    x : Variable or array, real
    """
    return xp.minimum(x, xp.zeros_like(x)) - xp.log1p(xp.exp(-xp.abs(x)))


@special(x=lambda xp, gy, x: gy / (x * (1 - x)))
def logit(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the odds, ``log(x / (1 - x))``, elementwise: the inverse of `expit`.

    Parameters
    ----------
    x : Variable or array, real
        From 0 to 1; at these the result is infinite, outside it is NaN.
    """
    inside = (x > 0) & (x < 1)
    safe = xp.where(inside, x, 0.5)
    middle = (safe > 0.3) & (safe < 0.65)
    twice = xp.where(middle, 2 * (safe - 0.5), 0.0)
    near = xp.log1p(twice) - xp.log1p(-twice)
    value = xp.where(middle, near, xp.log(safe / (1 - safe)))
    edge = xp.where(x == 0, -math.inf, either(xp, x == 1, math.inf, math.nan, x))
    return xp.where(inside, value, edge)


def _shift(x: Variable, axis: Axis) -> Variable:
    """Return the largest elements as constants, 0 for those that are not finite."""
    xp = x.__array_namespace__()
    largest = max(Variable(x.array, requires_grad=False), axis=axis, keepdims=True)
    return xp.where(xp.isfinite(largest), largest, 0.0)  # type: ignore[no-any-return]  # a primitive


def logsumexp(x: AnyArray, /, axis: Axis = None, *, b: AnyArray | None = None, keepdims: bool = False) -> Variable:
    """Return the logarithm of the sum of exponentials over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real
    axis : int, tuple of int or None
    b : Variable or array, or None
        Factors of the exponentials.
    keepdims : bool
        Leave reduced axes with length 1.
    """
    (x,) = fitted("logsumexp", (x,))
    xp = x.__array_namespace__()
    largest = _shift(x, axis)
    summands = exp(x - largest) if b is None else b * exp(x - largest)
    total = sum(summands, axis=axis, keepdims=True)
    zero = total == 0
    y = xp.where(zero, -math.inf, log(xp.where(zero, 1.0, total)) + largest)
    return y if keepdims else sum(y, axis=axis)


def softmax(x: AnyArray, /, axis: Axis = None) -> Variable:
    """Return exponentials divided by their sum over `axis`.

    Parameters
    ----------
    x : Variable or array, real
    axis : int, tuple of int or None
    """
    (x,) = fitted("softmax", (x,))
    e = exp(x - _shift(x, axis))
    return e / sum(e, axis=axis, keepdims=True)


def log_softmax(x: AnyArray, /, axis: Axis = None) -> Variable:
    """Return the logarithm of `softmax`.

    Parameters
    ----------
    x : Variable or array, real
    axis : int, tuple of int or None
    """
    (x,) = fitted("log_softmax", (x,))
    shifted = x - _shift(x, axis)
    return shifted - log(sum(exp(shifted), axis=axis, keepdims=True))
