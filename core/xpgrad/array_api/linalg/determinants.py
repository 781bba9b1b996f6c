"""Determinants, whose gradients are correct at singular matrices too."""

from typing import NamedTuple

from xpgrad.array_api.linalg.checks import adjoint, inverse_of, square
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, DeviceHandle, Namespace


class SlogdetResult(NamedTuple):
    """Determinants as `sign`, with modulus 1 or 0, and `logabsdet`, the logarithm of the modulus."""

    sign: Variable
    logabsdet: Variable


def _all_but_one(xp: Namespace, s: Array) -> Array:
    """Return the products of all other elements along the last axis."""
    before = xp.cumulative_prod(s, axis=-1, include_initial=True)[..., :-1]
    after = xp.flip(xp.cumulative_prod(xp.flip(s, axis=-1), axis=-1, include_initial=True)[..., :-1], axis=-1)
    return before * after


def _holds(xp: Namespace, conditions: Array) -> bool:
    """Return whether `conditions` are known to hold for all matrices; False while a function is traced."""
    return xp.backend.has_values(conditions) and bool(xp.all(conditions))


def _identity_where(xp: Namespace, singular: Array, x: Array, device: DeviceHandle) -> Array:
    """Return `x` with the identity in place of the matrices that are `singular`."""
    identity = xp.eye(x.shape[-1], dtype=x.dtype, device=device)
    return xp.where(singular[..., None, None], identity, x)


def _phase(xp: Namespace, u: Array, vh: Array) -> Array:
    return (xp.linalg.det(u) * xp.linalg.det(vh))[..., None, None]


def _conjugate(xp: Namespace, x: Array) -> Array:
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def _cofactors_by_svd(xp: Namespace, x: Array) -> Array:
    """Return the cofactors from the singular values, without a division."""
    u, s, vh = xp.linalg.svd(x)
    scaled = _conjugate(xp, u) * _all_but_one(xp, s)[..., None, :]
    return _phase(xp, u, vh) * xp.matmul(scaled, _conjugate(xp, vh))


def _changes_by_svd(xp: Namespace, g: Array, x: Array) -> Array:
    """Return the change of the cofactors along `g`: for a diagonal matrix, sums of products without two factors."""
    u, s, vh = xp.linalg.svd(x)
    conj_u, conj_vh = _conjugate(xp, u), _conjugate(xp, vh)
    inner = xp.matmul(xp.matmul(xp.matrix_transpose(conj_u), g), xp.matrix_transpose(conj_vh))
    size = s.shape[-1]
    on = xp.eye(size, dtype=s.dtype, device=xp.device_of(s)) != 0
    others = _all_but_one(xp, xp.where(on, xp.ones_like(s)[..., None, :], s[..., None, :]))  # of row i, without s_i
    others = xp.where(on, xp.zeros_like(others), others)
    line = xp.matmul(xp.astype(others, x.dtype), xp.linalg.diagonal(inner)[..., None])
    changes = xp.where(on, line, -others * xp.matrix_transpose(inner))
    return _phase(xp, u, vh) * xp.matmul(xp.matmul(conj_u, changes), conj_vh)


@primitive(extension="linalg", x=lambda xp, gy, x, d: xp.linalg.cofactor_changes(gy, x, d))
def cofactors(xp: Namespace, x: Array, d: Array, /) -> Array:
    """The cofactors of square matrices `x` whose determinants are `d`: the gradient of the determinant.

    ``d = det(x)`` is passed to avoid recomputing it, and is treated as a constant.
    """
    singular = d == 0
    if _holds(xp, ~singular):
        inverse = inverse_of(xp, x)
        if inverse is None:
            return _cofactors_by_svd(xp, x)
        return d[..., None, None] * xp.matrix_transpose(inverse)
    inverse = inverse_of(xp, _identity_where(xp, singular, x, xp.device_of(x)))
    if inverse is None:
        return _cofactors_by_svd(xp, x)
    regular = d[..., None, None] * xp.matrix_transpose(inverse)
    return xp.where(singular[..., None, None], _cofactors_by_svd(xp, x), regular)


def _third_order(xp: Namespace, gy: Array, g: Array, x: Array) -> Array:
    return xp.linalg.cofactor_derivatives(xp.stack([g, gy], axis=-3), x)


@primitive(extension="linalg", g=lambda xp, gy, x, d: xp.linalg.cofactor_changes(gy, x, d), x=_third_order)
def cofactor_changes(xp: Namespace, g: Array, x: Array, d: Array, /) -> Array:
    """The change of the cofactors of `x` along `g`: the second derivative of the determinant, as a map.

    ``d = det(x)`` is passed to avoid recomputing it.
    """
    if x.shape[-1] < 2:
        return xp.zeros_like(x)
    singular, device = d == 0, xp.device_of(x)
    inverse = inverse_of(xp, _identity_where(xp, singular, x, device))
    if inverse is None:
        return _changes_by_svd(xp, g, x)
    a = xp.matmul(inverse, g)
    change = xp.linalg.trace(a)[..., None, None] * inverse - xp.matmul(a, inverse)
    regular = d[..., None, None] * xp.matrix_transpose(change)
    divided = ~(
        singular | (_condition(xp, x, inverse) > xp.finfo(x.dtype).eps ** (-1 / 3))
    )  # or NaN, which svd rejects
    if _holds(xp, divided):
        return regular
    changes = _changes_by_svd(xp, g, _identity_where(xp, divided, x, device))
    overflown = ~xp.all(xp.isfinite(changes), axis=(-2, -1))  # products of the largest singular values may overflow
    divided = divided | (overflown & ~singular)
    return xp.where(divided[..., None, None], regular, changes)


def _condition(xp: Namespace, x: Array, inverse: Array) -> Array:
    """Return the condition numbers, which bound the growth of rounding errors when dividing by singular values."""
    return xp.linalg.vector_norm(x, axis=(-2, -1)) * xp.linalg.vector_norm(inverse, axis=(-2, -1))


@primitive(
    extension="linalg",
    reduction=(-2, -1),
    x=lambda xp, gy, x, y: gy[..., None, None] * xp.linalg.cofactors(x, y),
)
def det(xp: Namespace, x: AnyArray, /) -> Array:
    """Determinants of square matrices.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    Variable, shape (...)
        1 for an empty matrix.

    Notes
    -----
    The gradient, the matrix of cofactors, is correct at singular matrices too, and so are derivatives of any order.
    Near a singular matrix, first derivatives are as accurate as the library's `det` and `inv` agree: rounding errors
    grow with the condition unless both use the same factorization.
    """
    square(x, "det")
    return xp.linalg.det(x)


class Slogdet(Decomposition):
    """Sign and logarithm of determinants, a class because it has two outputs."""

    name = "slogdet"
    keeps_inputs = (0,)
    keeps_outputs = (0,)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return ``(glog + i Im(gsign conj(sign))) x^-H``."""
        (gsign, glog), (x,), (sign,), is_complex = gys, xs, ys, self.spec.complex
        factor = glog
        if is_complex and gsign is not None:
            turned = gsign * xp.conj(sign)
            turning = 0.5 * (turned - xp.conj(turned))
            factor = turning if factor is None else factor + turning
        if factor is None:
            return (None,)
        inverse = adjoint(xp, xp.linalg.inv_or_nan(x), is_complex)
        return (factor[..., None, None] * inverse,)

    def push(self, xp: Namespace, xs: tuple[Array, ...], ts: Arrays) -> tuple[Arrays, Arrays] | None:
        """Return the trace of ``x^-1 t`` as the tangent of the logarithm; the sign of a real matrix has none."""
        (x,), (t,) = xs, ts
        if xp.backend.is_kind(x.dtype, "complex floating"):
            return None
        ys = self._forward(xs)
        product = xp.multiply(xp.matrix_transpose(xp.linalg.inv_or_nan(x)), t)
        return ys, (None, xp.sum(product, axis=(-2, -1), keepdims=False, dtype=x.dtype))


def slogdet(x: AnyArray, /) -> SlogdetResult:
    """Return sign and logarithm of determinants of square matrices, which do not overflow.

    Parameters
    ----------
    x : Variable or array, shape (..., M, M), floating-point

    Returns
    -------
    SlogdetResult
        Named tuple of `sign`, shape (...), with the dtype of `x`, and `logabsdet`, shape (...), real. At a singular
        matrix they are 0 and minus infinity, and the gradient, which does not exist, is NaN. The sign of a real matrix
        is constant, so it has no gradient.
    """
    return SlogdetResult(*Slogdet().apply((x,)))
