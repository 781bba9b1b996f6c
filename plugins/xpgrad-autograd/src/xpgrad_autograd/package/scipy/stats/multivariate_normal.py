"""The multivariate normal distribution."""

import math
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from xpgrad_autograd.boxes import functions
from xpgrad_autograd.densities import by_formula
from xpgrad_autograd.package.numpy import linalg

rvs = multivariate_normal.rvs


def _parameters(xp: Any, mean: Any, cov: Any) -> tuple[Any, Any]:
    mean, cov = xp["array"](0.0 if mean is None else mean), xp["array"](1.0 if cov is None else cov)
    size = max(mean.size, cov.shape[-1] if cov.ndim else 1)
    if cov.ndim < 2:
        cov = cov * np.eye(size) if not cov.ndim or cov.size == 1 else xp["diag"](cov)
    return xp["reshape"](mean, (-1,)), cov


@by_formula(multivariate_normal.logpdf)
def logpdf(xp: Any, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
    """Return the logarithm of the density at points along the last axis of `x`."""
    mean, cov = _parameters(xp, mean, cov)
    x = xp["array"](x)
    size = cov.shape[-1]
    if not x.ndim or (x.ndim == 1 and size == 1):
        x = xp["reshape"](x, (*x.shape, 1))
    moved = x - mean
    flat = xp["reshape"](moved, (-1, size))
    if allow_singular:
        solved = xp["dot"](flat, linalg.pinv(cov))
        values = linalg.eigvalsh(getattr(cov, "_value", cov))
        rank = int(np.sum(values > 1e-10 * np.max(values)))
        logdet = xp["sum"](xp["log"](linalg.eigh(cov)[0][-rank:]))
    else:
        solved = xp["transpose"](linalg.solve(cov, xp["transpose"](flat)))
        rank, logdet = size, linalg.slogdet(cov)[1]
    squares = xp["reshape"](xp["sum"](flat * solved, -1), moved.shape[:-1])
    return -(rank * math.log(2 * math.pi) + logdet + squares) / 2


@by_formula(multivariate_normal.pdf)
def pdf(xp: Any, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Any:
    """Return the density at points along the last axis of `x`."""
    return functions()["exp"](logpdf(x, mean, cov, allow_singular))


@by_formula(multivariate_normal.entropy)
def entropy(xp: Any, mean: Any = None, cov: Any = 1.0) -> Any:
    """Return the differential entropy."""
    _, cov = _parameters(xp, mean, cov)
    constant = cov.shape[-1] * (1 + math.log(2 * math.pi))
    return (constant + linalg.slogdet(cov)[1]) / 2
