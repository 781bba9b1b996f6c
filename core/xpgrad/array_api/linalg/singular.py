"""Singular value decompositions, ranks and pseudo-inverses."""

import math
from typing import Any, NamedTuple

from xpgrad.array_api.linalg.checks import adjoint, epsilon, readable
from xpgrad.array_api.linalg.decomposition import Arrays, Targets
from xpgrad.array_api.linalg.limits import NAN
from xpgrad.array_api.linalg.spectral import Quotient, Spectral, difference, row, total
from xpgrad.array_api.shared.axes import matrices
from xpgrad.backend.checks import beside
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import primitive
from xpgrad.graph.sweep import Sweep
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import AnyArray, Array, Namespace


class SVDResult(NamedTuple):
    """Singular value decompositions: `U` with orthonormal columns, `S` descending, `Vh` with orthonormal rows."""

    U: Variable
    S: Variable
    Vh: Variable


class SVD(Spectral):
    """The singular value decomposition, a class because it has three outputs."""

    name = "svd"
    of_square = False
    keeps_outputs = (0, 1, 2)
    place = 1

    def __init__(self, full_matrices: bool) -> None:
        self.parameters = {"full_matrices": full_matrices}

    def quotients(self, xp: Namespace, gys: Arrays, ys: Arrays) -> list[Quotient]:
        """Return the numerators for rotations of pairs of vectors.

        Equal rotations of U and V are divided by differences of values, opposite rotations by sums. Rotations out of
        the spans of U and V, if there are any, are divided by the values.
        """
        (gu, _, gvh), (u, s, vh), is_complex = gys, ys, self.spec.complex
        k = s.shape[-1]
        alike: Any = None
        contrary: Any = None
        outsides = []
        if gu is not None:
            turning, outside = _turning(xp, u, gu, k, is_complex)
            alike = contrary = turning - adjoint(xp, turning, is_complex)
            outsides.append(outside)
        if gvh is not None:
            v, gv = adjoint(xp, vh, is_complex), adjoint(xp, gvh, is_complex)
            turning, outside = _turning(xp, v, gv, k, is_complex)
            skew = turning - adjoint(xp, turning, is_complex)
            alike, contrary = (skew, -skew) if alike is None else (alike + skew, contrary - skew)
            outsides.append(outside)
        found = [Quotient(alike, difference, False), Quotient(contrary, total, is_complex)]
        return found + [Quotient(outside, row, True) for outside in outsides if outside is not None]

    def largest(self, xp: Namespace, values: Array) -> Array:
        """Return the first singular value."""
        return values[..., :1]

    def small(self, xp: Namespace, values: Array, largest: Array) -> Array | None:
        """Return a mask of the singular values that are nearly 0, or None if the rule divides by none of them."""
        rows, columns = self.spec.shape[-2:]
        if rows == columns and not self.spec.complex:
            return None
        return values <= epsilon(self.spec) ** 0.5 * largest

    def has_tangents(self, outputs: tuple[Variable, ...]) -> bool:
        """Return whether no values are equal, nearly equal or 0, where also functions of the values have a kink."""
        s = as_array(outputs[1])
        return not math.prod(s.shape) or (
            super().has_tangents(outputs) and (not readable(s, self.spec) or self._zeros(s) is None)
        )

    def sizes(self, xp: Namespace, gys: Arrays) -> Array:
        """Return the sums of the lengths of the cotangents of each pair of vectors."""
        (gu, _, gvh), k = gys, min(self.spec.shape[-2:])
        left: Any = None if gu is None else xp.linalg.vector_norm(gu[..., :k], axis=-2)
        right: Any = None if gvh is None else xp.linalg.vector_norm(gvh[..., :k, :], axis=-1)
        return (right if left is None else left if right is None else left + right)[..., None, :]

    def turned(self, xp: Namespace, ys: Arrays, turn: Array) -> list[Any]:
        """Return the change of the vectors; left and right vectors of values 0 are rotated by different amounts."""
        u, s, vh = ys
        k = s.shape[-1]
        bound = 2.0 * epsilon(self.spec) * max(self.spec.shape[-2:]) * s[..., :1, None]
        other = xp.where(total(xp, s) <= bound, -2.0 * turn, turn)
        left = xp.matmul(u[..., :k], turn)
        right = xp.matmul(adjoint(xp, other, self.spec.complex), vh[..., :k, :])
        if u.shape[-1] > k:
            left = xp.concat([left, xp.zeros_like(u[..., k:])], axis=-1)
        if vh.shape[-2] > k:
            right = xp.concat([right, xp.zeros_like(vh[..., k:, :])], axis=-2)
        return [left, None, right]

    def rule(
        self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets, sweep: Sweep | None = None
    ) -> Arrays:
        """Return the gradient of the matrices: ``U1 (core + diag(gs)) V1^H`` and the terms out of their ranges."""
        (gu, gs, gvh), (u, s, vh), is_complex = gys, ys, self.spec.complex
        k = s.shape[-1]
        u1, vh1 = u[..., :k], vh[..., :k, :]
        zero = self._zeros(as_array(s))
        if gu is None and gvh is None:
            return (xp.matmul(u1 * _without_kinks(xp, gs, s, zero)[..., None, :], vh1),)
        alike, contrary, *outsides = self.divided(xp, gys, ys, sweep)
        left = xp.matmul(u1, 0.5 * (alike + contrary))
        if gs is not None:
            left = left + u1 * gs[..., None, :]
        if gu is not None and self._leaves(u, k):
            left = left + outsides.pop(0)
        if zero is not None and gu is not None and gvh is not None:
            left = left * self._jumps(gys, ys, zero)
        gx = xp.matmul(left, vh1)
        return (gx + xp.matmul(u1, adjoint(xp, outsides[0], is_complex)) if outsides else gx,)

    def _zeros(self, s: Array) -> Any:
        """Return a mask of the singular values that are 0 up to rounding, or None if all are known to be nonzero."""
        bound = epsilon(self.spec) * max(self.spec.shape[-2:]) * s[..., :1]
        if readable(s, self.spec) and not self.spec.backend.any_true(s[..., -1:] <= bound):
            return None
        return s <= bound

    @staticmethod
    def _leaves(u: Array, k: int) -> bool:
        """Return whether directions outside the span of the first `k` columns exist."""
        return bool(u.shape[-2] > k)

    def _jumps(self, gys: Arrays, ys: Arrays, zero: Array) -> Array:
        """Return NaN as a row where a function jumps at a singular value 0, else 1.

        A pair of vectors there is determined up to a common sign. A function that is linear in both, such as ``U V^H``,
        has cotangents with equal components along them; the cotangents of ``U diag(S) V^H`` vanish.
        """
        kernels = self.spec.backend.xp
        (gu, _, gvh), (u, _, vh) = map(as_array, gys), map(as_array, ys)
        k = zero.shape[-1]
        left = kernels.sum(kernels.real(kernels.conj(u[..., :k]) * gu[..., :k]), axis=-2)
        right = kernels.sum(kernels.real(kernels.conj(vh[..., :k, :]) * gvh[..., :k, :]), axis=-1)
        bound = epsilon(self.spec) ** 0.5 * kernels.max(kernels.abs(left), axis=-1, keepdims=True)
        jump = zero & (kernels.abs(left) > bound) & (kernels.abs(left - right) <= bound)
        return kernels.where(jump, kernels.full_like(left, NAN), 1.0)[..., None, :]


def _without_kinks(xp: Namespace, gs: Any, s: Any, zero: Any) -> Any:
    """Return the gradient of singular values, replaced at the kink where a value is 0 by 0, without a derivative.

    A gradient that is already 0 there, as for the sum of squares, is not replaced: its derivative may not be 0.
    """
    if zero is None:
        return gs
    plain = as_array(gs)
    kernels = plugins.backend_of(plain).xp
    size = kernels.abs(plain)
    kink = zero & (size > 1e-3 * kernels.max(size, axis=-1, keepdims=True))
    return gs * xp.cornered(kernels.ones_like(size), kink, s)


def _turning(xp: Namespace, u: Array, gu: Array, k: int, is_complex: bool) -> tuple[Array, Any]:
    """Return the rotation by `gu` of the first k columns of `u` within their span, and out of it, or None."""
    u1, gu1 = u[..., :k], gu[..., :k]
    turning = xp.matmul(adjoint(xp, u1, is_complex), gu1)
    if u.shape[-1] > k:
        # A rotation of the other columns towards the first k rotates these by as much, the other way.
        u2, gu2 = u[..., k:], gu[..., k:]
        mixed = adjoint(xp, xp.matmul(adjoint(xp, u1, is_complex), gu2), is_complex)
        return turning, xp.matmul(u2, xp.matmul(adjoint(xp, u2, is_complex), gu1) - mixed)
    return turning, gu1 - xp.matmul(u1, turning) if u.shape[-2] > k else None


def svd(x: AnyArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Return singular value decompositions of matrices, ``x = U diag(S) Vh``.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
    full_matrices : bool
        True: U has shape (..., M, M) and Vh (..., N, N). False: (..., M, K) and (..., K, N), K the smaller of M and N.

    Returns
    -------
    SVDResult
        Named tuple of `U`, `S` and `Vh`; S has shape (..., K) and is real and descending.

    Notes
    -----
    A pair of singular vectors may be multiplied by a sign, or by any phase if it is complex; singular vectors of equal
    singular values, and singular vectors beyond K, may be any orthonormal basis. The gradient is valid for functions
    which do not depend on the choice, and for equal singular values, nearly equal singular values and 0 as for `eigh`:
    ``U diag(S) Vh`` has the gradient of the identity at every matrix. A function that jumps where a singular value is
    0, such as ``U Vh``, has NaN there. If only singular values are used, a singular value 0 is a kink, as for the
    modulus, and has the derivative 0. See Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex valued SVD"
    (2019).
    """
    return SVDResult(*SVD(full_matrices).apply((x,)))


def svdvals(x: AnyArray, /) -> Variable:
    """Return the singular values of matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
        Shapes and gradients are the same as for the singular values of `svd`.

    Returns
    -------
    Variable, shape (..., K), real and descending; K is the smaller of M and N
    """
    return svd(x, full_matrices=False).S


def _tolerance(xp: Namespace, x: Array, rtol: Any, function: str) -> Any:
    """Return `rtol`, converted to the library of `x` if it is an array."""
    return rtol if rtol is None or plugins.is_scalar(rtol) else beside(xp.spec_of(x), rtol, function)


@primitive(extension="linalg")
def matrix_rank(xp: Namespace, x: AnyArray, /, *, rtol: Any = None) -> Array:
    """The number of singular values of matrices that are not negligible; it has no gradient.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
    rtol : float, or Variable or array of shape (...), or None
        Singular values up to `rtol` times the largest one are negligible. By default the larger of M and N times the
        precision of the dtype.

    Returns
    -------
    Variable, shape (...), integer
    """
    matrices(x, "matrix_rank")
    return xp.linalg.matrix_rank(x, rtol=_tolerance(xp, x, rtol, "matrix_rank"))


def _pinv_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec) -> Array:
    # G. H. Golub and V. Pereyra (1973): with P the pseudo-inverse and G the gradient,
    # gx = -P^H G P^H + (I - x P) G^H P P^H + P^H P G^H (I - P x), multiplied in the order of the smallest products.
    is_complex = x_spec.complex
    if is_complex:
        gy = xp.conj(gy)
    adjoint_y, adjoint_gy = adjoint(xp, y, is_complex), adjoint(xp, gy, is_complex)
    first = xp.matmul(adjoint_y, xp.matmul(gy, adjoint_y))
    if x_spec.shape[-2] >= x_spec.shape[-1]:
        rows = xp.matmul(adjoint_gy, xp.matmul(y, adjoint_y))
        rows = rows - xp.matmul(x, xp.matmul(y, rows))
        columns = xp.matmul(adjoint_y, xp.matmul(y, adjoint_gy))
        columns = columns - xp.matmul(columns, xp.matmul(y, x))
    else:
        rows = xp.matmul(xp.matmul(adjoint_gy, y), adjoint_y)
        rows = rows - xp.matmul(xp.matmul(x, y), rows)
        columns = xp.matmul(xp.matmul(adjoint_y, y), adjoint_gy)
        columns = columns - xp.matmul(xp.matmul(columns, y), x)
    gx = rows + columns - first
    return xp.conj(gx) if is_complex else gx


@primitive(extension="linalg", x=_pinv_rule)
def pinv(xp: Namespace, x: AnyArray, /, *, rtol: Any = None) -> Array:
    """Moore-Penrose pseudo-inverses of matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, N), floating-point
    rtol : float, or Variable or array of shape (...), or None
        Singular values up to `rtol` times the largest one are treated as 0. By default the larger of M and N times the
        precision of the dtype. It has no gradient.

    Returns
    -------
    Variable, shape (..., N, M)

    Notes
    -----
    The pseudo-inverse is discontinuous where the rank changes; the gradient is that for changes of the same rank.
    """
    matrices(x, "pinv")
    return xp.linalg.pinv(x, rtol=_tolerance(xp, x, rtol, "pinv"))
