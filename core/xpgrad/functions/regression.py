"""Losses of regression."""

from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.graph.variable import Variable
from xpgrad.special.entropy import huber
from xpgrad.types import AnyArray

__all__ = [
    "absolute_error", "huber_loss", "mean_absolute_error", "mean_squared_error", "squared_difference", "squared_error",
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

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    ValueError
        `reduce` has another value.

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
