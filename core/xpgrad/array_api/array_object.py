"""The array object: the operators, methods and attributes of `Variable` that are functions of this package."""

import operator
from collections.abc import Callable
from typing import Any

from xpgrad.array_api import (
    creation,
    data_types,
    indexing,
    linear_algebra,
    manipulation,
    searching,
    sorting,
    statistical,
    utility,
)
from xpgrad.array_api.elementwise import arithmetic, extrema, logical, magnitude, rounding
from xpgrad.array_api.linalg import diagonals
from xpgrad.array_api.shared import copying
from xpgrad.array_api.shared.axes import Axis, checked_axes
from xpgrad.backend.plugins import plugins
from xpgrad.backend.standard import BINARY_OPERATORS, COMPARISONS, OPERATORS, UNARY_OPERATORS
from xpgrad.boundary import as_bounded
from xpgrad.errors import AbsentAttribute, DtypeError, ShapeError
from xpgrad.graph.primitive import operators
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import Dtype


def transpose(x: Variable, /, *axes: Any) -> Variable:
    """Return the array with its axes in the order `axes`, single arguments or one sequence; reversed by default."""
    if not axes and x.ndim == 2:
        return linear_algebra.matrix_transpose(x)
    order = axes[0] if len(axes) == 1 and (axes[0] is None or _listed(axes[0])) else axes or None
    return manipulation.permute_dims(x, axes=tuple(range(x.ndim))[::-1] if order is None else tuple(order))


def reshape(x: Variable, /, *shape: Any, copy: bool | None = None) -> Variable:
    """Return the same elements in another shape: single lengths or one sequence."""
    return manipulation.reshape(x, shape=tuple(shape[0] if len(shape) == 1 and _listed(shape[0]) else shape), copy=copy)


def _listed(x: Any) -> bool:
    return isinstance(x, (tuple, list)) or getattr(x, "ndim", 0) > 0  # as an array of axes or lengths


def flatten(x: Variable, /) -> Variable:
    """Return the array flattened to one axis."""
    return manipulation.reshape(x, shape=(-1,))


def swapaxes(x: Variable, axis1: int, axis2: int, /) -> Variable:
    """Return the array with two axes swapped."""
    order = list(range(x.ndim))
    (first,), (second,) = (checked_axes((axis,), x.ndim, "swapaxes") for axis in (axis1, axis2))
    order[first], order[second] = second, first
    return manipulation.permute_dims(x, axes=tuple(order))


def squeeze(x: Variable, /, axis: Any = None) -> Variable:
    """Return the array without the axes `axis`, by default without all axes of length 1."""
    if axis is None:
        axis = tuple(i for i, length in enumerate(x.shape) if length == 1)
    return manipulation.squeeze(x, axis=axis)


def mean(x: Variable, /, axis: Axis = None, *, weights: Any = None, keepdims: bool = False) -> Variable:
    """Return the mean over `axis`, weighted if there are `weights`."""
    if weights is None:
        return statistical.mean(x, axis=axis, keepdims=keepdims)
    return statistical.average(x, axis, weights, keepdims)


def std(
    x: Variable, /, axis: Axis = None, *, correction: float = 0.0, ddof: float | None = None, keepdims: bool = False
) -> Variable:
    """Return the standard deviation over `axis`; `ddof` is NumPy's name of `correction`."""
    free = correction if ddof is None else ddof
    return statistical.std(x, axis=axis, correction=free, keepdims=keepdims)


def var(
    x: Variable, /, axis: Axis = None, *, correction: float = 0.0, ddof: float | None = None, keepdims: bool = False
) -> Variable:
    """Return the variance over `axis`; `ddof` is NumPy's name of `correction`."""
    free = correction if ddof is None else ddof
    return statistical.var(x, axis=axis, correction=free, keepdims=keepdims)


def all(x: Variable, /, axis: Axis = None, *, keepdims: bool = False) -> Variable:
    """Return whether all elements over `axis` are true."""
    return utility.all(x, axis=axis, keepdims=keepdims)


def any(x: Variable, /, axis: Axis = None, *, keepdims: bool = False) -> Variable:
    """Return whether any element over `axis` is true."""
    return utility.any(x, axis=axis, keepdims=keepdims)


def argmax(x: Variable, /, axis: int | None = None, *, keepdims: bool = False) -> Variable:
    """Return the position of the first maximum along `axis`, by default in the flattened array."""
    return searching.argmax(x, axis=axis, keepdims=keepdims)


def argmin(x: Variable, /, axis: int | None = None, *, keepdims: bool = False) -> Variable:
    """Return the position of the first minimum along `axis`, by default in the flattened array."""
    return searching.argmin(x, axis=axis, keepdims=keepdims)


def argsort(x: Variable, /, axis: int | None = -1, *, descending: bool = False, stable: bool = True) -> Variable:
    """Return the indices that sort the array along `axis`, or the flattened array if that is None."""
    x, axis = _along(x, axis)
    return sorting.argsort(x, axis=axis, descending=descending, stable=stable)


def cumsum(x: Variable, /, axis: int | None = None, *, dtype: Dtype | None = None) -> Variable:
    """Return the cumulative sum along `axis`, by default in the flattened array."""
    x, axis = _along(x, axis)
    return statistical.cumulative_sum(x, axis=axis, dtype=dtype)


def cumprod(x: Variable, /, axis: int | None = None, *, dtype: Dtype | None = None) -> Variable:
    """Return the cumulative product along `axis`, by default in the flattened array."""
    x, axis = _along(x, axis)
    return statistical.cumulative_prod(x, axis=axis, dtype=dtype)


def _along(x: Variable, axis: int | None) -> tuple[Variable, int]:
    """Return the array and its axis, or the flattened array and 0 if `axis` is None or the array 0-d."""
    return (flatten(x), 0) if axis is None or not x.ndim else (x, axis)


def round(x: Variable, /, decimals: int = 0) -> Variable:
    """Return the array rounded to `decimals` places, negative for tens and hundreds; without a gradient."""
    spec = x.node.spec
    if not decimals or (decimals > 0 and not spec.differentiable):
        return rounding.round(x)
    scale = 10.0 ** abs(decimals)
    y = rounding.round(x * scale) / scale if decimals > 0 else rounding.round(x / scale) * scale
    return y if spec.differentiable else data_types.astype(y, spec.dtype)


def dot(x: Variable, other: Any, /) -> Variable:
    """Return the product with a scalar, a vector or matrices: the sum over the last and the second to last axis."""
    axes = len(getattr(other, "shape", ()))
    if not x.ndim or not axes:
        y: Variable = x * other
        return y
    return linear_algebra.tensordot(x, other, axes=((x.ndim - 1,), (axes - 2 if axes > 1 else 0,)))


def diagonal(x: Variable, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Return the diagonals of the matrices in two axes, as the last axis."""
    return diagonals.diagonal(_matrices(x, axis1, axis2, "diagonal"), offset=offset)


def _matrices(x: Variable, axis1: int, axis2: int, name: str) -> Variable:
    """Return the array with these two axes last."""
    if x.ndim < 2:
        raise ShapeError(f"{name}: expected an array with at least two axes, got shape {x.shape}")
    return manipulation.moveaxis(x, (axis1, axis2), (-2, -1))


def trace(x: Variable, /, offset: int = 0, axis1: int = 0, axis2: int = 1, *, dtype: Dtype | None = None) -> Variable:
    """Return the sums of the diagonals of the matrices in two axes."""
    return diagonals.trace(_matrices(x, axis1, axis2, "trace"), offset=offset, dtype=dtype)


def take(x: Variable, indices: Any, /, axis: int | None = None) -> Variable:
    """Return the elements at `indices`, of any shape, along `axis`, by default of the flattened array."""
    x, axis = _along(x, axis)
    (axis,) = checked_axes((axis,), x.ndim, "take")
    at = _integers(x, indices)
    taken = indexing.take(x, flatten(at), axis=axis)
    return manipulation.reshape(taken, shape=x.shape[:axis] + at.shape + x.shape[axis + 1 :])


def repeat(x: Variable, repeats: Any, /, axis: int | None = None) -> Variable:
    """Return each element `repeats` times along `axis`, by default of the flattened array."""
    counts = operator.index(repeats) if plugins.is_scalar(repeats) else _integers(x, repeats)
    return manipulation.repeat(x, counts, axis=axis)


def _integers(x: Variable, numbers: Any) -> Variable:
    """Return an array of integers, or a list or an integer, as a Variable of the library of `x`."""
    if not isinstance(numbers, (list, tuple)) and not plugins.is_scalar(numbers):
        return as_variable(numbers)
    backend, device = x.node.spec.backend, x.node.spec.device
    made = constant_variable(backend.asarray(int(numbers) if isinstance(numbers, bool) else numbers, device=device))
    return made if made.size else data_types.astype(made, backend.default_dtype("int"))


def copy(x: Variable, /) -> Variable:
    """Return a copy in new memory; the gradient passes through it."""
    return copying.copy(x)


def detach(x: Variable, /) -> Variable:
    """Return a Variable of the same array that requires no gradient and is in no graph."""
    return constant_variable(x.array)


def imaginary(x: Variable, /) -> Variable:
    """Return the imaginary parts; zeros also where the library refuses real numbers."""
    try:
        return magnitude.imag(x)
    except DtypeError:
        return creation.zeros_like(x)


def transposed(x: Variable, /) -> Variable:
    """Return the array with its last two axes swapped."""
    if x.ndim < 2:
        raise AbsentAttribute(f"mT: expected at least two axes, got shape {x.shape}; use T, or reshape first")
    return linear_algebra.matrix_transpose(x)


_NAMED = (
    all, any, argmax, argmin, argsort, copy, cumprod, cumsum, detach, diagonal, dot, flatten, mean, repeat, reshape,
    round, squeeze, std, swapaxes, take, trace, transpose, var, data_types.astype, extrema.clip, magnitude.conj,
    searching.nonzero, statistical.max, statistical.min, statistical.prod, statistical.sum,
)  # fmt: skip
METHODS: dict[str, Any] = {method.__name__: method for method in _NAMED} | {
    "__getitem__": indexing.index_operator,
    "__setitem__": indexing.assign,
    "T": property(transpose, doc="The array with its axes reversed."),
    "mT": property(transposed, doc="The array with its last two axes swapped."),
    "conjugate": magnitude.conj,
    "imag": property(imaginary, doc="Imaginary part, elementwise."),
    "ravel": flatten,
    "real": property(magnitude.real, doc="Real part, elementwise."),
}
_MODULES = arithmetic, logical, magnitude, linear_algebra
_FUNCTIONS = {name: getattr(m, name) for m in _MODULES for name in OPERATORS.values() if hasattr(m, name)}
_COMPOSED = frozenset(("astype", "copy", "diagonal", "dot", "repeat", "round", "swapaxes", "take", "trace"))
"""Methods that fail outside of a primitive, which would name them."""


def bind() -> None:
    """Give Variable its operators and methods."""
    for name, function in (BINARY_OPERATORS | COMPARISONS).items():
        forward, reflected = arithmetic.power_operators if name == "pow" else operators(_FUNCTIONS[function])
        _set(f"__{name}__", forward)
        if name in BINARY_OPERATORS:
            _set(f"__r{name}__", reflected)
    for name, function in UNARY_OPERATORS.items():
        _set(f"__{name}__", _FUNCTIONS[function])
    for name, method in METHODS.items():
        _set(name, as_bounded(__name__, name, method) if name in _COMPOSED else method)


def _set(name: str, function: Callable[..., Any]) -> None:
    setattr(Variable, name, function)
