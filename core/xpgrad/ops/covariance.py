"""Covariance and correlation of variables that were observed together."""

from typing import Any

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.elementwise.arithmetic import sqrt
from xpgrad.array_api.elementwise.magnitude import conj, real
from xpgrad.array_api.linear_algebra import matmul, matrix_transpose
from xpgrad.array_api.manipulation import moveaxis, reshape
from xpgrad.array_api.statistical import sum as sum_
from xpgrad.backend.checks import require_together
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.ops.diagonals import diag
from xpgrad.types import AnyArray


def cov(
    m: AnyArray,
    /,
    *,
    axis: int = -1,
    correction: float = 1,
    fweights: AnyArray | None = None,
    aweights: AnyArray | None = None,
) -> Variable:
    """Covariance matrix of variables.

    Parameters
    ----------
    m : Variable or array, shape (N, M) or (M,), floating-point
        N variables with M observations each, along `axis`.
    axis : int
        Axis of the observations.
    correction : int or float
        The sum of squares is divided by the number of observations less `correction`.
    fweights : Variable or array of int, shape (M,), optional
        Number of times that each observation occurs.
    aweights : Variable or array, shape (M,), optional
        Weight of each observation.

    Returns
    -------
    Variable, shape (N, N), or () for one variable
    """
    m = as_variable(m)
    spec = m.node.spec
    if spec.half:
        wide = cov(astype(m, spec.wide), axis=axis, correction=correction, fweights=fweights, aweights=_wide(aweights))
        return astype(wide, spec.dtype)
    require_together("cov", m, fweights, aweights)
    x = reshape(m, shape=(1, -1)) if m.ndim < 2 else moveaxis(m, axis, -1)
    weights: Any = None
    if fweights is not None:
        weights = astype(fweights, x.dtype, copy=False)
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        count = x.shape[-1]
        centred = x - sum_(x, axis=-1, keepdims=True) / count
        scale: float | Variable = max(count - correction, 0)
        weighted = centred
    else:
        weights = as_variable(weights)
        total = sum_(weights)
        centred = x - sum_(x * weights, axis=-1, keepdims=True) / total
        lost = 1 if aweights is None else sum_(weights * aweights) / total
        scale = total - correction * lost
        weighted = centred * weights
    other = matrix_transpose(conj(centred) if m.node.spec.complex else centred)
    y = matmul(weighted, other) / scale
    return reshape(y, shape=()) if y.size == 1 else y


def _wide(weights: Any) -> Any:
    return None if weights is None else astype(weights, as_variable(weights).node.spec.wide, copy=False)


def corrcoef(m: AnyArray, /, *, axis: int = -1) -> Variable:
    """Matrix of the correlation coefficients of variables, as in `cov`; NaN for a constant variable."""
    m = as_variable(m)
    spec = m.node.spec
    if spec.half:
        return astype(corrcoef(astype(m, spec.wide), axis=axis), spec.dtype)
    y = cov(m, axis=axis)
    if not y.ndim:
        return y / y
    deviation = sqrt(real(diag(y)) if y.node.spec.complex else diag(y))
    return y / deviation[:, None] / deviation[None, :]
