"""NumPy's least squares, condition numbers and equations of tensors, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

import math
from typing import Any

from xpgrad import array_api as xp
from xpgrad.array_api.data_types import to_floating
from xpgrad.array_api.elementwise.magnitude import squared_modulus
from xpgrad.array_api.linalg.solving import inv_or_nan
from xpgrad.errors import BatchError, ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import alike, numpy_function
from xpgrad.types import integers


@numpy_function("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Return the least-squares solution, residuals, rank and singular values, as in NumPy.

    Parameters
    ----------
    a : Variable or array, shape (M, N)
    b : Variable or array, shape (M,) or (M, K)
    rcond : float or None
        Singular values up to `rcond` times the largest count as 0.

    Returns
    -------
    x : Variable, shape (N,) or (N, K)
        The solution of least norm, with the derivatives of ``pinv(a) @ b``. If the rank is less than M and N, these are
        taken among matrices of the same rank, because the solution is discontinuous where the rank changes.
    residuals : Variable, shape (1,) or (K,)
        Sums of squares of ``a @ x - b``; shape (0,) unless the rank is N and M is larger.
    rank : int
        In `vmap` it is a Variable, and residuals that NumPy would leave out are NaN.
    s : Variable, shape (min(M, N),)
    """
    a, b = (to_floating(x) for x in alike(a, b))
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ShapeError(f"numpy.linalg.lstsq: expected shapes (M, N) and (M,) or (M, K), got {a.shape} and {b.shape}")
    rows, columns = a.shape
    precision = float(a.node.spec.backend.namespace.finfo(xp.real(a).dtype if a.node.spec.complex else a.dtype).eps)
    tolerance = precision * max(rows, columns) if rcond is None else precision if rcond < 0 else rcond
    s = xp.linalg.svdvals(a)
    rank: Any = _known(xp.count_nonzero(s > tolerance * s[:1])) if s.size else 0
    x = xp.matmul(xp.linalg.pinv(a, rtol=float(tolerance)), b) if a.size else _empty_solution(a, b)
    residuals = xp.reshape(xp.sum(squared_modulus(b - xp.matmul(a, x)), axis=0), shape=(-1,))
    if isinstance(rank, Variable) and columns < rows:
        return x, xp.where(rank == columns, residuals, math.nan), rank, s
    return x, residuals if columns < rows and rank == columns else residuals[:0], rank, s


def _known(rank: Variable) -> Any:
    """Return the rank as an int; unchanged in `vmap`, where each batch element has a rank."""
    try:
        return int(rank)
    except BatchError:
        return rank


def _empty_solution(a: Variable, b: Variable) -> Any:
    """Return the solution for zero equations or zero unknowns, which is zeros."""
    spec = (a if a.node.spec.complex else b).node.spec
    zeros = spec.backend.namespace.zeros((a.shape[1], *b.shape[1:]), dtype=spec.dtype, device=spec.device)
    return as_variable(zeros)


@numpy_function("linalg.cond")
def cond(x: Any, p: Any = None) -> Any:
    """Return condition numbers of matrices in the norm `p`, infinite for singular ones, as are the derivatives."""
    x = to_floating(x)
    if x.ndim < 2 or not x.shape[-1] or not x.shape[-2]:
        raise ShapeError(f"numpy.linalg.cond: expected matrices with elements, got shape {x.shape}")
    if p in (None, 2, -2):
        s = xp.linalg.svdvals(x)
        largest, smallest = (s[..., -1], s[..., 0]) if p == -2 else (s[..., 0], s[..., -1])
        singular = smallest == 0
        ratio = largest / xp.where(singular, 1.0, smallest)
    else:
        inverse = inv_or_nan(x)
        singular = xp.any(xp.isnan(inverse), axis=(-2, -1))
        identity = x.__array_namespace__().eye(x.shape[-1], dtype=x.dtype, device=x.device)
        regular = xp.where(singular[..., None, None], identity, x)
        ratio = xp.linalg.matrix_norm(regular, ord=p) * xp.linalg.matrix_norm(xp.linalg.inv(regular), ord=p)
    singular = singular & ~xp.any(xp.isnan(x), axis=(-2, -1))
    return xp.where(singular, _infinite(x, singular), ratio)


def _infinite(x: Variable, where: Variable) -> Any:
    """Return inf with infinite derivatives where `where` is true, else 1."""
    size = xp.sum(xp.real(x) if x.node.spec.complex else x, axis=(-2, -1))
    one = xp.exp(size - size.detach())
    return one * xp.where(where, math.inf, xp.ones_like(one.detach()))


@numpy_function("linalg.tensorinv")
def tensorinv(a: Any, ind: int = 2) -> Any:
    a = as_variable(a)
    if ind <= 0:
        raise ValueError(f"numpy.linalg.tensorinv: expected a positive ind, got {ind}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    inverse = xp.linalg.inv(xp.reshape(a, shape=(math.prod(rows), -1)))
    return xp.reshape(inverse, shape=columns + rows)


@numpy_function("linalg.tensorsolve")
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = alike(a, b)
    if axes is not None:
        moved = [axis % a.ndim for axis in integers(axes, "tensorsolve")]
        a = xp.permute_dims(a, axes=[i for i in range(a.ndim) if i not in moved] + moved)
    shape = a.shape[b.ndim :]
    if math.prod(shape) != b.size:
        raise ShapeError(
            f"numpy.linalg.tensorsolve: expected a square map of {b.size} elements, got shapes {a.shape} and {b.shape}"
        )
    return xp.reshape(xp.linalg.solve(xp.reshape(a, shape=(b.size, b.size)), xp.reshape(b, shape=(-1,))), shape=shape)
