"""Sorting functions."""

import operator
from typing import Any

from xpgrad.array_api.indexing import grid
from xpgrad.array_api.shared.scattering import Scatter
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.types import AnyArray, Array, Namespace


@primitive()
def argsort(xp: Namespace, x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort `x` along `axis`, as in `sort`; they have no gradient."""
    return xp.argsort(x, axis=axis, descending=descending, stable=stable)


def _sort_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec, axis: int, descending: bool) -> Any:
    axis = int(axis)  # which may be True
    order = xp.argsort(x, axis=axis, descending=descending, stable=True)
    return Scatter(grid(order, axis, x_spec), gy, x_spec)


@primitive(x=_sort_rule)
def sort(xp: Namespace, x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along `axis`.

    Parameters
    ----------
    x : Variable or array, real
        The gradients of equal elements are assigned in the order of a stable sort.
    axis : int
    descending : bool
    stable : bool
        Keep the order of equal elements.
    """
    return xp.sort(x, axis=operator.index(axis), descending=descending, stable=stable)
