"""Linear algebra under Chainer's names: for one matrix, or with the prefix `batch` for a stack of matrices."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api import astype, linalg, moveaxis, reshape, square
from xpgrad.array_api import sum as _sum
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.checks import invalid, real_floating
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["batch_det", "batch_inv", "batch_l2_norm_squared", "cholesky", "det", "diagonal", "inv"]


def _of_square(function: Callable[..., Any], x: Any, ndim: int, name: str) -> Variable:
    """Return `function` of square matrices in `ndim` axes, for half precision computed in single precision."""
    spec = real_floating(x, name)
    if spec.ndim != ndim or spec.shape[-1] != spec.shape[-2]:
        shape = "(M, M)" if ndim == 2 else "(B, M, M)"
        raise invalid(name, f"x of shape {shape}", f"x is {spec!r}")
    if spec.backend.dtype_name(spec.dtype) != "float16":
        return function(x)  # type: ignore[no-any-return]  # a primitive
    return astype(function(astype(x, spec.backend.namespace.float32)), spec.dtype)


def cholesky(a: AnyArray) -> Variable:
    """Return the lower triangular L with ``L L^T = a`` of one symmetric positive definite matrix."""
    return _of_square(linalg.cholesky, a, 2, "cholesky")


def det(a: AnyArray) -> Variable:
    """Return the determinant of one square matrix, with shape ()."""
    return _of_square(linalg.det, a, 2, "det")


def batch_det(a: AnyArray) -> Variable:
    """Return the determinants of a stack of square matrices, shape (B, M, M)."""
    return _of_square(linalg.det, a, 3, "batch_det")


def inv(a: AnyArray) -> Variable:
    """Return the inverse of one square matrix."""
    return _of_square(linalg.inv, a, 2, "inv")


def batch_inv(a: AnyArray) -> Variable:
    """Return the inverses of a stack of square matrices, shape (B, M, M)."""
    return _of_square(linalg.inv, a, 3, "batch_inv")


@in_single_precision
def batch_l2_norm_squared(x: AnyArray) -> Variable:
    """Return the sum of squares of each element of a batch, with shape (B,).

    Parameters
    ----------
    x : Variable or array, shape (B, ...), real floating-point
    """
    spec = real_floating(x, "batch_l2_norm_squared")
    if spec.ndim < 2:
        raise invalid("batch_l2_norm_squared", "x of two or more axes", f"x is {spec!r}")
    length = spec.size // spec.shape[0] if spec.shape[0] else 0
    return _sum(square(reshape(x, shape=(spec.shape[0], length))), axis=1)


def diagonal(x: AnyArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Return the diagonals of the matrices in the axes `axis1` and `axis2`, as the last axis.

    Parameters
    ----------
    x : Variable or array
    offset : int
        0 for the main diagonal, positive above it, negative below.
    axis1, axis2 : int
        The axes of rows and of columns.
    """
    return linalg.diagonal(moveaxis(as_variable(x), (axis1, axis2), (-2, -1)), offset=offset)
