"""Searching functions: positions and counts, which have no gradients, and a choice by a condition."""

from xpgrad.array_api.shared.axes import Axis
from xpgrad.backend.checks import beside
from xpgrad.errors import ShapeError
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray, Array, Namespace, Operand


@primitive()
def argmax(xp: Namespace, x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Position of the first maximum along `axis`, which stays with `keepdims`; by default in the flattened array."""
    return xp.argmax(x, axis=axis, keepdims=keepdims)


@primitive()
def argmin(xp: Namespace, x: AnyArray, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Position of the first minimum along `axis`, which stays with `keepdims`; by default in the flattened array."""
    return xp.argmin(x, axis=axis, keepdims=keepdims)


@primitive()
def count_nonzero(xp: Namespace, x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Number of elements along `axis` that are not zero. With `keepdims`, `axis` stays with length 1."""
    return xp.count_nonzero(x, axis=axis, keepdims=keepdims)


@primitive()
def searchsorted(
    xp: Namespace, x1: AnyArray, x2: AnyArray, /, *, side: str = "left", sorter: AnyArray | None = None
) -> Array:
    """Positions at which to insert the elements of `x2` into the sorted one-dimensional `x1`."""
    order = None if sorter is None else beside(xp.spec_of(x1), sorter, "searchsorted")
    return xp.searchsorted(x1, x2, side=side, sorter=order)


def nonzero(x: AnyArray, /) -> tuple[Variable, ...]:
    """Return the positions of the elements that are not zero: one array of indices for each axis."""
    x = as_variable(x)
    if not x.ndim:
        raise ShapeError("nonzero: expected an array with axes, got shape ()")
    backend = x.node.spec.backend
    return tuple(constant_variable(backend.restore(i)) for i in backend.xp.nonzero(x.array))


@elementwise(
    x1=lambda xp, gy, condition: xp.where(condition, gy, 0.0),
    x2=lambda xp, gy, condition: xp.where(condition, 0.0, gy),
)
def where(xp: Namespace, condition: AnyArray, x1: Operand, x2: Operand, /) -> Array:
    """Elements of `x1` where `condition` is true, otherwise elements of `x2`; the three inputs broadcast.

    Each input gets the gradient of the elements selected from it. One of `x1` and `x2` may be a scalar.
    """
    return xp.where(condition, x1, x2)
