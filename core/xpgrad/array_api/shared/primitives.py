"""Primitives for rules, beyond the functions of the standard."""

import math
from typing import Any

from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.types import AnyArray, Array, Namespace, Operand, Shape


@primitive(linear=("x",), x=lambda xp, gy, x_spec: xp.broadcast_to(gy, shape=x_spec.shape))
def sum_to(xp: Namespace, x: AnyArray, /, shape: Shape) -> Array:
    """The array summed to `shape`: the transpose of `broadcast_to`."""
    lead = x.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1)
    if not axes:
        return x
    total = xp.astype(xp.sum(x, axis=axes, keepdims=True, dtype=xp.backend.wide(x.dtype)), x.dtype, copy=False)
    return total if total.shape == shape else xp.reshape(total, shape)


@primitive(
    linear=("x1", "x2"),
    x1=lambda xp, gy, x2: xp.matmul(x2, xp.matrix_transpose(gy)),
    x2=lambda xp, gy, x1: xp.matmul(x1, gy),
)
def transposed_matmul(xp: Namespace, x1: AnyArray, x2: AnyArray, /) -> Array:
    """Product of the transpose of a matrix with a matrix: the gradient of a weight, as one function.

    Parameters
    ----------
    x1 : Variable or array, shape (K, M)
    x2 : Variable or array, shape (K, N)

    Returns
    -------
    Variable, shape (M, N)
    """
    return xp.matmul(xp.matrix_transpose(x1), x2)


@elementwise(x1=lambda xp, gy, x2: xp.gate(gy, x2))
def gate(xp: Namespace, x1: AnyArray, x2: AnyArray, /) -> Array:
    """Elements of `x1` where `x2` is positive, otherwise 0 times `x1`: the gradient of a rectifier.

    One function instead of three, so that gradients of gradients of networks cost less. `x2` gets no gradient.

    Parameters
    ----------
    x1 : Variable or array, floating-point
    x2 : Variable or array, real-valued
    """
    return x1 * xp.astype(x2 > 0, x1.dtype)


@elementwise(
    slope=lambda xp, gy, corner: xp.where(corner, 0.0, gy),
    zero=lambda xp, gy, corner: gy * xp.where(corner, math.nan, xp.zeros_like(gy)),
)
def cornered(xp: Namespace, slope: Array, corner: Array, zero: Array, /) -> Array:
    """A derivative, but 0 at the corners of a function, where its own derivative by `zero` is NaN.

    Parameters
    ----------
    slope : Variable or array, floating-point
    corner : Variable or array, boolean
    zero : Variable or array, floating-point
        Slope with 0 at the corners, differentiable by the argument of the function.
    """
    return xp.where(corner, 0.0, slope)


@elementwise()
def scale(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Larger absolute value of two numbers, at least the smallest normal number and finite, for quotients by it.

    It has no gradient: what is divided by it must be multiplied by it again.
    """
    size: Any = xp.maximum(xp.maximum(x1, x2), -xp.minimum(x1, x2))  # one may be a scalar, or have integers
    limits = xp.backend.finfo(size.dtype)
    return xp.minimum(xp.maximum(size, float(limits.smallest_normal)), float(limits.max))
