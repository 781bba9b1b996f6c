"""Family K, linear algebra, Fourier transforms and complex numbers."""

import itertools
from typing import Any

import numpy as np

from xpgrad import as_array
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.check import check
from xpgrad_conformance.oracle import agrees, same, wide
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

PRODUCTS = (
    ((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((4,), (4,)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((5, 1, 2, 3), (1, 2, 3, 4)), ((1, 4), (4, 1)), ((4, 1), (1, 4)),
    ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((1, 1), (1, 1)), ((7, 33), (33, 5)),
)  # fmt: skip
EMPTY_PRODUCTS = ((3, 0), (0, 2)), ((0, 4), (4, 2)), ((0, 3, 4), (4, 2)), ((0,), (0,)), ((2, 3, 0), (0, 4))
MATRICES = (1, 1), (4, 4), (2, 3, 3)


@check("K19", scope="dtype")
def products(s: Subject) -> None:
    """Products of matrices, vectors and batches that broadcast, of transposes, of nothing; vecdot and tensordot."""
    for a, b in PRODUCTS:
        same(s, "matmul", s.values(a), s.values(b))
    for a, b in EMPTY_PRODUCTS if s.has("empty_arrays") else ():
        same(s, "matmul", s.values(a), s.values(b))
    for a, b in (((4, 3), (2, 4)), ((3, 3), (3, 3))):
        agrees(
            s,
            f"matmul of the transposes of shapes {a} and {b}",
            lambda xp, a, b: xp.matmul(xp.matrix_transpose(a), xp.matrix_transpose(b)),
            lambda a, b: a.T @ b.T,
            s.values(a),
            s.values(b),
        )
    for axis in (-1, -2) if s.has("vecdot") else ():
        agrees(
            s,
            f"vecdot, axis={axis}: the first vector is conjugated",
            lambda xp, a, b, i=axis: xp.vecdot(a, b, axis=i),
            lambda a, b, i=axis: np.sum(np.conj(a) * b, axis=i),
            s.values((2, 3, 4)),
            s.values((3, 4)),
        )
    pairs: dict[Any, Any] = {
        1: ((5, 2, 3), (3, 4)),
        2: ((5, 2, 3), (2, 3, 4)),
        0: ((2, 3), (3, 4)),
        ((0, 1), (1, 0)): ((2, 3, 4), (3, 2, 5)),
    }
    for axes, shapes in pairs.items() if s.has("tensordot") else ():
        agrees(
            s,
            f"tensordot of shapes {shapes[0]} and {shapes[1]}, axes={axes}",
            lambda xp, a, b, i=axes: xp.tensordot(a, b, axes=i),
            lambda a, b, i=axes: np.tensordot(a, b, axes=i),
            *map(s.values, shapes),
        )


def _near(s: Subject, got: Any, expected: Any, what: str, factor: float = 50.0) -> None:
    """Compare the product of the factors of a decomposition with the matrix, with a larger tolerance."""
    array = as_array(got)
    assert_place(s.device, array, what)
    host = on_host(array)
    assert host.shape == expected.shape, f"{what} has shape {host.shape}, expected {expected.shape}"
    far = float(np.max(np.abs(host - expected), initial=0.0))
    allowed = s.rtol(factor=factor) * (1 + float(np.max(np.abs(expected), initial=0.0)))
    assert far <= allowed, f"{what} is off by {far:.3g}, allowed {allowed:.3g}"


@check("K20", scope="dtype", needs=("linalg",))
def linear_algebra(s: Subject) -> None:
    """Decompositions give their matrix back, with the properties that they promise; solutions solve; batches too."""
    xp = s.xp
    for shape in MATRICES:
        n = shape[-1]
        a = wide(s.values(shape)) + 3 * np.eye(n)
        hermitian = wide((a + np.conj(np.swapaxes(a, -1, -2))) / 2 + 2 * np.eye(n))
        x, h, eye = s.array(a), s.array(hermitian), np.broadcast_to(np.eye(n), shape)
        a, hermitian = wide(on_host(x)), wide(on_host(h))
        what = f"of shape {shape}"
        if s.has("linalg.solve"):
            b, v = s.array(s.values((*shape[:-1], 2))), s.array(s.values((n,)))
            _near(s, s.kernels.matmul(x, as_array(xp.linalg.solve(x, b))), on_host(b), f"a @ solve(a, b) {what}")
            got = xp.linalg.solve(x, v)
            many = np.broadcast_to(wide(on_host(v)), shape[:-1])[..., None]
            _near(s, got, np.linalg.solve(a, many)[..., 0], f"solve(a, v) {what}")
        if s.has("linalg.inv"):
            _near(s, s.kernels.matmul(x, as_array(xp.linalg.inv(x))), eye, f"a @ inv(a) {what}")
        if s.has("linalg.det"):
            _near(s, xp.linalg.det(x), np.linalg.det(a), f"det {what}")
        if s.has("linalg.slogdet"):
            sign, logarithm = xp.linalg.slogdet(x)
            _near(s, sign, np.asarray(np.linalg.slogdet(a)[0]), f"the sign of slogdet {what}")
            _near(s, logarithm, np.asarray(np.linalg.slogdet(a)[1]), f"the logarithm of slogdet {what}")
        if s.has("linalg.cholesky"):
            positive = on_host(h)
            positive = wide(np.matmul(positive, np.conj(np.swapaxes(positive, -1, -2))))
            for upper in (False, True):
                factor = wide(on_host(xp.linalg.cholesky(s.array(positive), upper=upper)))
                other = np.conj(np.swapaxes(factor, -1, -2))
                product = other @ factor if upper else factor @ other
                _near(s, s.array(product), positive, f"cholesky, upper={upper} {what}, multiplied", 200)
                half = np.tril(factor, -1) if upper else np.triu(factor, 1)
                assert not half.any(), f"cholesky, upper={upper} {what}: the other half is not zero"
        if s.has("linalg.eigh"):
            values, vectors = xp.linalg.eigh(h)
            w, q = wide(on_host(values)), wide(on_host(vectors))
            assert (np.diff(w, axis=-1) >= 0).all(), f"eigh {what}: the eigenvalues {w} do not ascend"
            _near(s, values, np.linalg.eigvalsh(hermitian), f"the eigenvalues of eigh {what}")
            _near(s, s.array(hermitian @ q), q * w[..., None, :], f"a @ v - v * w of eigh {what}")
            _near(s, s.array(np.conj(np.swapaxes(q, -1, -2)) @ q), eye, f"the eigenvectors' products {what}")
    for shape in ((4, 3), (3, 4), (2, 4, 3)):
        a = s.values(shape)
        x, what = s.array(a), f"of shape {shape}"
        a, k = wide(a), min(shape[-2:])
        for mode in ("reduced", "complete") if s.has("linalg.qr") else ():
            q, r = (wide(on_host(each)) for each in xp.linalg.qr(x, mode=mode))
            inner = k if mode == "reduced" else shape[-2]
            assert q.shape[-1] == r.shape[-2] == inner, f"qr, {mode} {what}: q has {q.shape}, r has {r.shape}"
            _near(s, s.array(q @ r), a, f"q @ r, {mode} {what}")
            eye = np.broadcast_to(np.eye(inner), (*shape[:-2], inner, inner))
            _near(s, s.array(np.conj(np.swapaxes(q, -1, -2)) @ q), eye, f"q's own products, {mode} {what}")
            assert not np.tril(r, -1).any(), f"qr, {mode} {what}: r is not upper triangular"
        if s.has("linalg.svd"):
            u, w, vh = (wide(on_host(each)) for each in xp.linalg.svd(x, full_matrices=False))
            assert (np.diff(w, axis=-1) <= 0).all(), f"svd {what}: the values {w} do not descend"
            assert (w >= 0).all(), f"svd {what}: the values {w} are negative"
            _near(s, s.array((u * w[..., None, :]) @ vh), a, f"u @ diag(s) @ vh {what}")
            _near(s, s.array(w), np.linalg.svd(a, compute_uv=False), f"svd's values {what}")
        if s.has("linalg.pinv"):
            p = wide(on_host(xp.linalg.pinv(x)))
            _near(s, s.array(a @ p @ a), a, f"a @ pinv(a) @ a {what}")
            assert p.shape == (*shape[:-2], shape[-1], shape[-2]), f"pinv {what} has shape {p.shape}"
        if s.has("linalg.diagonal"):
            for offset in (0, 1, -1):
                same(s, "linalg.diagonal", s.values(shape), offset=offset)


@check("K21", needs=("fft",))
def fourier(s: Subject) -> None:
    """Fourier transforms of each length and normalisation along each axis, back and forth, with their frequencies."""
    real = s.values((3, 5), dtype=s.wide)
    kinds: dict[str, Any] = {}
    if s.has("complex128" if s.wide == "float64" else "complex64"):
        kinds |= {s.wide: real, "complex": real + 1j * s.values((3, 5), dtype=s.wide)}
    norms = "backward", "ortho", "forward"
    for what, x in kinds.items():
        names = ("fft", "ifft", "irfft", "hfft") if what == "complex" else ("rfft", "ihfft")
        for name, norm, axis, n in itertools.product(names, norms, (-1, 0), (None, 4, 7)):
            if s.has(f"fft.{name}"):
                _same_wide(s, f"fft.{name}", x, n=n, axis=axis, norm=norm)
        many = ("fftn", "ifftn", "irfftn") if what == "complex" else ("rfftn",)
        for name, norm in itertools.product(many, norms):
            if s.has(f"fft.{name}"):
                _same_wide(s, f"fft.{name}", x, axes=(0, 1), norm=norm)
    for name in ("fftshift", "ifftshift"):
        if s.has(f"fft.{name}"):
            _same_wide(s, f"fft.{name}", real)
            _same_wide(s, f"fft.{name}", real, axes=1)


def _same_wide(s: Subject, name: str, x: Any, **parameters: Any) -> None:
    other = Subject(s.device, s.capabilities, dtype=s.wide, seed=s.seed, quick=s.quick)
    same(other, name, x, **parameters)


CUTS = -1.3, 1.3j, -1.3j, -0.4 + 0.9j, -0.4 - 0.9j, 2.1 + 0.3j, 1e-3 - 2j


@check("K22", scope="dtype", dtypes=("complex128", "complex64"))
def complex_numbers(s: Subject) -> None:
    """Complex numbers: principal values on either side, conjugates, absolute values, products and quotients."""
    z = np.asarray(CUTS)
    for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "sinh", "square", "negative", "reciprocal", "expm1"):
        if s.has(name):
            same(s, name, z)
    for name in ("conj", "real", "imag", "abs"):
        same(s, name, z)
        same(s, name, np.asarray(1.3 - 0.7j))
    for name in ("add", "subtract", "multiply", "divide"):
        same(s, name, z, s.values((7,)))
        same(s, name, s.values((3, 1)), s.values((4,)))
    same(s, "equal", z, np.conj(z), dtype="bool")
    same(s, "sum", s.values((3, 4)), axis=0)
    same(s, "prod", s.values((3, 4)), axis=1)
    same(s, "mean", s.values((3, 4)), axis=1)
    agrees(s, "z ** 3", lambda xp, z: xp.pow(z, 3), lambda z: z**3, z)
    agrees(s, "z * (0.3 - 1.2j)", lambda xp, z: xp.multiply(z, 0.3 - 1.2j), lambda z: z * (0.3 - 1.2j), z)
