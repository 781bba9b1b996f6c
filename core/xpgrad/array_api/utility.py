"""Utility functions: tests over axes, and differences of adjacent elements."""

from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.manipulation import concat
from xpgrad.array_api.shared.axes import Axis, checked_axes
from xpgrad.backend.indexing import at_axis
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace


@primitive()
def all(xp: Namespace, x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements along `axis`, which stays with `keepdims`, are true, or not zero."""
    return xp.all(x, axis=axis, keepdims=keepdims)


@primitive()
def any(xp: Namespace, x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element along `axis`, which stays with `keepdims`, is true, or not zero."""
    return xp.any(x, axis=axis, keepdims=keepdims)


@in_single_precision
def diff(
    x: AnyArray, /, *, axis: int = -1, n: int = 1, prepend: AnyArray | None = None, append: AnyArray | None = None
) -> Variable:
    """Return the `n`-th differences of adjacent elements along `axis`; for booleans, whether they differ.

    Parameters
    ----------
    x : Variable or array, numeric
    axis : int
    n : int
        0 or more.
    prepend, append : Variable or array, optional
        Values to put before and after `x` first, unless `n` is 0.
    """
    if n < 0:
        raise ValueError(f"diff: expected n to be 0 or more, got {n}")
    parts = [as_variable(part) for part in ((prepend, x, append) if n else (x,)) if part is not None]
    y: Variable = parts[0] if len(parts) == 1 else concat(parts, axis=axis)
    (along,) = checked_axes(axis, y.ndim, "diff")
    later, earlier = (at_axis(along, part) for part in (slice(1, None), slice(0, -1)))
    truth = y.node.spec.backend.is_kind(y.dtype, "bool")
    for _ in range(min(n, y.shape[along])):  # then no differences remain
        y = y[later] != y[earlier] if truth else y[later] - y[earlier]
    return y
