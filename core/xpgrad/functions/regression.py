"""Losses of regression, negative logarithms of likelihoods, and a divergence."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.activation import softplus
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.special.entropy import huber
from xpgrad.types import AnyArray

__all__ = [
    "absolute_error", "bernoulli_nll", "gaussian_kl_divergence", "gaussian_nll", "huber_loss", "mean_absolute_error",
    "mean_squared_error", "squared_difference", "squared_error",
]  # fmt: skip


def _pair(x0: Any, x1: Any, function: str, names: tuple[str, str] = ("x0", "x1")) -> tuple[Any, Any]:
    spec0, spec1 = real_floating(x0, function, names[0]), real_floating(x1, function, names[1])
    if spec0.shape != spec1.shape or spec0.dtype != spec1.dtype:
        expect = f"{names[0]} and {names[1]} of one shape and dtype"
        raise invalid(function, expect, f"{names[0]} is {spec0!r}, {names[1]} is {spec1!r}")
    return x0, x1


@in_single_precision
def squared_error(x0: AnyArray, x1: AnyArray) -> Variable:
    """Return ``(x0 - x1) ** 2``, elementwise, for two arrays of one shape and dtype."""
    return array_api.square(array_api.subtract(*_pair(x0, x1, "squared_error")))


def squared_difference(x1: AnyArray, x2: AnyArray) -> Variable:
    """Return `squared_error` under another name."""
    return squared_error(x1, x2)


@in_single_precision
def mean_squared_error(x0: AnyArray, x1: AnyArray) -> Variable:
    """Return the mean of the squared differences of two arrays of one shape and dtype.

    Parameters
    ----------
    x0, x1 : Variable or array, real floating-point

    Returns
    -------
    Variable, shape ()
    """
    difference = array_api.subtract(*_pair(x0, x1, "mean_squared_error"))
    return array_api.mean(array_api.square(difference))


@in_single_precision
def absolute_error(x0: AnyArray, x1: AnyArray) -> Variable:
    """Return ``abs(x0 - x1)``, elementwise, for two arrays of one shape and dtype. The derivative at 0 is 0."""
    return array_api.abs(array_api.subtract(*_pair(x0, x1, "absolute_error")))


@in_single_precision
def mean_absolute_error(x0: AnyArray, x1: AnyArray) -> Variable:
    """Return the mean of ``|x0 - x1|``, a Variable of shape (); both arrays have one shape and dtype."""
    difference = array_api.subtract(*_pair(x0, x1, "mean_absolute_error"))
    return array_api.mean(array_api.abs(difference))


@in_single_precision
def huber_loss(x: AnyArray, t: AnyArray, delta: float, reduce: str = "sum_along_second_axis") -> Variable:
    """Return the Huber loss: half the squared difference up to `delta`, and linear beyond.

    Parameters
    ----------
    x, t : Variable or array, shape (N, *D), real floating-point, of one shape and dtype
    delta : float
        Positive.
    reduce : {"sum_along_second_axis", "no"}

    Returns
    -------
    Variable, shape of `x`, without axis 1 unless `reduce` is "no"

    References
    ----------
    Huber: Robust estimation of a location parameter, 1964.
    """
    require_option("huber_loss", "reduce", reduce, ("sum_along_second_axis", "no"))
    x, t = _pair(x, t, "huber_loss", ("x", "t"))
    if reduce != "no" and len(x.shape) < 2:
        raise invalid("huber_loss", "x of shape (N, D, ...)", f"x is of shape {tuple(x.shape)}")
    losses = huber(delta, array_api.subtract(x, t))
    return losses if reduce == "no" else array_api.sum(losses, axis=1)


@in_single_precision
def bernoulli_nll(x: AnyArray, y: AnyArray, reduce: str = "sum") -> Variable:
    """Return the negative logarithm of the likelihood of `x` under Bernoulli distributions, without overflow.

    Parameters
    ----------
    x : Variable or array, real floating-point
        Numbers from 0 to 1.
    y : Variable or array, of its dtype; the two broadcast
        Logits: the probability of 1 is ``sigmoid(y)``.
    reduce : {"sum", "mean", "no"}

    Returns
    -------
    Variable, shape (), or the shape of the inputs if `reduce` is "no"
    """
    x, y = _alike("bernoulli_nll", reduce, x=x, y=y)
    return _reduced(softplus(y) - x * y, reduce)


@in_single_precision
def gaussian_nll(x: AnyArray, mean: AnyArray, ln_var: AnyArray, reduce: str = "sum") -> Variable:
    """Return the negative logarithm of the likelihood of `x` under independent normal distributions.

    Parameters
    ----------
    x, mean, ln_var : Variable or array, of one real floating-point dtype; they broadcast
        Values, means, and logarithms of the variances.
    reduce : {"sum", "mean", "no"}

    Returns
    -------
    Variable, shape (), or the shape of the inputs if `reduce` is "no"
    """
    x, mean, ln_var = _alike("gaussian_nll", reduce, x=x, mean=mean, ln_var=ln_var)
    distance = array_api.square(x - mean) * array_api.exp(-ln_var)
    return _reduced(0.5 * (ln_var + distance + math.log(2 * math.pi)), reduce)


@in_single_precision
def gaussian_kl_divergence(mean: AnyArray, ln_var: AnyArray, reduce: str = "sum") -> Variable:
    """Return the Kullback-Leibler divergence of normal distributions from the standard normal distribution.

    Parameters
    ----------
    mean, ln_var : Variable or array, of one real floating-point dtype; they broadcast
        Means, and logarithms of the variances.
    reduce : {"sum", "mean", "no"}

    Returns
    -------
    Variable, shape (), or the shape of the inputs if `reduce` is "no"
    """
    mean, ln_var = _alike("gaussian_kl_divergence", reduce, mean=mean, ln_var=ln_var)
    return _reduced(0.5 * (array_api.square(mean) + array_api.expm1(ln_var) - ln_var), reduce)


def _alike(function: str, reduce: str, **inputs: Any) -> list[Variable]:
    """Return the inputs as Variables if they are of one dtype and `reduce` is an option."""
    require_option(function, "reduce", reduce, ("sum", "mean", "no"))
    specs = [real_floating(x, function, name) for name, x in inputs.items()]
    if any(spec.dtype != specs[0].dtype for spec in specs):
        *first, last = inputs
        actual = ", ".join(f"{name} is {spec!r}" for name, spec in zip(inputs, specs, strict=True))
        raise invalid(function, f"{', '.join(first)} and {last} of one dtype", actual)
    return [as_variable(x) for x in inputs.values()]


def _reduced(losses: Variable, reduce: str) -> Variable:
    if reduce == "no":
        return losses
    return array_api.sum(losses) if reduce == "sum" else array_api.mean(losses)
