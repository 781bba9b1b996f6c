"""The methods and attributes of `Variable` that are functions of this package."""

from typing import Any

from xpgrad.array_api import copying, indexing, linear, manipulation, products, searching, statistical, utility
from xpgrad.array_api.statistical import Axis
from xpgrad.graph.variable import Variable


def transpose(x: Variable, /, *axes: Any) -> Variable:
    """Return the array with its axes in the order `axes`, given one by one or as one sequence; reversed by default."""
    if not axes and x.ndim == 2:
        return linear.matrix_transpose(x)  # type: ignore[no-any-return]  # a primitive; it needs no axes
    order = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes or None
    order = tuple(range(x.ndim))[::-1] if order is None else tuple(order)
    return manipulation.permute_dims(x, axes=order)  # type: ignore[no-any-return]  # a primitive


def reshape(x: Variable, /, *shape: Any, copy: bool | None = None) -> Variable:
    """Return the same elements in another shape, given length by length or as one sequence."""
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return manipulation.reshape(x, shape=tuple(lengths), copy=copy)  # type: ignore[no-any-return]  # a primitive


def flatten(x: Variable, /) -> Variable:
    """Return the elements in one axis."""
    return manipulation.reshape(x, shape=(-1,))  # type: ignore[no-any-return]  # a primitive


def squeeze(x: Variable, /, axis: Any = None) -> Variable:
    """Return the array without the axes `axis`, by default without all those of length 1."""
    if axis is None:
        axis = tuple(i for i, length in enumerate(x.shape) if length == 1)
    return manipulation.squeeze(x, axis=axis)  # type: ignore[no-any-return]  # a primitive


def mean(x: Variable, /, axis: Axis = None, *, weights: Any = None, keepdims: bool = False) -> Variable:
    """Return the mean over `axis`, weighted if there are `weights`."""
    if weights is None:
        return statistical.mean(x, axis=axis, keepdims=keepdims)  # type: ignore[no-any-return]  # a primitive
    return statistical.average(x, axis, weights, keepdims)


METHODS: dict[str, Any] = {
    "__getitem__": indexing.index_operator,
    "__setitem__": indexing.assign,
    "T": property(transpose, doc="The array with its axes reversed."),
    "mT": property(linear.matrix_transpose, doc="The array with its last two axes swapped."),
    "all": utility.all,
    "any": utility.any,
    "argmax": searching.argmax,
    "argmin": searching.argmin,
    "astype": copying.astype,
    "conj": copying.conj,
    "flatten": flatten,
    "imag": property(copying.imag, doc="Imaginary part, elementwise."),
    "max": statistical.max,
    "mean": mean,
    "min": statistical.min,
    "prod": products.prod,
    "real": property(copying.real, doc="Real part, elementwise."),
    "reshape": reshape,
    "squeeze": squeeze,
    "std": statistical.std,
    "sum": statistical.sum,
    "transpose": transpose,
    "var": statistical.var,
}
