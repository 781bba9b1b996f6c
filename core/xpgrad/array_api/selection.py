"""Choices between numbers, elementwise: the larger, the smaller, the one that a condition names."""

import math
from typing import Any

from xpgrad.array_api.copying import astype
from xpgrad.backend.checks import beside
from xpgrad.backend.plugins import plugins
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


def _won(xp: Namespace, gy: Array, x1: Array, x2: Array, won: Array) -> Array:
    """Return `gy` where `won`, half of it at a tie, 0 elsewhere."""
    return xp.where(x1 == x2, 0.5 * gy, xp.where(won, gy, 0.0))


@elementwise(
    x1=lambda xp, gy, x1, x2: _won(xp, gy, x1, x2, x1 > x2),
    x2=lambda xp, gy, x1, x2: _won(xp, gy, x1, x2, x2 > x1),
)
def maximum(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Larger one of two numbers, elementwise. A tie shares the gradient equally."""
    return xp.maximum(x1, x2)


@elementwise(
    x1=lambda xp, gy, x1, x2: _won(xp, gy, x1, x2, x1 < x2),
    x2=lambda xp, gy, x1, x2: _won(xp, gy, x1, x2, x2 < x1),
)
def minimum(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Smaller one of two numbers, elementwise. A tie shares the gradient equally."""
    return xp.minimum(x1, x2)


def clip(x: AnyArray, /, min: Operand | None = None, max: Operand | None = None) -> Variable:
    """Return `x` limited to the range from `min` to `max`.

    Parameters
    ----------
    x : Variable or array, real-valued
    min, max : Variable, array, scalar or None
        Bounds, which broadcast with `x`; None leaves a side open. Variables get gradients where they are the result.

    Returns
    -------
    Variable
        ``minimum(maximum(x, min), max)``, of the dtype of `x`. So exactly at a bound `x` and the bound share the
        gradient equally, and the derivative there is 1/2 even if the bound is a constant.
    """
    x = y = as_variable(x)
    dtype = x.dtype  # an uninitialised Variable says so here
    low, high = _limits(x)
    if min is not None and not (type(min) is int and min <= low):
        y = maximum(y, _bound(min, x))
    if max is not None and not (type(max) is int and max >= high):
        y = minimum(y, _bound(max, x))
    return astype(y, dtype, copy=y is x)


def _limits(x: Variable) -> tuple[float, float]:
    """Return the least and the greatest number of the dtype; an int beyond them is no bound, and would not fit it."""
    backend = x.node.spec.backend
    if x.node.spec.differentiable or not backend.is_kind(x.dtype, "integral"):
        return -math.inf, math.inf
    info = backend.namespace.iinfo(x.dtype)
    return info.min, info.max


def _bound(bound: Any, x: Variable) -> Any:
    """Return a bound that is an array in the dtype of `x`; scalars are weak as they are."""
    if not isinstance(bound, Variable) and type(bound) not in plugins.by_type:
        return bound
    beside(x.node.spec, bound, "clip")
    return astype(bound, x.dtype, copy=False)


@elementwise(
    x1=lambda xp, gy, condition: xp.where(condition, gy, 0.0),
    x2=lambda xp, gy, condition: xp.where(condition, 0.0, gy),
)
def where(xp: Namespace, condition: AnyArray, x1: Operand, x2: Operand, /) -> Array:
    """Elements of `x1` where `condition` is true, of `x2` elsewhere; the three broadcast.

    Each input gets the gradient of the elements that were taken from it. One of `x1` and `x2` may be a scalar.
    """
    return xp.where(condition, x1, x2)


@elementwise(x1=lambda xp, gy, x2: xp.gate(gy, x2))
def gate(xp: Namespace, x1: AnyArray, x2: AnyArray, /) -> Array:
    """Elements of `x1` where `x2` is positive, 0 times `x1` elsewhere; what the gradient of a rectifier passes.

    One function instead of three, so that gradients of gradients of networks cost less. `x2` gets no gradient.

    Parameters
    ----------
    x1 : Variable or array, floating-point
    x2 : Variable or array, real-valued
    """
    return x1 * xp.astype(x2 > 0, x1.dtype)
