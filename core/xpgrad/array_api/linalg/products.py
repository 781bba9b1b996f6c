"""Powers of matrices, and products of vectors: outer and cross."""

from typing import Any

from xpgrad.array_api.elementwise.arithmetic import positive
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.linalg.checks import square
from xpgrad.array_api.linalg.solving import inv
from xpgrad.array_api.linear_algebra import matmul
from xpgrad.backend.spec import Spec
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray, Array, Namespace


@in_single_precision
def matrix_power(x: AnyArray, n: int, /) -> Variable:
    """Return integer powers of square matrices, by repeated squaring.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point
    n : int
        0 gives the identity, without a gradient; negative powers are powers of the inverse.

    Returns
    -------
    Variable, shape (..., M, M)

    Raises
    ------
    SingularMatrix
        A matrix has no inverse, and `n` is negative.
    """
    x = as_variable(x)
    square(x, "matrix_power")
    try:
        power = n.__index__()
    except AttributeError:
        raise TypeError(f"matrix_power: expected an integer as n, got {n!r}") from None
    if not power:
        spec = x.node.spec
        xp = spec.backend.xp
        identity = xp.eye(x.shape[-1], dtype=spec.dtype, device=spec.device)
        return constant_variable(xp.asarray(xp.broadcast_to(identity, x.shape), copy=True))
    if power < 0:
        x, power = inv(x), -power
    result: Any = None
    while True:
        if power & 1:
            result = x if result is None else matmul(result, x)
        power >>= 1
        if not power:
            return positive(result) if n == 1 else result
        x = matmul(x, x)


def _cross_first(xp: Namespace, gy: Array, x2: Array, x1_spec: Spec, axis: int) -> Array:
    gx = xp.linalg.cross(x2, gy, axis=axis)
    return gx if gx.shape == x1_spec.shape else xp.sum_to(gx, shape=x1_spec.shape)


def _cross_second(xp: Namespace, gy: Array, x1: Array, x2_spec: Spec, axis: int) -> Array:
    gx = xp.linalg.cross(gy, x1, axis=axis)
    return gx if gx.shape == x2_spec.shape else xp.sum_to(gx, shape=x2_spec.shape)


@in_single_precision
@primitive(linear=("x1", "x2"), extension="linalg", x1=_cross_first, x2=_cross_second)
def cross(xp: Namespace, x1: AnyArray, x2: AnyArray, /, *, axis: int = -1) -> Array:
    """Cross products of vectors with three components.

    Parameters
    ----------
    x1, x2 : Variable or array, numeric
        The axes other than `axis` broadcast.
    axis : int
        The axis of the components, negative: counted from the last axis.
    """
    if not (-min(x1.ndim, x2.ndim) <= axis < 0) or x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ShapeError(
            f"cross: expected vectors of length 3 along a negative axis; got shapes "
            f"{tuple(x1.shape)} and {tuple(x2.shape)}, axis {axis}"
        )
    return xp.linalg.cross(x1, x2, axis=axis)


def outer(x1: AnyArray, x2: AnyArray, /) -> Variable:
    """Return the product of each element of the vector `x1` with each of the vector `x2`."""
    x1, x2 = as_variables("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer: expected two vectors, got shapes {x1.shape} and {x2.shape}")
    return x1[:, None] * x2[None, :]
