"""The logistic function, its inverse and logarithm, and sums of exponentials, with SciPy's arguments."""

import math

from xpgrad.array_api.elementwise.exponential import exp, log, log1p
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import Axis
from xpgrad.array_api.statistical import max, sum
from xpgrad.graph.variable import Variable
from xpgrad.special import exponentials
from xpgrad.special.operands import as_floating, promoted, special, where_scalars
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["expit", "log_expit", "log_softmax", "logit", "logsumexp", "softmax"]

expit = promoted(exponentials.expit)


@special(x=lambda xp, gy, x: gy * xp.special.expit(-x))
def log_expit(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the logistic function, elementwise, without overflow."""
    return xp.minimum(x, xp.zeros_like(x)) - xp.log1p(xp.exp(-xp.abs(x)))


@special(of_complex=lambda x: log(x) - log1p(-x), x=lambda xp, gy, x: gy / (x * (1 - x)))
def logit(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm of the odds, ``log(x / (1 - x))``, elementwise: the inverse of `expit`.

    Parameters
    ----------
    x : Variable or array
        From 0 to 1, if it is real; at these the result is infinite, outside it is NaN.
    """
    inside = (x > 0) & (x < 1)
    safe = xp.where(inside, x, 0.5)
    middle = (safe > 0.3) & (safe < 0.65)
    twice = xp.where(middle, 2 * (safe - 0.5), 0.0)
    near = xp.log1p(twice) - xp.log1p(-twice)
    value = xp.where(middle, near, xp.log(safe / (1 - safe)))
    edge = xp.where(x == 0, -math.inf, where_scalars(xp, x == 1, math.inf, math.nan, x))
    return xp.where(inside, value, edge)


@in_single_precision
def logsumexp(x: AnyArray, /, axis: Axis = None, *, b: AnyArray | None = None, keepdims: bool = False) -> Variable:
    """Return the logarithm of the sum of exponentials over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real
        If all elements are -inf the result is -inf and the gradient 0, as for `logaddexp`; the result is also -inf for
        empty slices.
    axis : int, tuple of int or None
    b : Variable or array, or None
        Factors of the exponentials.
    keepdims : bool
        Leave reduced axes with length 1.
    """
    if b is None:
        return exponentials.logsumexp(*as_floating("logsumexp", (x,)), axis=axis, keepdims=keepdims)
    x, b = as_floating("logsumexp", (x, b))
    xp = x.__array_namespace__()
    if not x.size:
        return exponentials.logsumexp(x * b, axis=axis, keepdims=keepdims)
    largest = max(Variable(x.array, requires_grad=False), axis=axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, 0.0)
    total = sum(b * exp(x - largest), axis=axis, keepdims=True)
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
    (x,) = as_floating("softmax", (x,))
    return exponentials.softmax(x, axis=axis)


def log_softmax(x: AnyArray, /, axis: Axis = None) -> Variable:
    """Return the logarithm of `softmax`.

    Parameters
    ----------
    x : Variable or array, real
    axis : int, tuple of int or None
    """
    (x,) = as_floating("log_softmax", (x,))
    return exponentials.log_softmax(x, axis=int(axis) if isinstance(axis, int) else axis)
