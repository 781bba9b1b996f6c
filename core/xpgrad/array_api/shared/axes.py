"""Axes of arrays: validation, and the shapes of reductions."""

import math
from collections.abc import Sequence

from xpgrad.backend.spec import Spec
from xpgrad.errors import AxisError, ShapeError
from xpgrad.types import Array, Namespace, Shape, integers

Axis = int | Sequence[int] | None
Axes = int | Sequence[int]


def checked_axes(axis: Axes, ndim: int, operation: str) -> tuple[int, ...]:
    """Return `axis` as a tuple of distinct axes, none negative."""
    given = integers(axis, operation)
    if any(not -ndim <= a < ndim for a in given) or len({a % ndim for a in given}) < len(given):
        raise AxisError(f"{operation}: expected distinct axes of an array with {ndim} axes, got {axis}")
    return tuple(a % ndim for a in given)


def reusable(axis: Axes | None) -> Axes | None:
    """Return `axis` for a rule that uses it again: an iterator, which the function would exhaust, raises."""
    return axis if axis is None or isinstance(axis, (int, tuple)) else integers(axis)


def axis_of_vectors(axis: int, ndim1: int, ndim2: int, operation: str) -> int:
    """Return the `axis` of the vectors in two arrays that broadcast, counted from the last axis."""
    least = min(ndim1, ndim2)
    if ndim1 == ndim2 and axis >= 0:
        axis -= ndim1
    if not -least <= axis < 0:
        raise AxisError(
            f"{operation}: expected an axis from {-least} to -1 for arrays with {ndim1} and {ndim2} axes, got {axis}"
        )
    return axis


def matrices(x: Array, function: str) -> None:
    """Raise `ShapeError` unless `x` is a matrix or a stack of matrices."""
    if x.ndim < 2:
        raise ShapeError(f"{function}: expected a matrix or a stack of matrices, (..., M, N), got shape {x.shape}")


def reduced_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the axes that a reduction over `axis` removes, sorted and none negative."""
    if axis is None:
        return tuple(range(ndim))
    given = (axis,) if not isinstance(axis, Sequence) else axis
    return tuple(sorted(int(a) % ndim for a in given)) if ndim else ()


def kept_shape(spec: Spec, axis: Axis) -> Shape:
    """Return the shape that a reduction of `spec` over `axis` has with ``keepdims=True``."""
    axes = reduced_axes(axis, spec.ndim)
    return tuple(1 if i in axes else n for i, n in enumerate(spec.shape))


def reduced_count(spec: Spec, axis: Axis) -> int:
    """Return the number of elements of `spec` that a reduction over `axis` combines into one element."""
    return math.prod(spec.shape[a] for a in reduced_axes(axis, spec.ndim))


def defined(y: Array, shape: Shape, axis: Axis, correction: float) -> Array:
    """Return `y`, or NaN if a variance over `axis` of an array of `shape` has no degrees of freedom."""
    return y * math.nan if math.prod(shape[a] for a in reduced_axes(axis, len(shape))) <= float(correction) else y


def with_kept_axes(xp: Namespace, gy: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    """Return the cotangent of a reduction in a shape that broadcasts against the input."""
    if keepdims or axis is None:
        return gy
    return xp.reshape(gy, shape=kept_shape(x_spec, axis))
