"""NumPy's polynomials by coefficients, the highest power first, with its argument names, for Variables."""

import sys
import warnings
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api.data_types import to_floating
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import alike, numpy_function
from xpgrad.interop.numpy.equations import lstsq
from xpgrad.interop.numpy.mathematics import vander


@numpy_function("poly")
def poly(seq_of_zeros: Any) -> Any:
    """Return the coefficients of the polynomial with these zeros, or of the characteristic one of a square matrix.

    Complex zeros that are pairs of conjugate numbers have real coefficients; in `vmap` these are complex, too.
    """
    zeros = to_floating(alike(seq_of_zeros)[0])
    real = not zeros.node.spec.complex
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        zeros = xp.linalg.eigvals(zeros)
    elif zeros.ndim > 1:
        raise ShapeError(f"numpy.poly: expected a vector of zeros or a square matrix, got shape {zeros.shape}")
    zeros = ops.atleast_nd(zeros, ndim=1)
    one = as_variable(zeros.__array_namespace__().ones((1,), dtype=zeros.dtype, device=zeros.device))
    coefficients, none = one, xp.zeros_like(one)
    for i in range(zeros.shape[0]):
        coefficients = xp.concat([coefficients, none]) - zeros[i] * xp.concat([none, coefficients])
    if not coefficients.node.spec.complex:
        return coefficients
    return xp.real(coefficients) if real or _in_pairs(zeros) else coefficients


def _values(x: Variable) -> list[Any] | None:
    """Return the elements as Python numbers; in `vmap`, where each member has its own, None."""
    try:
        found: list[Any] = x.detach().tolist()
    except BatchError:
        return None
    return found


def _in_pairs(zeros: Variable) -> bool:
    values = _values(zeros)
    if values is None:
        return False
    both = [sorted(each, key=lambda z: (z.real, z.imag)) for each in (values, [z.conjugate() for z in values])]
    return both[0] == both[1]


@numpy_function("roots")
def roots(p: Any) -> Any:
    """Return the zeros of the polynomial with coefficients `p`, complex numbers, as eigenvalues.

    The derivatives of a multiple zero are infinite, and those computed are NaN or inaccurate. In `vmap` the first and
    the last coefficient are assumed not to be 0.
    """
    p = ops.atleast_nd(to_floating(alike(p)[0]), ndim=1)
    if p.ndim != 1:
        raise ShapeError(f"numpy.roots: expected a vector of coefficients, got shape {p.shape}")
    values = _values(p)
    present = [i for i, value in enumerate(values) if value] if values is not None else [0, p.shape[0] - 1]
    zeros = p.shape[0] - 1 - present[-1] if present else 0
    p = p[present[0] : present[-1] + 1] if present else p[:0]
    degree = max(p.shape[0] - 1, 0)
    space = p.__array_namespace__()
    if degree:
        below = space.eye(degree, k=-1, dtype=p.dtype, device=p.device)[1:, :]
        found = xp.linalg.eigvals(xp.concat([(-p[1:] / p[0])[None, :], below], axis=0))
    else:
        found = as_variable(space.zeros((0,), dtype=xp.result_type(p.dtype, space.complex64), device=p.device))
    return xp.concat([found, as_variable(space.zeros((zeros,), dtype=found.dtype, device=p.device))])


@numpy_function("polyfit")
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Return the polynomial of least squares, by `numpy.linalg.lstsq`, whose derivatives it has by `x`, `y` and `w`."""
    x, y = (to_floating(each) for each in alike(x, y))
    if deg < 0 or x.ndim != 1 or not x.size or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise ShapeError(
            "numpy.polyfit: expected a degree from 0 on, x of shape (M,) and y of shape (M,) or (M, K), with elements; "
            f"got {deg}, {x.shape} and {y.shape}"
        )
    order = deg + 1
    rcond = x.shape[0] * float(x.node.spec.backend.namespace.finfo(x.dtype).eps) if rcond is None else rcond
    lhs, rhs = vander(x, order), y
    if w is not None:
        w = alike(w, y)[0]
        if w.shape != x.shape:
            raise ShapeError(f"numpy.polyfit: expected a weight for each element of x, {x.shape}, got {w.shape}")
        lhs, rhs = lhs * w[:, None], rhs * (w if y.ndim == 1 else w[:, None])
    scale = xp.sqrt(xp.sum(lhs * lhs, axis=0))
    lhs = lhs / scale
    c, residuals, rank, s = lstsq(lhs, rhs, rcond)
    c = c / (scale if y.ndim == 1 else scale[:, None])
    if full:
        return c, residuals, rank, s, rcond
    if isinstance(rank, int) and rank != order:
        kind = getattr(sys.modules.get("numpy.exceptions"), "RankWarning", RuntimeWarning)  # which programs filter
        warnings.warn(f"numpy.polyfit: the fit is poorly conditioned: rank {rank} of {order}", kind, stacklevel=2)
    if not cov:
        return c
    base = xp.linalg.inv(xp.matmul(xp.matrix_transpose(lhs), lhs)) / (scale[:, None] * scale)
    if cov == "unscaled":
        return c, base if y.ndim == 1 else base[:, :, None]
    if x.shape[0] <= order:
        raise ValueError(
            f"numpy.polyfit: expected more than {order} points for the covariance, got {x.shape[0]}; "
            "pass cov='unscaled', which needs no residuals"
        )
    factor = residuals / (x.shape[0] - order)
    return c, base * factor if y.ndim == 1 else base[:, :, None] * factor
