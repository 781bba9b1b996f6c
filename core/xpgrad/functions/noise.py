"""Noise, which regularises training and is off outside of it."""

from typing import Any, Literal, overload

from xpgrad.backend import random
from xpgrad.config import config
from xpgrad.functions.checks import invalid, known_spec, real_floating
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array

__all__ = ["dropout"]


@overload
def dropout(
    x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: Literal[False] = False
) -> Variable: ...


@overload
def dropout(
    x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: Literal[True]
) -> tuple[Variable, Array]: ...


def dropout(x: AnyArray, ratio: float = 0.5, *, mask: AnyArray | None = None, return_mask: bool = False) -> Any:
    """Set random elements of `x` to 0 and scale up the others, while `config.train` is True.

    Parameters
    ----------
    x : Variable or array, real floating-point
    ratio : float
        Probability with which an element is dropped, from 0 to below 1. The others are multiplied by
        ``1 / (1 - ratio)``, which keeps the mean. Numbers come from `xpgrad.random` on the device of `x`.
    mask : array, shape of `x`, optional
        Factors to use instead of random ones.
    return_mask : bool
        Return the mask too, for use in another call.

    Returns
    -------
    Variable, or tuple of Variable and array
        Outside of training it is `x` itself, and the mask is the argument `mask`.

    Raises
    ------
    ValueError
        `ratio` is out of range.
    InvalidType
        `x` is not real floating-point, or `mask` has another shape or dtype.
    """
    if not 0.0 <= ratio < 1.0:
        raise ValueError(f"dropout: ratio must be from 0 to below 1, got {ratio}")
    spec = real_floating(x, "dropout")
    x = as_variable(x)
    if not config.train:
        return (x, mask) if return_mask else x
    if mask is None:
        backend = spec.backend
        kept = backend.xp.greater_equal(random.uniform_like(spec), ratio)
        mask = backend.xp.multiply(backend.follow(backend.xp.astype)(kept, spec.dtype), 1.0 / (1.0 - ratio))
    else:
        found = known_spec(mask, "dropout")
        if found.shape != spec.shape or found.dtype != spec.dtype:
            raise invalid("dropout", "mask of the shape and dtype of x", f"x is {spec!r}, mask is {found!r}")
    y = x * mask
    return (y, mask) if return_mask else y
