"""Sorting: the results of a stable sort by NumPy's fastest algorithm, and by several threads for large arrays."""

import math
import operator
from collections.abc import Callable

import numpy as np

from xpgrad.plugin import run_all
from xpgrad.types import Array, Kernel, Shape
from xpgrad_numpy.kernels.rows import SHARED
from xpgrad_numpy.namespace import NAMESPACE

Index = tuple[slice, ...]


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the elements in order along an axis."""
    axis = operator.index(axis)  # NumPy would sort all elements for None
    kind = "stable" if stable and _has_distinct_equals(x) else None
    y = np.flip(x, axis).copy() if descending else x.copy(order="K")
    _by_parts(lambda part: y[part].sort(axis, kind), x.shape, axis)
    return np.flip(y, axis) if descending else y


def argsort(x: Array, /, *, axis: int | None = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices of the elements in order along an axis, or of all."""
    x, axis = (x.reshape(-1), -1) if axis is None else (x, axis)
    order = np.empty(x.shape, np.intp)
    if not x.ndim:  # NumPy's function sorts it as a vector
        raise np.exceptions.AxisError(axis, 0)

    def task(part: Index) -> None:
        order[part] = NAMESPACE.argsort(x[part], axis=axis, descending=descending, stable=stable)

    _by_parts(task, x.shape, axis)
    return order


def _has_distinct_equals(x: Array) -> bool:
    """Return whether elements that are equal can be told from one another: complex numbers, and zeros of both signs."""
    if x.dtype.kind == "f":
        signs = np.signbit(x[x == 0])
        return bool(signs.any() and not signs.all())
    return x.dtype.kind not in "biu"


def _by_parts(task: Callable[[Index], None], shape: Shape, axis: int) -> None:
    """Call a function with the indices of parts that are divided along another axis and together are all elements."""
    if len(shape) < 2 or math.prod(shape) < SHARED:
        task(())
        return
    other = 0 if axis % len(shape) else 1
    run_all(lambda first, last: task((slice(None),) * other + (slice(first, last),)), shape[other])


SORTING: dict[str, Kernel] = {"argsort": argsort, "sort": sort}
