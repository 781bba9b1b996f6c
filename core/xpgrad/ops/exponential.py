"""Exponentials that do not overflow: the logistic function, its inverse, and the logarithm of a sum."""

import math

from xpgrad.array_api.creation import zeros_like
from xpgrad.array_api.exponential import exp, log, log1p, logaddexp
from xpgrad.array_api.precision import narrowed, widened
from xpgrad.array_api.statistical import Axis, with_kept_axes
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace


def expit(x: AnyArray, /) -> Variable:
    """Logistic function ``1 / (1 + exp(-x))``, elementwise, without overflow."""
    x = as_variable(x)
    return exp(-logaddexp(-x, zeros_like(x)))


def logit(x: AnyArray, /) -> Variable:
    """Inverse of the logistic function, ``log(x / (1 - x))``, elementwise; -inf at 0, inf at 1, NaN beyond."""
    return log(x) - log1p(-as_variable(x))


def _logsumexp_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    x, y, gy = (widened(xp, each, x_spec) for each in (x, y, gy))
    # Where there is nothing but -inf, no part of the sum changes it.
    known = with_kept_axes(xp, xp.where(y == -math.inf, 0.0, y), x_spec, axis, keepdims)
    return narrowed(xp, with_kept_axes(xp, gy, x_spec, axis, keepdims) * xp.exp(x - known), x_spec)


@primitive(x=_logsumexp_rule)
def logsumexp(xp: Namespace, x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Logarithm of the sum of exponentials over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
        Where there is nothing but -inf the result is -inf and the gradient 0, as for `logaddexp`.
    axis : int, tuple of int or None
    keepdims : bool
    """
    spec = xp.spec_of(x)
    x = widened(xp, x, spec)
    largest = xp.max(x, axis=axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    total = xp.sum(xp.exp(x - largest), axis=axis, keepdims=keepdims)
    return narrowed(xp, xp.log(total) + xp.reshape(largest, total.shape), spec)
