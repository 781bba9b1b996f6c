"""Losses that penalize correlated features."""

import operator
from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray

__all__ = ["cross_covariance", "decov"]


@in_single_precision
def cross_covariance(y: AnyArray, z: AnyArray, reduce: str = "half_squared_sum") -> Variable:
    """Return half the sum of the squared covariances between the features of `y` and of `z`.

    Parameters
    ----------
    y, z : Variable or array, shapes (N, K) and (N, L), real floating-point
    reduce : {"half_squared_sum", "no"}
        "no" returns the matrix of covariances.

    Returns
    -------
    Variable, shape () or (K, L)

    References
    ----------
    Cheung, Livezey, Bansal, Olshausen: Discovering hidden factors of variation in deep networks, 2014.
    """
    require_option("cross_covariance", "reduce", reduce, ("half_squared_sum", "no"))
    specs = [real_floating(x, "cross_covariance", name) for name, x in (("y", y), ("z", z))]
    if specs[0].shape[:1] != specs[1].shape[:1] or any(spec.ndim != 2 for spec in specs):
        actual = f"y is {specs[0]!r}, z is {specs[1]!r}"
        raise invalid("cross_covariance", "y of shape (N, K) and z of shape (N, L)", actual)
    a, b = (_centred(x, spec) for x, spec in zip((y, z), specs, strict=True))
    y = _half_squared_sum(_covariance(a, b, specs[0]), reduce)
    dtype = specs[0].backend.namespace.result_type(specs[0].dtype, specs[1].dtype)
    return array_api.astype(y, dtype, copy=False)


@in_single_precision
def decov(h: AnyArray, reduce: str = "half_squared_sum") -> Variable:
    """Return half the sum of the squared covariances of different features of `h`.

    Parameters
    ----------
    h : Variable or array, shape (N, K), real floating-point
    reduce : {"half_squared_sum", "no"}
        "no" returns the matrix of covariances with 0 in its diagonal.

    Returns
    -------
    Variable, shape () or (K, K)

    References
    ----------
    Cogswell, Ahmed, Girshick, Zitnick, Batra: Reducing overfitting in deep networks by decorrelating representations,
    2015.
    """
    require_option("decov", "reduce", reduce, ("half_squared_sum", "no"))
    spec = real_floating(h, "decov", "h")
    if spec.ndim != 2:
        raise invalid("decov", "h of shape (N, K)", f"h is {spec!r}")
    centred = _centred(h, spec)
    identity = spec.backend.namespace.eye(spec.shape[1], dtype=spec.wide, device=spec.device)
    others = spec.backend.follow(operator.sub)(1, identity)
    y = _half_squared_sum(_covariance(centred, centred, spec) * others, reduce)
    return array_api.astype(y, spec.dtype, copy=False)


def _centred(x: Any, spec: Spec) -> Variable:
    x = array_api.astype(x, spec.wide, copy=False)
    centred: Variable = x - array_api.mean(x, axis=0, keepdims=True)
    return centred


def _covariance(a: Variable, b: Variable, spec: Spec) -> Variable:
    return array_api.matmul(array_api.matrix_transpose(a), b) / spec.shape[0]


def _half_squared_sum(covariance: Variable, reduce: str) -> Variable:
    return covariance if reduce == "no" else 0.5 * array_api.sum(array_api.square(covariance))
