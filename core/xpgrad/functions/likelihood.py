"""Losses of distributions: negative logarithms of likelihoods, and a divergence."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.activation import softplus
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["bernoulli_nll", "gaussian_kl_divergence", "gaussian_nll"]


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
