"""Statistics of the regions of an image, which labels mark."""

from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.backend.plugins import plugins
from xpgrad.graph.operands import is_operand
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.scipy.operands import inexact, integers_beside, root
from xpgrad.transforms.vectors import host_array, placed
from xpgrad.types import AnyArray

Statistic = Callable[[Variable], Variable]
EXTREMES = ("maximum", "minimum")
"""Statistics that are 0 for labels that no element has, as in SciPy."""


def _of_regions(
    statistic: Statistic, input: Any, labels: Any, index: Any, name: str, positions: bool = False
) -> Variable:
    """Return a statistic of the elements of each region, or of their positions and of them."""
    x = inexact(input, name)
    flat, host = xpa.reshape(x, (-1,)), plugins.host
    xp: Any = host.namespace
    marks = None
    if labels is not None:
        marks = host_array(as_array(labels)) if is_operand(labels) else host.asarray(labels)
        marks = xp.reshape(xp.broadcast_to(marks, x.shape), (-1,))

    def of(chosen: Any) -> Variable:
        numbers = integers_beside(flat, 0, flat.shape[0])
        if chosen is not None:
            (where,) = xp.nonzero(chosen)
            numbers = as_variable(placed(where, numbers.node.spec, flat.device, shape=tuple(where.shape)))
        elements = flat if chosen is None else xpa.take(flat, numbers)
        if flat.size and not elements.size and name in EXTREMES:
            return xpa.zeros_like(xpa.sum(elements))
        return statistic(xpa.stack([xpa.astype(numbers, x.dtype), elements]) if positions else elements)

    if marks is None:
        return of(None)
    if index is None:
        return of(marks > 0)
    wanted = host_array(as_array(index)) if hasattr(index, "dtype") else host.asarray(index)
    found = [of(marks == i) for i in xp.reshape(wanted, (-1,))]
    return xpa.reshape(xpa.stack(found), tuple(wanted.shape) + found[0].shape)


def sum_labels(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the sum of the elements of each region.

    Parameters
    ----------
    input : Variable or array, floating-point
    labels : array of int, broadcastable to the image, optional
        The region of each element. By default the image is one region.
    index : int, sequence or array of int, optional
        The labels of the regions. By default all elements with positive labels are one region.

    Returns
    -------
    Variable, with the shape of `index`
    """
    return _of_regions(xpa.sum, input, labels, index, "sum_labels")


def mean(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the mean of the elements of each region; arguments as for `sum_labels`."""
    return _of_regions(xpa.mean, input, labels, index, "mean")


def variance(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the variance of the elements of each region; arguments as for `sum_labels`."""
    return _of_regions(xpa.var, input, labels, index, "variance")


def standard_deviation(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the standard deviation of the elements of each region; arguments as for `sum_labels`."""
    return root(variance(input, labels, index))


def maximum(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the largest element of each region; arguments as for `sum_labels`."""
    return _of_regions(xpa.max, input, labels, index, "maximum")


def minimum(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the smallest element of each region; arguments as for `sum_labels`."""
    return _of_regions(xpa.min, input, labels, index, "minimum")


def median(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the median of the elements of each region; arguments as for `sum_labels`."""

    def middle(x: Variable) -> Variable:
        n, ordered = x.shape[0], xpa.sort(x)
        return 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]) if n else xpa.mean(x)

    return _of_regions(middle, input, labels, index, "median")


def center_of_mass(input: AnyArray, labels: Any = None, index: Any = None) -> Variable:
    """Return the mean position of the elements of each region, weighted by them; arguments as for `sum_labels`.

    Returns
    -------
    Variable, shape (K,) for an image of K axes, or (N, K)
    """
    x = inexact(input, "center_of_mass")

    def centre(x_and_places: Variable) -> Variable:
        places, elements = x_and_places[0, :], x_and_places[1, :]
        parts, rest = [], places
        for n in x.shape[::-1]:
            parts.append(xpa.remainder(rest, n))
            rest = xpa.floor(rest / n)
        return xpa.matmul(xpa.stack(parts[::-1]), elements) / xpa.sum(elements)

    return _of_regions(centre, x, labels, index, "center_of_mass", True)
