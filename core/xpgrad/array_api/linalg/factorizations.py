"""Factorizations with triangular factors: Cholesky and QR."""

from typing import Any, Literal, NamedTuple

from xpgrad.array_api.linalg.checks import EXPECTED, adjoint, epsilon, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.array_api.linalg.limits import NAN
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import AnyArray, Array, Namespace


class QRResult(NamedTuple):
    """Factors of matrices: `Q` with orthonormal columns, `R` upper triangular."""

    Q: Variable
    R: Variable


@primitive(linear=("x",), extension="linalg", x=lambda xp, gy: xp.linalg.lower_half(gy))
def lower_half(xp: Namespace, x: AnyArray, /) -> Array:
    """The lower triangles of square matrices, with half their diagonals."""
    size = x.shape[-1]
    weights = xp.tril(xp.ones((size, size), dtype=x.dtype, device=xp.device_of(x)))
    on = weights != 0
    weights = weights - 0.5 * xp.eye(size, dtype=x.dtype, device=xp.device_of(x))
    return xp.where(on, x, xp.zeros_like(x)) * weights


def _cholesky_rule(xp: Namespace, gy: Array, y: Array, x_spec: Spec, upper: bool) -> Array:
    # With the lower factor L: gx = inv(L)^T H conj(inv(L)), H the Hermitian part of lower_half(L^T gy) (Murray 2016).
    if not x_spec.size:
        return xp.zeros_like(y)
    is_complex = x_spec.complex
    if upper:
        y, gy = adjoint(xp, y, is_complex), adjoint(xp, gy, is_complex)
    inverse = xp.linalg.inv(y)
    half = xp.linalg.lower_half(xp.matmul(xp.matrix_transpose(y), gy))
    hermitian = 0.5 * (half + adjoint(xp, half, is_complex))
    right = xp.conj(inverse) if is_complex else inverse
    return xp.matmul(xp.matmul(xp.matrix_transpose(inverse), hermitian), right)


@primitive(extension="linalg", x=_cholesky_rule)
def cholesky(xp: Namespace, x: AnyArray, /, *, upper: bool = False) -> Array:
    """Triangular factors of Hermitian positive definite matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point
        Assumed Hermitian; libraries read one triangle. The gradient is that with respect to the Hermitian part, and
        Hermitian itself.
    upper : bool
        Return U with ``U^H U = x`` instead of L with ``L L^H = x``.

    Returns
    -------
    Variable, shape (..., M, M)

    Raises
    ------
    SingularMatrix
        A matrix is not positive definite.

    Notes
    -----
    The gradient is in I. Murray, "Differentiation of the Cholesky decomposition" (2016), section 4.
    """
    square(x, "cholesky")
    y = xp.linalg.cholesky(x, upper=upper)
    return xp.triu(y) if upper and xp.spec_of(x).complex else y  # adjoints have -0.0 below the diagonal


class QR(Decomposition):
    """The QR factorization, a class because it has two outputs."""

    name = "qr"
    of_square = False
    keeps_outputs = (0, 1)

    def __init__(self, mode: str) -> None:
        self.parameters = {"mode": mode}

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return the gradient of the matrices.

        The first K columns, K the smaller of M and N, have a square or tall factorization ``x1 = q1 r1``; the other
        columns of x are ``q1 r2``, and the other columns of Q are orthogonal to `q1`.
        """
        (gq, gr), (q, r), is_complex = gys, ys, self.spec.complex
        rows, columns = self.spec.shape[-2:]
        k = min(rows, columns)
        q1, r1, gq1, gr1, gx2 = q[..., :k], r[..., :k, :k], None, None, None
        if gq is not None:
            gq1 = gq[..., :k]
            if q.shape[-1] > k:  # a rotation of q2 towards q1 rotates q1 by as much, the other way
                q2 = q[..., k:]
                mixed = adjoint(xp, xp.matmul(adjoint(xp, q1, is_complex), gq[..., k:]), is_complex)
                gq1 = gq1 - xp.matmul(q2, mixed)
        if gr is not None:
            gr1 = gr[..., :k, :k]
            if columns > k:
                r2, gr2 = r[..., :k, k:], gr[..., :k, k:]
                turned = xp.matmul(q1, xp.matmul(r2, adjoint(xp, gr2, is_complex)))
                gq1 = turned if gq1 is None else gq1 + turned
                gx2 = xp.matmul(q1, gr2)
        elif columns > k:
            gx2 = xp.zeros_like(r[..., :k, k:])
        gx1 = _tall(xp, q1, r1, gq1, gr1, is_complex)
        return (gx1 if gx2 is None else xp.concat([gx1, gx2], axis=-1),)

    def push(self, xp: Namespace, xs: tuple[Array, ...], ts: Arrays) -> tuple[Arrays, Arrays] | None:
        """Return the factors, and their tangents from ``T = q^H t r^-1``: that of R is ``U r``, U the upper part of T.

        U has the adjoint of the rest added, so that the tangent of Q, ``t r^-1 - q U``, is q times a skew matrix, and
        what is orthogonal to q.
        """
        (x,), (t,) = xs, ts
        if 0 in x.shape:
            return None
        q, r = ys = self._forward(xs)
        is_complex, k = xp.backend.is_kind(x.dtype, "complex floating"), min(x.shape[-2:])
        q1, r1 = q[..., :k], r[..., :k, :k]
        back = adjoint(xp, q1, is_complex)
        try:
            solved = xp.linalg.solve(adjoint(xp, r1, is_complex), adjoint(xp, t[..., :k], is_complex))
        except EXPECTED:  # dependent columns, of which the transposition says so
            return None
        along = adjoint(xp, solved, is_complex) * _dependent(r1)
        turned = xp.matmul(back, along)
        upper = adjoint(xp, xp.linalg.lower_half(turned + adjoint(xp, turned, is_complex)), is_complex)
        tq, tr = along - xp.matmul(q1, upper), xp.matmul(upper, r1)
        if x.shape[-1] > k:
            moved = xp.matmul(back, t[..., k:]) - xp.matmul(turned - upper, r[..., :k, k:])
            tr = xp.concat([tr, moved], axis=-1)
        if q.shape[-1] > k:
            q2 = q[..., k:]
            other = xp.matmul(q1, xp.matmul(adjoint(xp, tq, is_complex), q2))
            tq = xp.concat([tq, xp.negative(other)], axis=-1)
            tr = xp.concat([tr, xp.zeros_like(r[..., k:, :])], axis=-2)
        return ys, (tq, tr)


def _tall(xp: Namespace, q: Array, r: Array, gq: Any, gr: Any, is_complex: bool) -> Array:
    """Return the gradient of ``x = q r`` with as many columns as r.

    With ``T = q^H gq - gr r^H`` it is ``(gq + q (lower_half(T - T^H) - T)) r^-H``.
    """
    difference: Any = 0.0
    if gq is not None:
        difference = xp.matmul(adjoint(xp, q, is_complex), gq)
    if gr is not None:
        difference = difference - xp.matmul(gr, adjoint(xp, r, is_complex))
    skew = difference - adjoint(xp, difference, is_complex)
    inner = xp.matmul(q, xp.linalg.lower_half(skew) - difference)
    left = inner if gq is None else gq + inner
    return adjoint(xp, xp.linalg.solve(r, adjoint(xp, left, is_complex)), is_complex) * _dependent(r)


def _dependent(r: Any) -> Array:
    """Return NaN for matrices in which a column depends on earlier columns up to rounding, else 1."""
    plain = as_array(r)
    backend = plugins.backend_of(plain)
    kernels, spec = backend.xp, backend.spec(plain)
    sizes = kernels.linalg.vector_norm(plain, axis=-2)
    ends = kernels.abs(kernels.linalg.diagonal(plain))
    found = kernels.any(ends <= epsilon(spec) * spec.shape[-1] * sizes, axis=-1)[..., None, None]
    return kernels.where(found, NAN, kernels.ones(found.shape, dtype=sizes.dtype, device=spec.device))


def qr(x: AnyArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return factors of matrices, ``x = Q R``.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
    mode : str
        "reduced": Q has shape (..., M, K) and R (..., K, N), K the smaller of M and N. "complete": (..., M, M) and
        (..., M, N).

    Returns
    -------
    QRResult
        Named tuple of `Q` and `R`.

    Raises
    ------
    SingularMatrix
        In the backward computation: the first K columns of a matrix are linearly dependent, so that its factors have no
        derivative. Where they are so up to rounding, the gradient is NaN.

    Notes
    -----
    In the complete mode the columns of Q beyond K are any basis of the complement; the gradient is valid for functions
    which do not depend on the choice. See S. F. Walter, L. Lehmann and R. Lamour, "On evaluating higher-order
    derivatives of the QR decomposition of tall matrices with full column rank" (2012), for the first K.
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: expected mode 'reduced' or 'complete', got {mode!r}")
    return QRResult(*QR(mode).apply((x,)))
