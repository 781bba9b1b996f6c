"""Exponentials that do not overflow: the logistic function, softmax and its logarithm, and the logarithm of a sum.

These are the primitives. `logistic` defines them with SciPy's arguments, and `xpgrad.functions` with Chainer's
arguments.
"""

import math

from xpgrad.array_api.shared.axes import Axis, with_kept_axes
from xpgrad.array_api.shared.precision import fitted, narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.types import Array, Namespace

NEARLY_ONE = 0.995
"""Above this the rule of `expit` uses ``expit(-x)`` for ``1 - y``.

Below it, the difference is accurate to 100 units in the last place. Few inputs are above, so a kernel may compute the
function for those only.
"""


def _expit_rule(xp: Namespace, gy: Array, x: Array, y: Array) -> Array:
    spec = xp.spec_of(y)
    x, y, gy = (widened(xp, each, spec) for each in (x, y, gy))
    rest = xp.where(y > NEARLY_ONE, xp.special.expit(-x), 1 - y)
    return narrowed(xp, gy * (y * rest), spec)


@elementwise(label="sigmoid", extension="special", x=_expit_rule)
def expit(xp: Namespace, x: Array, /) -> Array:
    """Logistic function, ``1 / (1 + exp(-x))``, elementwise, without overflow; its gradient is exact in both tails.

    Parameters
    ----------
    x : Variable or array, real floating-point
    """
    spec = xp.spec_of(x)
    wide = widened(xp, x, spec)
    e = xp.exp(-xp.abs(wide))
    return fitted(xp, xp.where(wide < 0, e, 1.0) / (1 + e), x)


DOMINANT = 0.9
"""Above this, the cotangent of a probability is subtracted from all others before their mean is taken."""


def from_dominant(xp: Namespace, t: Array, p: Array, axis: Axis) -> Array:
    """Return `t` less its element at a probability near 1: its difference from the mean of `t` would have no digits."""
    return t - xp.sum(xp.where(p > DOMINANT, t, 0.0), axis=axis, keepdims=True)


def probabilities_rule(xp: Namespace, gy: Array, y: Array, axis: Axis) -> Array:
    """Return ``y * (gy - sum(gy * y))`` for probabilities `y`."""
    gy = from_dominant(xp, gy, y, axis)
    return y * (gy - xp.sum(gy * y, axis=axis, keepdims=True))


def _softmax_backward_p_rule(xp: Namespace, gy: Array, g: Array, p: Array, axis: Axis) -> Array:
    spec = xp.spec_of(p)
    gy, g, p = (widened(xp, each, spec) for each in (gy, g, p))
    g = from_dominant(xp, g, p, axis)
    along, mean = (xp.sum(each * p, axis=axis, keepdims=True) for each in (gy, g))
    return narrowed(xp, gy * (g - mean) - g * along, spec)


@primitive(linear=("g",), g=lambda xp, gy, p, axis: xp.softmax_backward(gy, p, axis=axis), p=_softmax_backward_p_rule)
def softmax_backward(xp: Namespace, g: Array, p: Array, /, axis: Axis) -> Array:
    """Gradient of `softmax` with the output `p`: ``p * (g - sum(g * p))`` over `axis`."""
    spec = xp.spec_of(p)
    return narrowed(xp, probabilities_rule(xp, widened(xp, g, spec), widened(xp, p, spec), axis), spec)


@primitive(symmetric=("x",), x=lambda xp, gy, y, axis: xp.softmax_backward(gy, y, axis=axis))
def softmax(xp: Namespace, x: Array, /, axis: Axis = None) -> Array:
    """Exponentials divided by their sum over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int, tuple of int or None

    Returns
    -------
    Variable, shape of `x`
        Positive, with sum 1 over `axis`.
    """
    spec = xp.spec_of(x)
    if not spec.size:
        return xp.zeros_like(x)
    x = widened(xp, x, spec)
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return narrowed(xp, e / xp.sum(e, axis=axis, keepdims=True), spec)


def _log_softmax_backward_g_rule(xp: Namespace, gy: Array, score: Array, axis: Axis) -> Array:
    spec = xp.spec_of(score)
    p = xp.exp(widened(xp, score, spec))
    gy = from_dominant(xp, widened(xp, gy, spec), p, axis)
    return narrowed(xp, gy - xp.sum(p * gy, axis=axis, keepdims=True), spec)


def _log_softmax_backward_score_rule(xp: Namespace, gy: Array, g: Array, score: Array, axis: Axis) -> Array:
    spec = xp.spec_of(score)
    gy, g, score = (widened(xp, each, spec) for each in (gy, g, score))
    return narrowed(xp, gy * -(xp.exp(score) * xp.sum(g, axis=axis, keepdims=True)), spec)


@primitive(linear=("g",), g=_log_softmax_backward_g_rule, score=_log_softmax_backward_score_rule)
def log_softmax_backward(xp: Namespace, g: Array, score: Array, /, axis: Axis) -> Array:
    """Gradient of `log_softmax` with the output `score`: ``g - exp(score) * sum(g)`` over `axis`."""
    spec = xp.spec_of(score)
    score, g = widened(xp, score, spec), widened(xp, g, spec)
    p = xp.exp(score)
    dominant = p > DOMINANT  # here 1 - p is the sum of the other probabilities
    rest, others = (xp.sum(xp.where(dominant, 0.0, each), axis=axis, keepdims=True) for each in (p, g))
    plain = g - p * xp.sum(g, axis=axis, keepdims=True)
    return narrowed(xp, xp.where(dominant, g * rest - p * others, plain), spec)


@primitive(x=lambda xp, gy, y, axis: xp.log_softmax_backward(gy, y, axis=axis))
def log_softmax(xp: Namespace, x: Array, /, axis: Axis = None) -> Array:
    """Logarithm of `softmax`: ``x - log(sum(exp(x)))`` over `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int, tuple of int or None
    """
    spec = xp.spec_of(x)
    if not spec.size:
        return xp.zeros_like(x)
    x = widened(xp, x, spec)
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return narrowed(xp, shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True)), spec)


def _logsumexp_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    # The logarithm has been rounded, so that the exponential of a difference from it is not as accurate as softmax.
    empty = with_kept_axes(xp, y == -math.inf, x_spec, axis, keepdims)  # where the gradient is 0
    gy = with_kept_axes(xp, widened(xp, gy, x_spec), x_spec, axis, keepdims)
    share = xp.softmax(xp.where(empty, 0.0, widened(xp, x, x_spec)), axis=axis)
    return narrowed(xp, xp.where(empty, 0.0, gy) * share, x_spec)


@primitive(reduction=True, x=_logsumexp_rule)
def logsumexp(xp: Namespace, x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Logarithm of the sum of exponentials over `axis`, without overflow.

    Near 0 the absolute error equals the error of the logarithm of a number near 1.

    Parameters
    ----------
    x : Variable or array, real floating-point
        If all elements are -inf the result is -inf and the gradient 0, as for `logaddexp`; the result is also -inf for
        empty slices.
    axis : int, tuple of int or None
    keepdims : bool
    """
    spec = xp.spec_of(x)
    if not spec.size:
        return xp.sum(x, axis=axis, keepdims=keepdims) - math.inf
    x = widened(xp, x, spec)
    largest = xp.max(x, axis=axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    total = xp.sum(xp.exp(x - largest), axis=axis, keepdims=keepdims)
    return narrowed(xp, xp.log(total) + xp.reshape(largest, total.shape), spec)
