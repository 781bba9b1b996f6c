"""Maximum, minimum and clipping, elementwise."""

import math
from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.backend.checks import beside
from xpgrad.backend.plugins import plugins
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


def _taken(xp: Namespace, gy: Array, x1: Array, x2: Array, taken: Array) -> Array:
    """Return `gy` where `taken` is true, half of `gy` at a tie, and 0 otherwise."""
    return xp.where(x1 == x2, 0.5 * gy, xp.where(taken, gy, 0.0))


@elementwise(
    x1=lambda xp, gy, x1, x2: _taken(xp, gy, x1, x2, x1 > x2),
    x2=lambda xp, gy, x1, x2: _taken(xp, gy, x1, x2, x2 > x1),
)
def maximum(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Maximum of two arrays, elementwise. Both inputs get half of the gradient at a tie."""
    return xp.maximum(x1, x2)


@elementwise(
    x1=lambda xp, gy, x1, x2: _taken(xp, gy, x1, x2, x1 < x2),
    x2=lambda xp, gy, x1, x2: _taken(xp, gy, x1, x2, x2 < x1),
)
def minimum(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Minimum of two arrays, elementwise. Both inputs get half of the gradient at a tie."""
    return xp.minimum(x1, x2)


def clip(x: AnyArray, /, min: Operand | None = None, max: Operand | None = None) -> Variable:
    """Return `x` limited to the range from `min` to `max`.

    Parameters
    ----------
    x : Variable or array, real-valued
    min, max : Variable, array, scalar or None
        Bounds, which broadcast with `x`, or None. Variables get gradients where they are the result.

    Returns
    -------
    Variable
        ``minimum(maximum(x, min), max)``, with the dtype of `x`. At a bound, `x` and the bound share the gradient
        equally: the derivative is 1/2 even if the bound is a constant.
    """
    x = y = as_variable(x)
    dtype = x.dtype  # raises for an uninitialised Variable
    low, high = _limits(x)
    if min is not None and not (type(min) is int and min <= low):
        y = maximum(y, _bound(min, x))
    if max is not None and not (type(max) is int and max >= high):
        y = minimum(y, _bound(max, x))
    return astype(y, dtype, copy=y is x)


def _limits(x: Variable) -> tuple[float, float]:
    """Return the limits of an integer dtype; an int beyond them has no effect, and would not fit in the dtype."""
    backend = x.node.spec.backend
    if x.node.spec.differentiable or not backend.is_kind(x.dtype, "integral"):
        return -math.inf, math.inf
    info = backend.namespace.iinfo(x.dtype)
    return info.min, info.max


def _bound(bound: Any, x: Variable) -> Any:
    """Return an array of bounds cast to the dtype of `x`, and scalars unchanged, because scalars are weak."""
    if not isinstance(bound, Variable) and type(bound) not in plugins.by_type:
        return bound
    beside(x.node.spec, bound, "clip")
    return astype(bound, x.dtype, copy=False)
