"""Decorrelated batch normalization: whitening of groups of channels, with their inverse roots of covariances."""

import math
from typing import Any

from xpgrad.array_api import astype, expand_dims, matmul, matrix_transpose, mean, permute_dims, reshape, sum
from xpgrad.functions.checks import invalid, known_spec, real_floating, real_number, require_real_floating
from xpgrad.functions.mixed import in_dtype_of, unified
from xpgrad.functions.moments import group_size, moving, unbiased, update
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Shape

__all__ = ["decorrelated_batch_normalization", "fixed_decorrelated_batch_normalization"]


def _sylvester_rule(xp: Namespace, gy: Array, x: Array, y: Array) -> Array:
    g = xp.sylvester(x, gy)
    return -(xp.matmul(g, xp.matrix_transpose(y)) + xp.matmul(xp.matrix_transpose(y), g))


@primitive(linear=("g",), x=_sylvester_rule, g=lambda xp, gy, x: xp.sylvester(x, gy))
def sylvester(xp: Namespace, x: AnyArray, g: AnyArray, /) -> Array:
    """The solution Y of ``x @ Y + Y @ x = g``, for symmetric positive definite `x`.

    In the basis of the eigenvectors of `x` the elements of `g` are divided by sums of two eigenvalues, never by a
    difference, so that equal eigenvalues need no special treatment.
    """
    w, v = xp.linalg.eigh(x)
    transposed = xp.matrix_transpose(v)
    inner = xp.matmul(xp.matmul(transposed, g), v) / (w[..., :, None] + w[..., None, :])
    return xp.matmul(xp.matmul(v, inner), transposed)


def _inverse_root_rule(xp: Namespace, gy: Array, y: Array) -> Array:
    square = xp.matmul(y, y)  # from y @ x @ y = 1: the change dy solves y @ dy + dy @ y = -square @ dx @ square
    return -xp.matmul(xp.matmul(square, xp.sylvester(y, gy)), square)


@primitive(x=_inverse_root_rule)
def inverse_root(xp: Namespace, x: AnyArray, /, eps: float) -> Array:
    """The symmetric matrices whose squares are the inverses of ``x + eps``, for symmetric `x`; `eps` on the diagonal.

    The gradient is computed as for a function of symmetric matrices.
    """
    w, v = xp.linalg.eigh(x)
    return xp.matmul(v / xp.sqrt(w + eps)[..., None, :], xp.matrix_transpose(v))


def decorrelated_batch_normalization(
    x: AnyArray, *, groups: int = 16, eps: float = 2e-5, running_mean: Any = None, running_projection: Any = None,
    decay: float = 0.9,
) -> Variable:  # fmt: skip
    """Return `x` with mean 0, variance 1 and no correlation between the channels of a group, over the batch.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), real floating-point
    groups : int
        Number of equal parts into which the channels are cut.
    eps : float
        Added to the variances.
    running_mean : array or Variable, shape (groups, C / groups), optional
    running_projection : array or Variable, shape (groups, C / groups, C / groups), optional
        Moving averages of the mean, and of the projection times M / (M - 1) for M elements of each channel, as in
        Chainer. They are updated as in `batch_normalization`.
    decay : float
        Weight of the previous moving averages.

    Returns
    -------
    Variable, shape of `x`
        The centred channels times the projection, the inverse root of their covariance: among all matrices that
        decorrelate the channels, this matrix changes them least (ZCA). float16 is computed in float32.

    Raises
    ------
    ValueError
        The channels cannot be cut into `groups` equal parts.
    TypeError
        A moving average is an array that cannot be written to.

    References
    ----------
    Huang, Yang, Lang, Deng: Decorrelated batch normalization, 2018.
    """
    name = "decorrelated_batch_normalization"
    spec = real_floating(x, name)
    size = group_size(name, spec, groups)
    real_number(eps, name, "eps")
    if not eps >= 0:
        raise ValueError(f"{name}: expected eps of at least 0, got {eps!r}")
    running_mean = moving(name, spec, running_mean, "running_mean", (groups, size))
    running_projection = moving(name, spec, running_projection, "running_projection", (groups, size, size))
    rows = _rows(astype(x, spec.wide, copy=False), groups)
    count = rows.shape[2]
    average = (mean if count else sum)(rows, axis=2, keepdims=True)
    centred = rows - average
    projection = inverse_root(matmul(centred, matrix_transpose(centred)) / max(count, 1), eps=eps)
    y = _channels(matmul(projection, centred), spec.shape)
    update(decay, count, (running_mean, average.array, 1.0), (running_projection, projection.array, unbiased(count)))
    return in_dtype_of(spec, y)


def fixed_decorrelated_batch_normalization(
    x: AnyArray, mean: AnyArray, projection: AnyArray, groups: int = 16
) -> Variable:
    """Return decorrelated batch normalization of `x` with a fixed mean and projection.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), real floating-point
    mean : Variable or array, shape (groups, C / groups), real floating-point
    projection : Variable or array, shape (groups, C / groups, C / groups), real floating-point
        All of them have gradients.
    groups : int
        Number of equal parts into which the channels are cut.

    Returns
    -------
    Variable, shape of `x`
        In the dtype of `x`, as from `batch_normalization`.

    Raises
    ------
    ValueError
        The channels cannot be cut into `groups` equal parts.
    """
    name = "fixed_decorrelated_batch_normalization"
    spec = real_floating(x, name)
    size = group_size(name, spec, groups)
    for given, which, shape in (mean, "mean", (groups, size)), (projection, "projection", (groups, size, size)):
        found = require_real_floating(known_spec(given, name), name, which)
        if found.shape != shape:
            raise invalid(name, f"{which} of shape {shape}, as x is {spec!r}", f"{which} is {found!r}")
    x, mean, projection = unified(name, x, mean, projection, single=True)
    centred = _rows(as_variable(x), groups) - expand_dims(mean, axis=2)
    return in_dtype_of(spec, _channels(matmul(projection, centred), spec.shape))


def _rows(x: Variable, groups: int) -> Variable:
    """Return the elements of each channel in one row, shape (groups, C / groups, N * D)."""
    batch, channels, *rest = x.shape
    turned = permute_dims(x, axes=(1, 0, *range(2, x.ndim)))
    return reshape(turned, shape=(groups, channels // groups, batch * math.prod(rest)))


def _channels(rows: Variable, shape: Shape) -> Variable:
    """Return such rows in the shape of the images."""
    turned = reshape(rows, shape=(shape[1], shape[0], *shape[2:]))
    return permute_dims(turned, axes=(1, 0, *range(2, len(shape))))
