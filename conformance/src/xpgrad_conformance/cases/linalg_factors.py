"""Cases of factorizations: unique properties of the factors, independent of signs, phases and bases."""

from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Case, Input

SQUARE, WIDE, TALL = (3, 3), (3, 5), (5, 3)
REGULAR, REGULAR_WIDE = Input((3, 3), diagonal=5.0), Input((3, 5), diagonal=5.0)


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.matrix_transpose(xp.conj(x))


def _h(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def _gram(xp: Any, x: Any) -> Any:
    """Return a Hermitian matrix of full rank from a wide matrix."""
    return xp.matmul(x, _adjoint(xp, x))


def _hermitian(xp: Any, x: Any) -> Any:
    x = xp.asarray(x)  # so that `+` is the operator of Variable
    return 0.5 * (x + _adjoint(xp, x))


def _case(
    name: str, call: Any, reference: Any, *inputs: Any, order: int = 2, complex: bool = True, dtype: Any = None
) -> Case:
    return Case(f"linalg.{name}", call, reference, inputs, None, order, complex=complex, dtype=dtype)


def _lower(a: Any) -> Any:
    """Return lower Cholesky factors, column by column."""
    y = np.zeros_like(a)
    for j in range(a.shape[-1]):
        row = y[..., j, :j]
        y[..., j, j] = np.sqrt(a[..., j, j].real - np.sum(np.abs(row) ** 2, -1))
        below = a[..., j + 1 :, j] - np.einsum("...ik,...k->...i", y[..., j + 1 :, :j], np.conj(row))
        y[..., j + 1 :, j] = below / y[..., j, j][..., None]
    return y


CHOLESKY = (
    _case("cholesky", lambda xp, x: xp.linalg.cholesky(_gram(xp, x)), lambda x: _lower(x @ _h(x)), WIDE, order=3),
    _case("cholesky-upper", lambda xp, x: xp.linalg.cholesky(_gram(xp, x), upper=True), lambda x: _h(_lower(x @ _h(x))),
          (2, 3, 5)),
    _case("cholesky-one", {}, np.sqrt, Input((1, 1), low=0.5), complex=False),
)  # fmt: skip


def _signed(xp: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """Return the factors, with signs such that R has a positive diagonal."""
    signs = xp.sign(xp.linalg.diagonal(r))
    return q * signs[..., None, :], _turned(xp, signs, r)


def _turned(xp: Any, signs: Any, r: Any) -> Any:
    return xp.conj(signs)[..., :, None] * r


def _qr(x: Any) -> Any:
    """Return the factors, R with a positive diagonal, computed from Cholesky factors."""
    k = min(x.shape[-2:])
    first = x[..., :k]
    q = first @ np.linalg.inv(_h(_lower(_h(first) @ first)))
    return q, _h(q) @ x


def _complete(xp: Any, x: Any) -> tuple[Any, ...]:
    q, r = xp.linalg.qr(x, mode="complete")
    k = min(x.shape[-2:])
    q1, q2 = q[..., :k], q[..., k:]
    return (*_signed(xp, q1, r[..., :k, :]), xp.matmul(q2, _adjoint(xp, q2)))


def _complete_reference(x: Any) -> tuple[Any, ...]:
    q, r = _qr(x)
    return q, r, np.eye(x.shape[-2]) - q @ _h(q)


QR = (
    _case("qr", lambda xp, x: _signed(xp, *xp.linalg.qr(x)), _qr, REGULAR, order=3),
    _case("qr-tall", lambda xp, x: _signed(xp, *xp.linalg.qr(x)), _qr, TALL),
    _case("qr-wide", lambda xp, x: _signed(xp, *xp.linalg.qr(x)), _qr, REGULAR_WIDE),
    _case("qr-batch", lambda xp, x: _signed(xp, *xp.linalg.qr(x)), _qr, (2, 4, 3)),
    _case("qr-complete", _complete, _complete_reference, TALL),
    _case("qr-r", lambda xp, x: xp.abs(xp.linalg.qr(x).R), lambda x: np.abs(_qr(x)[1]), REGULAR_WIDE, dtype="real"),
    _case("qr-q", lambda xp, x: xp.abs(xp.linalg.qr(x).Q), lambda x: np.abs(_qr(x)[0]), WIDE, dtype="real"),
)


def _spectral(xp: Any, x: Any) -> Any:
    w, v = xp.linalg.eigh(_hermitian(xp, x))
    return w, xp.matmul(v * (w * w * w)[..., None, :], _adjoint(xp, v))


def _cube(x: Any) -> Any:
    a = 0.5 * (x + _h(x))
    return np.linalg.eigvalsh(a), a @ a @ a


def _components(xp: Any, v: Any) -> Any:
    """Return the squared moduli, which do not depend on the signs or phases of the columns."""
    return xp.real(v * xp.conj(v)) if xp.isdtype(v.dtype, "complex floating") else v * v


def _power_sums(xp: Any, w: Any) -> Any:
    """Return the sums of three eigenvalues, their squares and cubes, which determine them up to their order."""
    return xp.stack([xp.sum(w), xp.sum(w * w), xp.sum(w * w * w)])


def _in_any_order(xp: Any, w: Any, v: Any) -> Any:
    """Return functions of eigenvalues and moduli of eigenvectors that do not depend on their order."""
    powers = xp.stack([xp.real(w), xp.real(w * w), xp.real(w * w * w)], axis=1)
    return _power_sums(xp, w), xp.matmul(xp.real(v * xp.conj(v)), powers)


EIGEN = (
    _case("eigh", _spectral, _cube, SQUARE, order=3, dtype=("real", None)),
    _case("eigh-batch", _spectral, _cube, (2, 3, 3), order=1, dtype=("real", None)),
    _case(
        "eigh-vectors",
        lambda xp, x: _components(xp, xp.linalg.eigh(_hermitian(xp, x)).eigenvectors),
        lambda x: np.abs(np.linalg.eigh(0.5 * (x + _h(x)))[1]) ** 2,
        SQUARE,
        dtype="real",
    ),
    _case(
        "eigvalsh",
        lambda xp, x: xp.linalg.eigvalsh(_hermitian(xp, x)),
        lambda x: np.linalg.eigvalsh(0.5 * (x + _h(x))),
        SQUARE,
        order=3,
        dtype="real",
    ),
    _case(
        "eig-vectors",
        lambda xp, x: _in_any_order(xp, *xp.linalg.eig(x)),
        lambda x: _in_any_order(np, *(part + 0j for part in np.linalg.eig(x))),
        SQUARE,
        dtype=("complex", "real"),
    ),
    _case("eig-cube", lambda xp, x: _rebuilt(xp, x), lambda x: x @ x @ x + 0j, (2, 3, 3), dtype="complex"),
    _case(
        "eigvals",
        lambda xp, x: _power_sums(xp, xp.linalg.eigvals(x)),
        lambda x: _power_sums(np, np.linalg.eigvals(x) + 0j),
        SQUARE,
        order=3,
        dtype="complex",
    ),
    _case("eigvals-batch", lambda xp, x: xp.sum(xp.linalg.eigvals(x), axis=-1), lambda x: np.trace(x.T) + 0j,
          (2, 3, 3), dtype="complex"),
)  # fmt: skip


def _rebuilt(xp: Any, x: Any) -> Any:
    w, v = xp.linalg.eig(x)
    return xp.matmul(v * (w * w * w)[..., None, :], xp.linalg.inv(v))


def _svd(xp: Any, x: Any, full: bool) -> Any:
    """Return singular values, the matrix with their cubes, and a projection."""
    u, s, vh = xp.linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    cubed = xp.matmul(u[..., :k] * (s * s * s)[..., None, :], vh[..., :k, :])
    if not full:
        return s, cubed, xp.matmul(u, vh)
    more_u, more_v = u[..., k:], vh[..., k:, :]
    tall = x.shape[-2] > k
    return s, cubed, xp.matmul(more_u, _adjoint(xp, more_u)) if tall else xp.matmul(_adjoint(xp, more_v), more_v)


def _svd_reference(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return s, x @ _h(x) @ x, u @ vh


def _full_reference(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    tall = x.shape[-2] > s.shape[-1]
    return s, x @ _h(x) @ x, np.eye(x.shape[-2]) - u @ _h(u) if tall else np.eye(x.shape[-1]) - _h(vh) @ vh


PARTS = ("real", None, None)
SINGULAR = (
    _case("svd", lambda xp, x: _svd(xp, x, False), _svd_reference, SQUARE, order=3, dtype=PARTS),
    _case("svd-tall", lambda xp, x: _svd(xp, x, False), _svd_reference, TALL, dtype=PARTS),
    _case("svd-wide", lambda xp, x: _svd(xp, x, False), _svd_reference, WIDE, dtype=PARTS),
    _case("svd-batch", lambda xp, x: _svd(xp, x, False), _svd_reference, (2, 3, 2), order=1, dtype=PARTS),
    _case("svd-full-tall", lambda xp, x: _svd(xp, x, True), _full_reference, TALL, dtype=PARTS),
    _case("svd-full-wide", lambda xp, x: _svd(xp, x, True), _full_reference, WIDE, dtype=PARTS),
    _case("svd-vectors", lambda xp, x: (_components(xp, xp.linalg.svd(x).U), _components(xp, xp.linalg.svd(x).Vh)),
          lambda x: (np.abs(np.linalg.svd(x)[0]) ** 2, np.abs(np.linalg.svd(x)[2]) ** 2), SQUARE,
          dtype=("real", "real")),
    _case("svdvals", {}, lambda x: np.linalg.svd(x)[1], TALL, order=3, dtype="real"),
)  # fmt: skip


def _pinv_reference(x: Any) -> Any:
    gram = np.linalg.inv(_h(x) @ x if x.shape[-2] >= x.shape[-1] else x @ _h(x))
    return gram @ _h(x) if x.shape[-2] >= x.shape[-1] else _h(x) @ gram


PSEUDO = (
    Case("linalg.pinv", {}, _pinv_reference, (TALL,), ("x", "y"), 3, complex=True),
    _case("pinv-wide", {}, _pinv_reference, WIDE),
    _case("pinv-square", {}, np.linalg.inv, (2, 3, 3)),
    _case("pinv-rank", lambda xp, a, b: xp.linalg.pinv(xp.matmul(a, b), rtol=1e-3),
          lambda a, b: np.linalg.pinv(a @ b, 1e-3), (4, 2), (2, 3)),
    _case("matrix_rank", {}, lambda x: np.full(x.shape[:-2], min(x.shape[-2:])), (2, 3, 4), order=0, dtype="int"),
    _case("matrix_rank-rtol", {"rtol": 0.5}, lambda x: np.asarray(min(1, x.size)),
          Input(values=np.diag([4.0, 1.0, 2.0])), order=0, dtype="int"),
)  # fmt: skip

CASES = CHOLESKY + QR + EIGEN + SINGULAR + PSEUDO
