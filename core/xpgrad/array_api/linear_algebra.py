"""Linear algebra functions of the main namespace: products of matrices and vectors."""

import math
from typing import Any

from xpgrad.array_api.shared.axes import axis_of_vectors
from xpgrad.array_api.shared.lazy_product import product
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.types import WHOLE, AnyArray, Array, Namespace


@primitive(linear=("x",), x=lambda xp, gy: xp.matrix_transpose(gy))
def matrix_transpose(xp: Namespace, x: AnyArray, /) -> Array:
    """The array with its last two axes swapped."""
    return xp.matrix_transpose(x)


def _matmul_first(xp: Namespace, gy: Array, x2: Array, x1_spec: Spec) -> Array:
    shape, columns = x1_spec.shape, x2.ndim
    if columns == 1:  # a matrix, or a vector, times a vector
        return gy * x2 if len(shape) == 1 else gy[..., None] * x2
    if len(shape) == 1:  # a vector times matrices
        if columns == 2:
            return xp.matmul(gy, xp.matrix_transpose(x2))
        gx = xp.matmul(widened(xp, x2, x1_spec), widened(xp, gy, x1_spec)[..., None])
        return narrowed(xp, xp.sum_to(xp.reshape(gx, shape=gx.shape[:-1]), shape=shape), x1_spec)
    return _summed_product(xp, gy, xp.matrix_transpose(x2), gy, x1_spec)


def _matmul_second(xp: Namespace, gy: Array, x1: Array, x2_spec: Spec) -> Array:
    shape, ndim = x2_spec.shape, x1.ndim
    if ndim == 2 and len(shape) == 2:
        return product(xp, x1, gy, x2_spec)
    if len(shape) == 1:
        if ndim == 1:
            return gy * x1
        rows = math.prod(gy.shape)
        return xp.matmul(xp.reshape(gy, shape=(rows,)), xp.reshape(x1, shape=(rows, *shape)))
    if ndim == 1:  # a vector times matrices
        return x1[:, None] * gy[..., None, :]
    if len(shape) == 2:  # one matrix for a batch: one product instead of many and their sum
        rows = math.prod(x1.shape[:-1])
        x1, gy = xp.reshape(x1, shape=(rows, shape[0])), xp.reshape(gy, shape=(rows, shape[1]))
        return xp.matmul(xp.matrix_transpose(x1), gy)
    return _summed_product(xp, xp.matrix_transpose(x1), gy, gy, x2_spec)


def _summed_product(xp: Namespace, a: Array, b: Array, gy: Array, spec: Spec) -> Array:
    """Return the product of stacks of matrices, summed over the axes that broadcasting to the axes of `gy` added."""
    if gy.shape[:-2] == spec.shape[:-2]:
        return xp.matmul(a, b)
    gx = xp.matmul(widened(xp, a, spec), widened(xp, b, spec))
    return narrowed(xp, xp.sum_to(gx, shape=spec.shape), spec)


@primitive(linear=("x1", "x2"), label="_ @ _", x1=_matmul_first, x2=_matmul_second)
def matmul(xp: Namespace, x1: AnyArray, x2: AnyArray, /) -> Array:
    """Product of two matrices, of two stacks of matrices (which broadcast), or of a matrix and a vector.

    Parameters
    ----------
    x1 : Variable or array, shape (..., M, K) or (K,)
    x2 : Variable or array, shape (..., K, N) or (K,)

    Returns
    -------
    Variable, shape (..., M, N) without the axis of an operand that is a vector
    """
    return xp.matmul(x1, x2)


def summed_axes(axes: Any, ndim1: int, ndim2: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes that `tensordot` sums over, counted from the front."""
    if isinstance(axes, WHOLE):
        axes = int(axes)
        return tuple(range(ndim1 - axes, ndim1)), tuple(range(axes))
    first, second = ([int(i) for i in ((a,) if isinstance(a, WHOLE) else a)] for a in axes)
    return tuple(a % ndim1 for a in first), tuple(a % ndim2 for a in second)


def free_axes(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Return the axes that are not among `axes`."""
    return tuple(i for i in range(ndim) if i not in axes)


def _tensordot_first(xp: Namespace, gy: Array, x2: Array, x1_spec: Spec, x2_spec: Spec, axes: Any) -> Array:
    summed1, summed2 = summed_axes(axes, x1_spec.ndim, x2_spec.ndim)
    free1, free2 = free_axes(summed1, x1_spec.ndim), free_axes(summed2, x2_spec.ndim)
    gx = xp.tensordot(gy, x2, axes=(tuple(range(len(free1), len(free1) + len(free2))), free2))
    order = free1 + tuple(summed1[summed2.index(a)] for a in sorted(summed2))  # in the order of the axes of gx
    return xp.permute_dims(gx, axes=tuple(order.index(i) for i in range(x1_spec.ndim)))


def _tensordot_second(xp: Namespace, gy: Array, x1: Array, x1_spec: Spec, x2_spec: Spec, axes: Any) -> Array:
    summed1, summed2 = summed_axes(axes, x1_spec.ndim, x2_spec.ndim)
    free1, free2 = free_axes(summed1, x1_spec.ndim), free_axes(summed2, x2_spec.ndim)
    gx = xp.tensordot(x1, gy, axes=(free1, tuple(range(len(free1)))))
    order = tuple(summed2[summed1.index(a)] for a in sorted(summed1)) + free2
    return xp.permute_dims(gx, axes=tuple(order.index(i) for i in range(x2_spec.ndim)))


@primitive(linear=("x1", "x2"), x1=_tensordot_first, x2=_tensordot_second)
def tensordot(xp: Namespace, x1: AnyArray, x2: AnyArray, /, *, axes: Any = 2) -> Array:
    """Product of two arrays, summed over pairs of their axes.

    Parameters
    ----------
    x1, x2 : Variable or array
    axes : int, or two sequences of int
        The number of last axes of `x1` and first axes of `x2` to sum over, or two sequences with axes of `x1` and of
        `x2`.
    """
    return xp.tensordot(x1, x2, axes=axes)


def _conjugate(xp: Namespace, x: Array, spec: Spec) -> Array:
    return xp.conj(x) if spec.complex else x


def _unreduced(xp: Namespace, gy: Array, axis: int) -> Array:
    at = axis % (gy.ndim + 1)
    return xp.reshape(gy, shape=(*gy.shape[:at], 1, *gy.shape[at:]))


def _vecdot_first(xp: Namespace, gy: Array, x2: Array, x1_spec: Spec, axis: int) -> Array:
    return xp.sum_to(_conjugate(xp, _unreduced(xp, gy, axis) * x2, x1_spec), shape=x1_spec.shape)


def _vecdot_second(xp: Namespace, gy: Array, x1: Array, x1_spec: Spec, x2_spec: Spec, axis: int) -> Array:
    return xp.sum_to(_unreduced(xp, gy, axis) * _conjugate(xp, x1, x1_spec), shape=x2_spec.shape)


@primitive(linear=("x1", "x2"), x1=_vecdot_first, x2=_vecdot_second)
def vecdot(xp: Namespace, x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """Dot product along `axis` between the conjugate of `x1` and `x2`; the other axes broadcast.

    Parameters
    ----------
    x1, x2 : Variable or array, numeric
    axis : int
        Negative, counted from the last axis, where the numbers of axes differ.
    """
    return xp.vecdot(x1, x2, axis=axis_of_vectors(axis, x1.ndim, x2.ndim, "vecdot"))
