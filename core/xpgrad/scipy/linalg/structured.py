"""Matrices with a given structure, polar decompositions and null spaces."""

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.checks import adjoint, epsilon
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import inexact, padded
from xpgrad.types import AnyArray


def block_diag(*arrs: AnyArray) -> Variable:
    """Return block-diagonal matrices with the given matrices as blocks.

    Parameters
    ----------
    arrs : Variables or arrays, shape (..., M, N), (N,) for one row or () for one element

    Returns
    -------
    Variable, with the sums of the rows and columns
    """
    if not arrs:
        raise ShapeError("block_diag: expected at least one matrix, got none")
    parts = as_variables("block_diag", *arrs)
    parts = [xpa.reshape(x, (1,) * (2 - x.ndim) + x.shape) for x in parts]
    dtype = parts[0].node.spec.backend.namespace.result_type(*(x.dtype for x in parts))
    lead = xpa.broadcast_shapes(*(x.shape[:-2] for x in parts))
    total, start, rows = sum(x.shape[-1] for x in parts), 0, []
    for x in parts:
        count, width = x.shape[-2:]
        x = xpa.broadcast_to(xpa.astype(x, dtype, copy=False), (*lead, count, width))
        rows.append(padded(x, len(lead) + 1, start, total - start - width))
        start += width
    return xpa.concat(rows, axis=-2)


def khatri_rao(a: AnyArray, b: AnyArray) -> Variable:
    """Return the Kronecker products of the columns of two matrices.

    Parameters
    ----------
    a : Variable or array, shape (..., M, K)
    b : Variable or array, shape (..., N, K)

    Returns
    -------
    Variable, shape (..., M * N, K)
    """
    a, b = as_variables("khatri_rao", a, b)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise ShapeError(f"khatri_rao: expected matrices with as many columns, got shapes {a.shape} and {b.shape}")
    product = a[..., :, None, :] * b[..., None, :, :]
    return xpa.reshape(product, (*product.shape[:-3], a.shape[-2] * b.shape[-2], a.shape[-1]))


def polar(a: AnyArray, side: str = "right") -> tuple[Variable, Variable]:
    """Return the factors of ``a = u p``: `u` with orthonormal columns or rows, `p` positive semidefinite.

    Parameters
    ----------
    a : Variable or array, shape (..., M, N), floating-point
    side : {"right", "left"}
        "left" is ``a = p u``.

    Returns
    -------
    u : Variable, shape (..., M, N)
    p : Variable, shape (..., N, N), or (..., M, M) for "left"
    """
    if side not in ("right", "left"):
        raise ValueError(f"polar: expected the side 'right' or 'left', got {side!r}")
    a = inexact(a, "polar")
    is_complex = a.node.spec.complex
    u, s, vh = xpa.linalg.svd(a, full_matrices=False)
    basis = adjoint(xpa, vh, is_complex) if side == "right" else u
    p = xpa.matmul(basis * s[..., None, :], adjoint(xpa, basis, is_complex))
    return xpa.matmul(u, vh), p


def null_space(A: AnyArray, rcond: float | None = None) -> Variable:
    """Return an orthonormal basis of the vectors that a matrix takes to 0.

    Parameters
    ----------
    A : Variable or array, shape (M, N), floating-point
    rcond : float, optional
        Singular values at most this, times the largest, count as 0; by default the precision times the larger of M
        and N.

    Returns
    -------
    Variable, shape (N, K)
        K depends on the values. The gradient is valid for functions that do not depend on the choice of the basis.
    """
    a = inexact(A, "null_space")
    if a.ndim != 2:
        raise ShapeError(f"null_space: expected a matrix, got shape {a.shape}")
    _, s, vh = xpa.linalg.svd(a, full_matrices=True)
    limit = epsilon(a.node.spec) * max(a.shape) if rcond is None else rcond
    rank = int(xpa.count_nonzero(s > limit * xpa.max(s))) if s.size else 0
    basis: Variable = adjoint(xpa, vh[rank:, :], a.node.spec.complex)
    return basis
