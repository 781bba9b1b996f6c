"""Norms of vectors and of matrices."""

import math
from typing import Literal

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.elementwise.magnitude import abs, real
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.linalg.singular import svdvals
from xpgrad.array_api.manipulation import expand_dims
from xpgrad.array_api.shared.axes import Axis, matrices, reduced_count, with_kept_axes
from xpgrad.array_api.shared.precision import rescaling
from xpgrad.array_api.statistical import max, min, sum
from xpgrad.backend.spec import Spec
from xpgrad.errors import DtypeError
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace


def _euclidean_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axis, keepdims: bool) -> Array:
    x = x * rescaling(xp, with_kept_axes(xp, y, x_spec, axis, keepdims))
    length = xp.linalg.euclidean_norm(x, axis=axis, keepdims=True)
    origin = length == 0
    inverse = xp.cornered(1.0 / xp.where(origin, 1.0, length), origin, length)
    return with_kept_axes(xp, gy, x_spec, axis, keepdims) * inverse * (xp.conj(x) if x_spec.complex else x)


@primitive(extension="linalg", label="vector_norm", reduction=True, x=_euclidean_rule)
def euclidean_norm(xp: Namespace, x: AnyArray, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The square root of the sum of squared moduli over `axis`; the gradient at the origin is 0."""
    factor = rescaling(xp, xp.linalg.vector_norm(x, axis=axis, keepdims=True, ord=2))
    y = xp.linalg.vector_norm(x * factor, axis=axis, keepdims=keepdims, ord=2)
    return y / xp.reshape(factor, y.shape)


def _power_rule(
    xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, ord: float, axis: Axis, keepdims: bool
) -> Array:
    x = x * rescaling(xp, with_kept_axes(xp, y, x_spec, axis, keepdims))
    whole = xp.linalg.power_norm(x, ord=ord, axis=axis, keepdims=True)
    nothing = (x == 0) | (whole == 0)
    ratio = xp.where(nothing, 1.0, x) / xp.where(nothing, 1.0, whole)
    slope = xp.cornered(xp.where(nothing, 0.0, xp.pow(ratio, ord - 1.0)), whole == 0, x + whole)
    return with_kept_axes(xp, gy, x_spec, axis, keepdims) * slope


@primitive(extension="linalg", label="vector_norm", reduction=True, x=_power_rule)
def power_norm(xp: Namespace, x: AnyArray, /, ord: float, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The sum over `axis` of powers `ord` of nonnegative numbers, to the power ``1 / ord``."""
    if not reduced_count(xp.spec_of(x), axis):
        return xp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    scale = (xp.max if ord > 0 else xp.min)(x, axis=axis, keepdims=True)
    scale = xp.where((scale == 0) | (scale == math.inf), 1.0, scale)
    y = xp.linalg.vector_norm(x / scale, axis=axis, keepdims=keepdims, ord=ord)
    return y * xp.reshape(scale, y.shape)


def _largest(x: Variable, axis: Axis, keepdims: bool = False) -> Variable:
    """Return the maximum of nonnegative numbers; 0 for none."""
    pick = max if reduced_count(x.node.spec, axis) else sum
    return pick(x, axis=axis, keepdims=keepdims)


@in_single_precision
def vector_norm(x: AnyArray, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Variable:
    """Return norms of vectors.

    Parameters
    ----------
    x : Variable or array, floating-point
    axis : int, tuple of int or None
        The axes of the vectors; None for all axes.
    keepdims : bool
        Leave these axes with length 1.
    ord : int or float
        2 is the Euclidean norm, 1 the sum of moduli, `inf` the largest and `-inf` the smallest modulus, 0 the number of
        elements that are not 0 (without a gradient), any other p the sum of p-th powers of moduli to the power 1/p.

    Returns
    -------
    Variable, real

    Notes
    -----
    The gradient of a zero vector is 0, and so is the gradient of zero elements where the norm is not smooth; elements
    that tie for the largest or smallest modulus share the gradient equally. Second derivatives at a zero vector are
    NaN, including second derivatives of the square of a norm; a sum of squares has finite derivatives. The norm of no
    elements is 0, or infinite for negative `ord`, but there is no smallest modulus.
    """
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    x = as_variable(x)
    spec = x.node.spec
    if not spec.differentiable:
        raise DtypeError(f"vector_norm: expected a floating-point dtype, got {spec!r}; use astype")
    if ord == 2:
        return euclidean_norm(x, axis=axes, keepdims=keepdims)
    if ord == 0:
        ones = astype(x != 0, spec.dtype)
        total = sum(ones, axis=axes, keepdims=keepdims)
        return real(total) if spec.complex else total
    size = abs(x)
    if ord == math.inf:
        return _largest(size, axes, keepdims)
    if ord == -math.inf:
        return min(size, axis=axes, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis=axes, keepdims=keepdims)
    return power_norm(size, ord=ord, axis=axes, keepdims=keepdims)


@in_single_precision
def matrix_norm(
    x: AnyArray, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> Variable:
    """Return norms of matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
    keepdims : bool
        Leave the last two axes with length 1.
    ord : int, float, str or None
        "fro" or None is the Frobenius norm, "nuc" the sum of singular values, 2 the largest and -2 the smallest
        singular value, 1 the largest and -1 the smallest sum of moduli of a column, `inf` and `-inf` the same for rows.

    Returns
    -------
    Variable, shape (...), real

    Notes
    -----
    The gradient of a zero matrix in the Frobenius norm is 0. Columns and rows that tie share it equally, and so do
    singular values. A singular value 0 has the gradient 0, so the nuclear norm has one everywhere. Without elements
    a norm is 0, but there is no smallest of no singular values, columns or rows.
    """
    x = as_variable(x)
    matrices(x, "matrix_norm")
    if ord is None or ord == "fro":
        return euclidean_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        pick = sum if ord == "nuc" else _largest if ord == 2 else min
        y = pick(values, axis=-1)
        return expand_dims(y, axis=(-2, -1)) if keepdims else y
    if ord in (1, -1, math.inf, -math.inf):
        along = -2 if ord in (1, -1) else -1
        sums = sum(abs(x), axis=along, keepdims=True)
        return (_largest if ord > 0 else min)(sums, axis=(-2, -1), keepdims=keepdims)
    raise ValueError(f"matrix_norm: expected ord 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
