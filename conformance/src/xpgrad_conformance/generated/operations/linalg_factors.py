"""Factors of matrices: their product is the matrix, and they have the properties that they promise."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.matrices import (
    SIZES,
    adjoint,
    argument,
    hermitian,
    positive,
    rectangular,
    sizes,
    square,
    unitary,
)
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, operation
from xpgrad_conformance.generated.operations.linalg import bound, largest
from xpgrad_conformance.generated.sample import Argument, Sample

EVERY = (*FLOATS, *COMPLEX)
QUICK = "float32", "float64", "complex64"
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
WIDE = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}
SYMMETRIC = "ordinary", "large", "tiny", "diagonal"
RECTANGLES = (
    *((1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3), (4, 4), (9, 5), (5, 9)),
    *((17, 16), (8, 33), (65, 33), (33, 65)),
)


def _eye(n: int, like: Any) -> Any:
    return np.broadcast_to(np.eye(n), (*like.shape[:-2], n, n))


@operation("linalg.cholesky", EVERY, QUICK)
def _cholesky(draw: Draw) -> Iterator[Sample]:
    for batch, n, kind, layout in square(draw, kinds=SYMMETRIC):
        for upper in (False, True) if n < 34 else (draw.pick((False, True)),):
            x = argument(positive(draw, batch, n, kind), layout)
            yield Sample((x,), cholesky, {"upper": upper}, units=bound(n), scale=_triangle, precise=False, smooth=True)


def cholesky(x: Any, upper: bool) -> Any:
    """Return the lower triangular factor of host matrices, or its adjoint."""
    factor = np.linalg.cholesky(x)
    return adjoint(factor) if upper else factor


def _triangle(x: Any, upper: bool) -> Any:
    """Return the scale of errors: the other half is exactly zero."""
    half = np.triu if upper else np.tril
    return half(np.broadcast_to(largest(cholesky(x, upper)), x.shape))


def _eigenvalues(draw: Draw, batch: Shape, n: int) -> Any:
    """Return real eigenvalues of both signs, some of them equal, or none."""
    how = draw.pick(("random", "random", "equal", "zero"))
    if how == "random":
        return draw.rng.uniform(-2, 2, (*batch, n))
    return np.full((*batch, n), 1.5) if how == "equal" else np.where(draw.rng.random((*batch, n)) < 0.5, 0.0, 1.0)


def _symmetric(draw: Draw) -> Iterator[tuple[Argument, int]]:
    for batch, n, kind, layout in square(draw, kinds=SYMMETRIC):
        yield argument(hermitian(draw, batch, n, _eigenvalues(draw, batch, n), kind), layout), n
    for n in (1, 3, 8):
        yield Argument(np.zeros((n, n), draw.dtype)), n


def _smoothness(values: Any) -> dict[str, Any]:
    """Return whether the values of each matrix are so far apart, and from 0, that the vectors of each are certain.

    Second derivatives divide by the distances; where some or all are short, only first derivatives are compared.
    """
    apart = np.diff(np.sort(np.concatenate([np.zeros_like(values[..., :1]), values], axis=-1), axis=-1))
    largest = np.max(np.abs(values), axis=-1, keepdims=True, initial=1e-30)
    share, ordinary = np.min(apart / largest, initial=1.0), ((largest > 1e-3) & (largest < 1e3)).all()
    return {"smooth": bool(share > 1e-2), "far": bool(share <= 0.15 or not ordinary)}


def _size(x: Any) -> Any:
    """Return the root of the sum of squares of each matrix, as a column of one row."""
    return np.sqrt(np.sum(abs(x) ** 2, axis=(-2, -1)))[..., None]


@operation("linalg.eigvalsh", EVERY, QUICK)
def _eigvalsh(draw: Draw) -> Iterator[Sample]:
    for x, n in _symmetric(draw):
        yield Sample(
            (x,), np.linalg.eigvalsh, units=bound(n), scale=_size, precise=False,
            dtype=REAL[draw.dtype], **_smoothness(np.linalg.eigvalsh(x.host)),
        )  # fmt: skip


@operation("linalg.eigh", EVERY, QUICK)
def _eigh(draw: Draw) -> Iterator[Sample]:
    for x, n in _symmetric(draw):
        yield Sample(
            (x,), lambda x: (np.linalg.eigvalsh(x), x, _eye(x.shape[-1], x)), units=bound(n),
            scale=lambda x: (_size(x), _size(x)[..., None], 1.0), precise=False, dtype=(REAL[draw.dtype], draw.dtype),
            derived=_of_eigh,
        )  # fmt: skip


def _of_eigh(hosts: Any, results: Any) -> Any:
    values, vectors = results
    return values, (vectors * values[..., None, :]) @ adjoint(vectors), adjoint(vectors) @ vectors


def _rectangles(draw: Draw) -> Iterator[tuple[Argument, int, int]]:
    shapes = list(RECTANGLES) + [(n, n) for n in sizes(draw) if n > 8]
    layouts = draw.layouts(broadcast=False)
    for m, n in shapes:
        yield argument(rectangular(draw, (), m, n).astype(draw.dtype)), m, n
    for row in draw.combinations(shape=RECTANGLES[:9], batch=((), (2,), (3, 2), (17,), (65,)), layout=layouts):
        m, n = row["shape"]
        factor = draw.pick((1.0, 1.0, 1e15, 1e-15))
        yield argument((rectangular(draw, row["batch"], m, n) * factor).astype(draw.dtype), row["layout"]), m, n
    for m, n in ((1, 1), (3, 2), (2, 3), (9, 9)):
        yield Argument(np.zeros((m, n), draw.dtype)), m, n
        if max(m, n) < 9:  # MKL gives NaN for large ones in complex64
            yield Argument(np.ones((m, n), draw.dtype)), m, n


@operation("linalg.qr", EVERY, QUICK)
def _qr(draw: Draw) -> Iterator[Sample]:
    for x, m, n in _rectangles(draw):
        for mode in ("reduced", "complete") if max(m, n) < 34 else (draw.pick(("reduced", "complete")),):
            yield Sample(
                (x,), _expected_qr, {"mode": mode}, units=bound(max(m, n)),
                scale=lambda x, mode: (_size(x)[..., None], 1.0, 0.0), precise=False, derived=_of_qr,
            )  # fmt: skip


def _expected_qr(x: Any, mode: str) -> Any:
    m, n = x.shape[-2:]
    inner = min(m, n) if mode == "reduced" else m
    return x, _eye(inner, x), np.zeros((*x.shape[:-2], inner, n), x.dtype)


def _of_qr(hosts: Any, results: Any) -> Any:
    q, r = results
    return q @ r, adjoint(q) @ q, np.tril(r, -1)


@operation("linalg.svd", EVERY, QUICK)
def _svd(draw: Draw) -> Iterator[Sample]:
    for x, m, n in _rectangles(draw):
        for full in (False, True) if max(m, n) < 34 else (draw.pick((False, True)),):
            yield Sample(
                (x,), _expected_svd, {"full_matrices": full}, units=bound(max(m, n)),
                scale=lambda x, full_matrices: (_size(x), _size(x)[..., None], 1.0, 1.0), precise=False,
                dtype=(draw.dtype, REAL[draw.dtype], draw.dtype), derived=_of_svd,
            )  # fmt: skip


def _expected_svd(x: Any, full_matrices: bool) -> Any:
    m, n = x.shape[-2:]
    u, v = (m, n) if full_matrices else (min(m, n),) * 2
    return np.linalg.svd(x, compute_uv=False), x, _eye(u, x), _eye(v, x)


def _of_svd(hosts: Any, results: Any) -> Any:
    u, values, vh = results
    k = values.shape[-1]
    return values, (u[..., :k] * values[..., None, :]) @ vh[..., :k, :], adjoint(u) @ u, vh @ adjoint(vh)


@operation("linalg.svdvals", EVERY, QUICK)
def _svdvals(draw: Draw) -> Iterator[Sample]:
    for x, m, n in _rectangles(draw):
        yield Sample(
            (x,), lambda x: np.linalg.svd(x, compute_uv=False), units=bound(max(m, n)),
            scale=_size, precise=False, dtype=REAL[draw.dtype],
            **_smoothness(np.linalg.svd(x.host, compute_uv=False)),
        )  # fmt: skip


def _normal(draw: Draw) -> Iterator[tuple[Argument, int, str]]:
    """Yield normal matrices with well-separated eigenvalues; real matrices have pairs of conjugate eigenvalues."""
    layouts = draw.layouts(broadcast=False)
    rows: list[dict[str, Any]] = [
        {"batch": (), "n": n, "layout": "contiguous"} for n in SIZES if n <= (33 if draw.quick else 129)
    ]
    rows += draw.combinations(batch=((2,), (3, 2), (17,)), n=(1, 2, 3, 8), layout=layouts)
    for row in rows:
        batch, n = row["batch"], row["n"]
        angles = np.pi * (np.arange(n // 2) + 0.5) / (n // 2 or 1)
        middle = np.zeros((n, n), np.complex128 if draw.dtype in COMPLEX else np.float64)
        middle[-1, -1] = 1.75
        for i, angle in enumerate(angles):
            c, s = 1.25 * np.cos(angle), 1.25 * np.sin(angle)
            middle[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
        q = unitary(draw, batch, n)
        yield argument((q @ middle @ adjoint(q)).astype(draw.dtype), row["layout"]), n, WIDE[draw.dtype]


def _matched(values: Any, wanted: Any) -> Any:
    """Return the eigenvalues in the wanted order, each matched to the nearest remaining value."""
    found = np.empty_like(wanted)
    for at in np.ndindex(*wanted.shape[:-1]):
        left = list(values[at])
        for i, each in enumerate(wanted[at]):
            found[(*at, i)] = left.pop(int(np.argmin(abs(np.asarray(left) - each))))
    return found


@operation("linalg.eigvals", EVERY, QUICK)
def _eigvals(draw: Draw) -> Iterator[Sample]:
    for x, n, dtype in _normal(draw):
        yield Sample(
            (x,), _general, units=bound(n), scale=_size, precise=False, dtype=dtype,
            derived=lambda hosts, results: _matched(results[0], _general(hosts[0])),
        )  # fmt: skip


def _general(x: Any) -> Any:
    return np.linalg.eigvals(x).astype(np.complex128)


@operation("linalg.eig", EVERY, QUICK)
def _eig(draw: Draw) -> Iterator[Sample]:
    for x, n, dtype in _normal(draw):
        yield Sample(
            (x,), lambda x: (_general(x), np.zeros(x.shape), _eye(x.shape[-1], x)), units=2 * bound(n),
            scale=lambda x: (_size(x), _size(x)[..., None], 1.0), precise=False, dtype=(dtype, dtype), derived=_of_eig,
        )  # fmt: skip


def _of_eig(hosts: Any, results: Any) -> Any:
    """Return the eigenvalues, the residuals of unit vectors, and the products of these vectors."""
    values, vectors = results
    unit = vectors / np.sqrt(np.sum(abs(vectors) ** 2, axis=-2, keepdims=True))
    residual = hosts[0] @ unit - unit * values[..., None, :]
    return _matched(values, _general(hosts[0])), residual, adjoint(unit) @ unit
