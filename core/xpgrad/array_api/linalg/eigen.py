"""Eigenvalues and eigenvectors, of Hermitian matrices and of general matrices."""

from typing import Any, NamedTuple

from xpgrad.array_api.linalg.checks import adjoint, epsilon
from xpgrad.array_api.linalg.decomposition import Arrays, Targets
from xpgrad.array_api.linalg.limits import NAN
from xpgrad.array_api.linalg.spectral import Quotient, Spectral, conjugate_difference, difference
from xpgrad.graph.sweep import Sweep
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import AnyArray, Array, Namespace


class EighResult(NamedTuple):
    """Real eigenvalues, in ascending order, and orthonormal eigenvectors, as columns."""

    eigenvalues: Variable
    eigenvectors: Variable


class EigResult(NamedTuple):
    """Complex eigenvalues, in no particular order, and eigenvectors of length 1, as columns."""

    eigenvalues: Variable
    eigenvectors: Variable


class Eigh(Spectral):
    """The decomposition of Hermitian matrices, a class because it has two outputs."""

    name = "eigh"

    def quotients(self, xp: Namespace, gys: Arrays, ys: Arrays) -> list[Quotient]:
        """Return twice the antihermitian part of ``V^H gV``, to be divided by the gaps."""
        (_, gv), (_, v), is_complex = gys, ys, self.spec.complex
        turning = xp.matmul(adjoint(xp, v, is_complex), gv)
        return [Quotient(turning - adjoint(xp, turning, is_complex), difference, False)]

    def turned(self, xp: Namespace, ys: Arrays, turn: Array) -> list[Any]:
        """Return the change of the eigenvectors."""
        return [None, xp.matmul(ys[1], turn)]

    def rule(
        self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets, sweep: Sweep | None = None
    ) -> Arrays:
        """Return ``V (diag(gw) + H) V^H``, H the antihermitian part of ``V^H gV`` divided by the gaps."""
        (gw, gv), (_, v) = gys, ys
        left: Any = 0.0
        if gv is not None:
            (twice,) = self.divided(xp, gys, ys, sweep)
            left = xp.matmul(v, 0.5 * twice)
        if gw is not None:
            left = left + v * gw[..., None, :]
        return (xp.matmul(left, adjoint(xp, v, self.spec.complex)),)


class Eig(Spectral):
    """The decomposition of any square matrices, a class because it has two outputs."""

    name = "eig"

    def quotients(self, xp: Namespace, gys: Arrays, ys: Arrays) -> list[Quotient]:
        """Return ``V^H gV'``, to be divided by the conjugate gaps; gV' is gV without changes of lengths."""
        (_, gv), (_, v) = gys, ys
        turning = xp.matmul(adjoint(xp, v, True), _across(xp, v, gv))
        return [Quotient(turning, conjugate_difference, False)]

    def turned(self, xp: Namespace, ys: Arrays, turn: Array) -> list[Any]:
        """Return the change of the eigenvectors without the change of their lengths."""
        return [None, _across(xp, ys[1], xp.matmul(ys[1], turn))]

    def rule(
        self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets, sweep: Sweep | None = None
    ) -> Arrays:
        """Return ``V^-H (diag(gw) + V^H gV' / conj(gaps)) V^H``, NaN where the eigenvectors are nearly dependent."""
        (gw, gv), (_, v) = gys, ys
        adjoint_v = adjoint(xp, v, True)
        inner: Any = None
        if gv is not None:
            (half,) = self.divided(xp, gys, ys, sweep)
            inner = xp.matmul(half, adjoint_v)
        if gw is not None:
            scaled = gw[..., :, None] * adjoint_v
            inner = scaled if inner is None else inner + scaled
        # Another adjoint: so `repeated` sees both contributions to v, which cancel for functions of the eigenvalues.
        inverse = xp.linalg.inv_or_nan(adjoint(xp, v, True))
        gx = xp.matmul(inverse, inner)
        kernels, known = self.spec.backend.xp, as_array(inverse)
        squares = kernels.sum(kernels.real(kernels.conj(known) * known), axis=(-2, -1))  # each eigenvector has length 1
        # Where the eigenvectors are so nearly dependent that half of the digits are lost:
        defective = ~(squares * (self.spec.shape[-1] * epsilon(self.spec)) <= 100.0)[..., None, None]
        return (xp.where(defective, NAN, gx if self.spec.complex else xp.real(gx)),)


def _across(xp: Namespace, v: Array, g: Array) -> Array:
    """Return `g` without its component that changes the lengths of the columns of `v`, which are 1."""
    return g - v * xp.sum(xp.real(xp.conj(v) * g), axis=-2, keepdims=True)


def eigh(x: AnyArray, /) -> EighResult:
    """Return eigenvalues and eigenvectors of Hermitian matrices, ``x = V diag(w) V^H``.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point
        Assumed Hermitian; libraries read one triangle. The gradient is that with respect to the Hermitian part, and
        Hermitian itself.

    Returns
    -------
    EighResult
        Named tuple of `eigenvalues`, shape (..., M), real and ascending, and `eigenvectors`, shape (..., M, M).

    Notes
    -----
    An eigenvector may be multiplied by a sign, or by any phase if it is complex, and the eigenvectors of equal
    eigenvalues may be any orthonormal basis. The gradient is valid for functions which do not depend on the choice,
    such as ``V diag(h(w)) V^H``, including equal or nearly equal eigenvalues, where it takes a few more sweeps through
    the graph that follows `eigh`, without hooks. For other functions it is NaN where eigenvalues are equal up to
    rounding. It is also NaN there if those sweeps are not possible: after ``retain_graph=False``, if that graph has
    functions that cannot be differentiated twice or hooks that change gradients, and where values cannot be read, as in
    graphs of dask or within `jax.jit`. Functions of eigenvalues need no additional sweeps; a function that treats equal
    eigenvalues differently, such as the largest eigenvalue, has a kink there, and gets the gradient for the computed
    basis. Second derivatives are correct at equal eigenvalues; third ones are NaN, or fourth ones if only eigenvalues
    are used. First derivatives keep half of their digits however close eigenvalues are; second derivatives may keep
    only one or two digits at gaps little above the square root of the precision (1e-7 in float64). See M. B. Giles,
    "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), section 3.1.
    """
    return EighResult(*Eigh().apply((x,)))


def eigvalsh(x: AnyArray, /) -> Variable:
    """Return the eigenvalues of Hermitian matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point
        Shapes and gradients are the same as for the eigenvalues of `eigh`.

    Returns
    -------
    Variable, shape (..., M), real and ascending
    """
    return eigh(x).eigenvalues


def eig(x: AnyArray, /) -> EigResult:
    """Return eigenvalues and eigenvectors of square matrices, ``x V = V diag(w)``.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    EigResult
        Named tuple of `eigenvalues`, shape (..., M), and `eigenvectors`, shape (..., M, M), both complex.

    Notes
    -----
    Eigenvectors have length 1, and any phase. The gradient is valid for functions which do not depend on the phases,
    and at equal eigenvalues as for `eigh`. The gradient is NaN for a matrix whose eigenvectors are dependent, or so
    nearly that half of the digits are lost. The order of the eigenvalues is chosen by the library; it may jump. See C.
    Boeddeker et al., "On the computation of complex-valued gradients with application to statistically optimum
    beamforming" (2017), section 4.19.
    """
    return EigResult(*Eig().apply((x,)))


def eigvals(x: AnyArray, /) -> Variable:
    """Return the eigenvalues of square matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point
        Shapes and gradients are the same as for the eigenvalues of `eig`.

    Returns
    -------
    Variable, shape (..., M), complex
    """
    return eig(x).eigenvalues
