"""Activations: the nonlinearities between the layers of a network."""

import math
from typing import Any, Literal, overload

from xpgrad import array_api
from xpgrad.array_api import reshape, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.precision import fitted, narrowed, widened
from xpgrad.backend import random
from xpgrad.config import config
from xpgrad.functions import checks
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.special import exponentials
from xpgrad.special.error_functions import DENSITY
from xpgrad.types import AnyArray, Array, Namespace, Operand

__all__ = [
    "clipped_relu", "crelu", "elu", "gelu", "hard_sigmoid", "leaky_relu", "log_softmax", "maxout", "prelu", "relu",
    "relu6", "rrelu", "selu", "sigmoid", "softmax", "softplus", "swish", "tanh",
]  # fmt: skip

sigmoid = checks.real(exponentials.expit, "sigmoid")
tanh = checks.inexact(array_api.tanh, "tanh")


@checks.floating
@elementwise(x=lambda xp, gy, y: xp.gate(gy, y))
def relu(xp: Namespace, x: AnyArray, /) -> Array:
    """Rectified linear unit, ``max(x, 0)``, elementwise. The derivative at 0 is 0.

    Parameters
    ----------
    x : Variable or array, real floating-point
    """
    return xp.clip(x, 0)


@checks.floating
@elementwise(x=lambda xp, gy, y, z: xp.where((y > 0) & (y < z), gy, 0.0))
def clipped_relu(xp: Namespace, x: AnyArray, /, z: float = 20.0) -> Array:
    """Rectified linear unit with a ceiling, ``min(max(x, 0), z)``, elementwise. The derivative at both kinks is 0.

    Parameters
    ----------
    x : Variable or array, real floating-point
    z : float
    """
    checks.real_number(z, "clipped_relu", "z")
    spec = xp.spec_of(x)
    return narrowed(xp, xp.clip(widened(xp, x, spec), 0.0, z), spec)


def relu6(x: AnyArray) -> Variable:
    """Return `clipped_relu` with the ceiling 6."""
    checks.real_floating(x, "relu6")
    return clipped_relu(x, z=6.0)


def crelu(x: AnyArray, axis: int = 1) -> Variable:
    """Return ``relu(x)`` and ``relu(-x)``, concatenated along `axis`.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int

    References
    ----------
    Shang, Sohn, Almeida, Lee: Understanding and improving convolutional neural networks via concatenated rectified
    linear units, 2016.
    """
    checks.require_axis(checks.real_floating(x, "crelu"), axis, "crelu")
    x = as_variable(x)
    return array_api.concat([relu(x), relu(-x)], axis=axis)


def maxout(x: AnyArray, pool_size: int, axis: int = 1) -> Variable:
    """Return the maximum of each group of `pool_size` neighbours along `axis`; ties share the gradient equally.

    Parameters
    ----------
    x : Variable or array, real floating-point
        The length of `axis` is a multiple of `pool_size`.
    pool_size : int
    axis : int

    Returns
    -------
    Variable, shape of `x` with the length of `axis` divided by `pool_size`

    References
    ----------
    Goodfellow, Warde-Farley, Mirza, Courville, Bengio: Maxout networks, 2013.
    """
    if pool_size < 1:
        raise ValueError(f"maxout: pool_size must be a positive integer, got {pool_size}")
    spec = checks.real_floating(x, "maxout")
    axis = checks.require_axis(spec, axis, "maxout")
    length = spec.shape[axis]
    if length % pool_size:
        raise checks.invalid("maxout", f"x with a multiple of {pool_size} elements along axis {axis}", f"x is {spec!r}")
    pools = reshape(x, shape=(*spec.shape[:axis], length // pool_size, pool_size, *spec.shape[axis + 1 :]))
    return array_api.max(pools, axis=axis + 1)


@checks.floating
@elementwise(x=lambda xp, gy, x, slope: xp.where(x >= 0, gy, slope * gy))
def leaky_relu(xp: Namespace, x: AnyArray, /, slope: float = 0.2) -> Array:
    """Leaky rectified linear unit, `x` for nonnegative elements and ``slope * x`` otherwise. The derivative at 0 is 1.

    Parameters
    ----------
    x : Variable or array, real floating-point
    slope : float
    """
    return fitted(xp, xp.where(x >= 0, x, slope * x), x)


def prelu(x: AnyArray, W: AnyArray) -> Variable:
    """Return the parametric rectified linear unit: `x` for positive elements, ``W * x`` for other elements.

    Parameters
    ----------
    x : Variable or array, shape (N, *S, ...), real floating-point
    W : Variable or array, shape S
        Slopes, shared by the examples of the batch and along the axes after S. The derivative with respect to `x`
        at 0 is `W`.
    """
    slope, x = along_features("prelu", x, W, "W"), as_variable(x)
    return where(x > 0, x, slope * x)


def along_features(function: str, x: AnyArray, W: Any, name: str) -> Variable:
    """Reshape `W`, with the shape of `x` from axis 1 on, by appending axes of length 1 up to the rank of `x`."""
    spec, weights = checks.real_floating(x, function), checks.real_floating(W, function, name)
    if spec.shape[1 : 1 + weights.ndim] != weights.shape:
        expect = f"{name} of the shape of x from axis 1 on, {spec.shape[1 : 1 + weights.ndim]}"
        raise checks.invalid(function, expect, f"x is {spec!r}, {name} is {weights!r}")
    return reshape(W, shape=weights.shape + (1,) * max(spec.ndim - 1 - weights.ndim, 0))


@overload
def rrelu(
    x: AnyArray, l: float = 1 / 8, u: float = 1 / 3, *, r: AnyArray | None = None, return_r: Literal[False] = False
) -> Variable: ...


@overload
def rrelu(
    x: AnyArray, l: float = 1 / 8, u: float = 1 / 3, *, r: AnyArray | None = None, return_r: Literal[True]
) -> tuple[Variable, Array]: ...


def rrelu(x: AnyArray, l: float = 1 / 8, u: float = 1 / 3, *, r: AnyArray | None = None, return_r: bool = False) -> Any:
    """Return `x` for positive elements, else `x` times a random slope. The derivative at 0 is the slope.

    Parameters
    ----------
    x : Variable or array, real floating-point
    l, u : float
        Range of the slopes, one for each element. Outside of training all are its midpoint.
    r : array, shape and dtype of `x`, optional
        Slopes to use in training instead of random ones from `xpgrad.random`.
    return_r : bool
        Return the slopes too, for use in another call.

    Returns
    -------
    Variable, or tuple of Variable and array

    References
    ----------
    Xu, Wang, Chen, Li: Empirical evaluation of rectified activations in convolutional network, 2015.
    """
    spec = checks.real_floating(x, "rrelu")
    xp = spec.backend.xp
    if not config.train:
        slopes = xp.full(spec.shape, (l + u) / 2, dtype=spec.dtype, device=spec.device)
    elif r is None:
        slopes = spec.backend.restore(xp.add(xp.multiply(random.uniform_like(spec), u - l), l))
    else:
        if isinstance(r, Variable) and r.requires_grad:
            raise ValueError("rrelu: r must be an array, not a Variable that requires a gradient: it has none")
        slopes, r_spec = as_array(r), checks.known_spec(r, "rrelu")
        if r_spec.shape != spec.shape or r_spec.dtype != spec.dtype:
            raise checks.invalid("rrelu", "r of the shape and dtype of x", f"x is {spec!r}, r is {r_spec!r}")
    x = as_variable(x)
    y = where(x > 0, x, x * slopes)
    return (y, slopes) if return_r else y


@checks.floating
@elementwise(x=lambda xp, gy, x, alpha: xp.where(x >= 0, gy, gy * (alpha * xp.exp(xp.where(x > 0, 0.0, x)))))
def elu(xp: Namespace, x: AnyArray, /, alpha: float = 1.0) -> Array:
    """Exponential linear unit, `x` where it is positive, else ``alpha * (exp(x) - 1)``. The derivative at 0 is 1.

    Parameters
    ----------
    x : Variable or array, real floating-point
    alpha : float

    References
    ----------
    Clevert, Unterthiner, Hochreiter: Fast and accurate deep network learning by exponential linear units, 2015.
    """
    return fitted(xp, xp.where(x >= 0, x, alpha * xp.expm1(xp.where(x > 0, 0.0, x))), x)


@in_single_precision
def selu(x: AnyArray, alpha: float = 1.6732632423543772848, scale: float = 1.0507009873554804934) -> Variable:
    """Return the scaled exponential linear unit, ``scale * elu(x, alpha)``.

    Parameters
    ----------
    x : Variable or array, real floating-point
    alpha, scale : float
        The defaults keep mean 0 and variance 1 (Klambauer and others: Self-normalizing neural networks, 2017).
    """
    return scale * elu(x, alpha=alpha)


@checks.floating
@elementwise(x=lambda xp, gy, y: xp.where((y > 0) & (y < 1), 0.2 * gy, 0.0))
def hard_sigmoid(xp: Namespace, x: AnyArray, /) -> Array:
    """Piecewise linear sigmoid, ``0.2 * x + 0.5`` between 0 and 1, elementwise. The derivative at both kinks is 0.

    Parameters
    ----------
    x : Variable or array, real floating-point
    """
    return fitted(xp, xp.clip(0.2 * x + 0.5, 0.0, 1.0), x)


@elementwise(x=lambda xp, gy, x: gy * (DENSITY * xp.exp(-0.5 * (x * x)) * (2.0 - x * x)))
def normal_weighted_slope(xp: Namespace, x: Array, /) -> Array:
    """Derivative of `normal_weighted` at `x`, elementwise."""
    return xp.special.ndtr(x) + x * (DENSITY * xp.exp(-0.5 * (x * x)))


@elementwise(x=lambda xp, gy, x: gy * xp.normal_weighted_slope(x))
def normal_weighted(xp: Namespace, x: Array, /) -> Array:
    """`x` times the distribution function of the normal distribution at `x`, elementwise."""
    return x * xp.special.ndtr(x)


@in_single_precision
def gelu(x: AnyArray, approximate: Literal["none", "tanh"] = "none") -> Variable:
    """Gaussian error linear unit, ``x * Phi(x)`` for the normal distribution function ``Phi``, elementwise.

    Parameters
    ----------
    x : Variable or array, real floating-point
    approximate : {"none", "tanh"}
        "tanh" takes ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2`` for ``Phi``.

    References
    ----------
    Hendrycks, Gimpel: Gaussian error linear units (GELUs), 2016.
    """
    checks.real_floating(x, "gelu")
    x = as_variable(x)
    if approximate == "none":
        return normal_weighted(x)
    if approximate != "tanh":
        raise ValueError(f"gelu: expected approximate to be 'none' or 'tanh', got {approximate!r}")
    return x * sigmoid(math.sqrt(8.0 / math.pi) * (x + 0.044715 * (x * x * x)))


def _weighted_curvature(xp: Namespace, gy: Array, x: Array, beta: float) -> Array:
    s, rest = xp.special.expit(beta * x), xp.special.expit(-beta * x)
    return gy * (beta * (s * rest) * (2.0 + beta * x * (rest - s)))


@elementwise(x=_weighted_curvature)
def sigmoid_weighted_slope(xp: Namespace, x: Array, /, beta: float) -> Array:
    """Derivative of `sigmoid_weighted` at `x`, elementwise."""
    scaled = beta * x
    s = xp.special.expit(scaled)
    return s * (1.0 + scaled * (1.0 - s))


@elementwise(x=lambda xp, gy, x, beta: gy * xp.sigmoid_weighted_slope(x, beta=beta))
def sigmoid_weighted(xp: Namespace, x: Array, /, beta: float) -> Array:
    """``x * sigmoid(beta * x)``, elementwise: `swish` with a number that has no gradient."""
    return x * xp.special.expit(beta * x)


@in_single_precision
def swish(x: AnyArray, beta: Operand) -> Variable:
    """Return ``x * sigmoid(beta * x)``, elementwise.

    Parameters
    ----------
    x : Variable or array, real floating-point
    beta : Variable, array or float
        Of the shape of `x` from axis 1 on, as far as it has axes: one for each feature, or one for all.
    """
    if (type(beta) is float or type(beta) is int) and math.isfinite(beta):
        checks.real_floating(x, "swish")
        return sigmoid_weighted(x, beta=float(beta))
    slope = along_features("swish", x, beta, "beta") if getattr(beta, "ndim", 0) else beta
    x = as_variable(x)
    return x * sigmoid(x * slope)


@checks.floating
@elementwise(x=lambda xp, gy, y, beta: gy * -xp.expm1(-beta * y))
def softplus(xp: Namespace, x: AnyArray, /, beta: float = 1.0) -> Array:
    """Smooth rectifier, ``log(1 + exp(beta * x)) / beta``, elementwise, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    beta : float
        Not 0; the larger it is, the closer the function to `relu`.
    """
    spec = xp.spec_of(x)
    scaled = beta * widened(xp, x, spec)
    return narrowed(xp, (xp.clip(scaled, 0) + xp.log1p(xp.exp(-xp.abs(scaled)))) / beta, spec)


@checks.floating
def softmax(x: AnyArray, /, axis: int = 1) -> Variable:
    """Exponentials divided by their sum along `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int

    Returns
    -------
    Variable, shape of `x`
        Positive, with sum 1 along `axis`.
    """
    return exponentials.softmax(x, axis=axis)


@checks.floating
def log_softmax(x: AnyArray, /, axis: int = 1) -> Variable:
    """Logarithm of `softmax`: ``x - log(sum(exp(x)))`` along `axis`, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
    axis : int
    """
    return exponentials.log_softmax(x, axis=axis)
