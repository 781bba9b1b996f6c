"""The chapters of `xpgrad.scipy`: complete in the case table and the page, without SciPy until it is needed, edges."""

import importlib
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.core.scipy.test_differentiated import CASES
from tests.core.scipy.test_library import run

import xpgrad.scipy
from xpgrad import Variable, get_device
from xpgrad import array_api as xp
from xpgrad.errors import AxisError, DtypeError, GradientError, ShapeError, SingularMatrix
from xpgrad.scipy import fft, integrate, interpolate, linalg, ndimage, signal, sparse
from xpgrad.scipy.spatial import distance
from xpgrad.scipy.spatial.transform import Rotation
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, value_and_grad, vmap

CHAPTERS = (
    "fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "sparse.linalg", "spatial.distance",
    "spatial.transform",
)  # fmt: skip
PAGE = Path(__file__).parents[3] / "docs" / "scipy.md"
INDIRECT = {
    "SuperLU", "LinearOperator", "aslinearoperator", "PPoly",
}  # fmt: skip
"""Functions that other cases call."""


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_function_has_a_case_for_all_libraries_and_is_documented(chapter):
    names = importlib.import_module(f"xpgrad.scipy.{chapter}").__all__
    everywhere = {re.split(r"[:,]", case.name)[0] for case in CASES if case.libraries}
    page = PAGE.read_text()
    for name in names:
        assert name in INDIRECT or f"{chapter}.{name}" in everywhere, name
        assert f"`{name}`" in page, name


def test_chapters_do_not_import_scipy_and_compositions_do_without():
    done = run("""
import sys
sys.modules["scipy"] = None
import numpy as np, xpgrad
for name in ("fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "sparse", "spatial", "stats"):
    getattr(xpgrad.scipy, name)
a = np.asarray([[2.0, 1.0], [0.5, 3.0]])
root = xpgrad.scipy.linalg.sqrtm(a)
assert abs((root @ root).array - a).max() < 1e-12
assert abs(xpgrad.scipy.linalg.expm(xpgrad.scipy.linalg.logm(a)).array - a).max() < 1e-12
xpgrad.scipy.signal.lfilter(a[0], a[1], a)
try:
    xpgrad.scipy.ndimage.zoom(a, 2.0)
except ImportError as error:
    assert "needs SciPy, which is not installed; pip install scipy" in str(error), error
else:
    raise AssertionError
""")
    assert done.returncode == 0, done.stderr


def test_single_precision_is_kept():
    a = Variable(np.asarray([[2.0, 1.0], [0.5, 3.0]], np.float32))
    for function in (linalg.expm, linalg.logm, linalg.sqrtm, fft.dct, ndimage.laplace, distance.pdist):
        y = function(a)
        assert y.dtype == np.float32
        xp.sum(y).backward()
        assert a.grad.dtype == np.float32
    integral = lambda c: integrate.quad(lambda x, c: xp.exp(-c * x * x), -np.inf, np.inf, args=(c,))[0]  # noqa: E731
    y, slope = map(on_host, value_and_grad(integral)(a[0, 0]))
    assert y.dtype == np.float32
    np.testing.assert_allclose([y, slope], [(np.pi / 2) ** 0.5, -((np.pi / 32) ** 0.5)], rtol=1e-5)


def test_integers_are_converted():
    a = np.asarray([[1, 1], [0, 2]])
    for function in (linalg.expm, linalg.logm, linalg.sqrtm):
        np.testing.assert_array_equal(on_host(function(a)), on_host(function(a + 0.0)))
    b = placed(np.asarray([[4, 1], [1, 3]]), get_device("@strict"))
    for function in (linalg.polar, linalg.cho_factor, lambda b: [linalg.solve_triangular(b, b)], linalg.lu):
        expected = on_host(function(xp.astype(b, xp.float64))[0])
        np.testing.assert_array_equal(on_host(function(b)[0]), expected)


def test_functions_that_would_be_complex_are_nan_in_a_batch():
    assert np.isnan(on_host(vmap(linalg.logm)(np.asarray([[[-1.0, 0.3], [0.1, 2.0]]])))).all()


def test_ill_conditioned_matrices_keep_their_digits():
    n = 8
    a = np.diag(np.logspace(0, 10, n)) + np.triu(np.ones((n, n)), 1)
    y = on_host(linalg.solve_triangular(a, a @ np.ones(n)))
    np.testing.assert_allclose(y, np.ones(n), rtol=1e-6)
    defective = np.asarray([[2.0, 1.0], [0.0, 2.0]])
    root = on_host(linalg.sqrtm(defective))
    np.testing.assert_allclose(root @ root, defective, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda x: linalg.expm(x[:, :0, :0]), (2, 0, 0)),
        (lambda x: linalg.block_diag(x[0, :0]), (0, 3)),
        (lambda x: linalg.solve_triangular(x[0], x[0, :, :0]), (3, 0)),
        (lambda x: distance.pdist(x[0, :1]), (0,)),
        (lambda x: fft.dct(x[:0]), (0, 3, 3)),
        (lambda x: ndimage.gaussian_filter(x[:0], 1.0, axes=(1, 2)), (0, 3, 3)),
        (lambda x: interpolate.CubicSpline(np.arange(3.0), x[0])(np.zeros(0)), (0, 3)),
        (lambda x: signal.convolve(x[0, 0], x[0, 0, :0]), (0,)),
        (lambda x: signal.lfilter([1.0, 2.0], [1.0, 0.5], x[0, :, :0]), (3, 0)),
        (lambda x: ndimage.map_coordinates(x[0], np.zeros((2, 0))), (0,)),
        (lambda x: ndimage.median_filter(x[:0], 3, axes=(1, 2)), (0, 3, 3)),
        (lambda x: linalg.sqrtm(x[:, :0, :0]), (2, 0, 0)),
        (lambda x: linalg.solve_banded((1, 1), x[:0], x[0]), (0, 3, 3)),
        (lambda x: linalg.solve_sylvester(x[:0], x[:0], x[:0]), (0, 3, 3)),
        (lambda x: linalg.cho_solve(linalg.cho_factor(x[:0]), x[:0]), (0, 3, 3)),
        (lambda x: ndimage.minimum_filter(x[:, :0], 3), (2, 0, 3)),
    ],
)
def test_empty_arrays(call, shape):
    x = np.arange(18.0).reshape(2, 3, 3) + np.eye(3)
    assert call(Variable(x)).shape == shape


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (ShapeError, r"expm: expected square matrices, \(..., M, M\), got shape \(2, 3\)", lambda: linalg.expm(X)),
        (ShapeError, r"solve_triangular: expected right-hand sides of shape", lambda: linalg.solve_triangular(S, X)),
        (ValueError, "solve_triangular: expected trans 0, 1, 2, 'N', 'T' or 'C', got 3",
         lambda: linalg.solve_triangular(S, S, 3)),
        (ShapeError, r"solve_banded: expected ab of shape \(..., 3, M\), got \(2, 3\)",
         lambda: linalg.solve_banded((1, 1), X, X[0])),
        (ValueError, "fftconvolve: expected at least one axis, got none", lambda: signal.fftconvolve(X, X, axes=())),
        (ShapeError, r"lfilter: expected zi with 1 elements along axis -1, got shape \(1,\)",
         lambda: signal.lfilter([1.0, 2.0], [1.0], X, zi=np.ones(1))),
        (ShapeError, "lfilter_zi: expected vectors of coefficients", lambda: signal.lfilter_zi(X, X[0])),
        (ShapeError, r"sosfilt: expected zi for 1 sections, got shape \(2, 2, 2\)",
         lambda: signal.sosfilt(np.ones(6), X, zi=np.ones((2, 2, 2)))),
        (ShapeError, "filtfilt: expected more than padlen=-1", lambda: signal.filtfilt(X[0], X[0] + 1, X, padlen=-1)),
        (ValueError, "stft: expected nperseg of at least 1, got 0", lambda: signal.stft(X, nperseg=0)),
        (ValueError, "gaussian_filter1d: expected a window with a radius from 0",
         lambda: ndimage.gaussian_filter1d(X, -2.0)),
        (ShapeError, "zoom: expected factors that are not negative, got -1.0", lambda: ndimage.zoom(X, -1.0)),
        (ValueError, r"affine_transform: expected \[0.0, 0.0, 1.0\] as the last row",
         lambda: ndimage.affine_transform(X, S)),
        (ShapeError, r"grey_dilation: expected a structure of the footprint's shape \(1, 2\), got \(2, 3\)",
         lambda: ndimage.grey_dilation(X, footprint=np.ones((1, 2)), structure=X)),
        (ValueError, "CubicSpline: expected knots in strictly ascending order",
         lambda: interpolate.CubicSpline(-X[0], X[0])),
        (ValueError, "BSpline: expected knots in ascending order", lambda: interpolate.BSpline(-X[0], X[0], 0)),
        (ValueError, "PPoly: expected ends in ascending order", lambda: interpolate.PPoly(X, np.arange(4.0)[::-1])),
        (DtypeError, "PchipInterpolator: expected real values", lambda: interpolate.PchipInterpolator(X[0], X[0] + 0j)),
        (ValueError, "CubicSpline: expected an order of the derivative of at least 0, got -1",
         lambda: interpolate.CubicSpline(X[0], X[0])(X[0], -1)),
        (ValueError, "BSpline: expected an order of the derivative of at least 0, got -1",
         lambda: interpolate.BSpline(X[0], X[0], 0)(1.0, -1)),
        (ValueError, "RBFInterpolator: expected a degree of at least -1, got -2",
         lambda: interpolate.RBFInterpolator(X, X, degree=-2)),
        (ValueError, "cumulative_simpson: expected x in strictly ascending order",
         lambda: integrate.cumulative_simpson(X, x=np.zeros(3))),
        (ValueError, "fixed_quad: expected finite limits", lambda: integrate.fixed_quad(xp.exp, 0.0, np.inf)),
        (ValueError, "cdist: expected weights that are not negative", lambda: distance.cdist(X, X, "cosine", w=-X[1])),
        (ValueError, "squareform: expected a symmetric matrix", lambda: distance.squareform(S)),
        (ShapeError, r"sparse array: expected places within the shape \(2, 2\)",
         lambda: sparse.coo_array((np.ones(1), ([2], [0])), (2, 2))),
        (ShapeError, r"csr_array: expected a pointer more than the shape \(2, 2\), got 2",
         lambda: sparse.csr_array((np.ones(2), [0, 1], [0, 2]), (2, 2))),
        (ValueError, "svds: expected return_singular_vectors True, False, 'u' or 'vh', got 'x'",
         lambda: sparse.linalg.svds(LARGE, 2, return_singular_vectors="x")),
        (ShapeError, r"solve_continuous_are: expected b of shape \(3, N\), q \(3, 3\) and r \(N, N\), got \(2, 3\)",
         lambda: linalg.solve_continuous_are(S, X, S, S)),
        (ValueError, "dct: expected type 1, 2, 3 or 4, got 5", lambda: fft.dct(X, 5)),
        (ShapeError, "dct: expected more elements along axis -1 for type 1, got 1", lambda: fft.dct(X[:, :1], 1)),
        (ValueError, "convolve: expected the mode 'full', 'same' or 'valid'", lambda: signal.convolve(X, X, "x")),
        (ShapeError, "filtfilt: expected more than padlen=6 elements along axis -1, got 3",
         lambda: signal.filtfilt(X[0, :2], X[0, :1] + 1, X)),
        (ValueError, "stft: expected noverlap below nperseg=3, got 3", lambda: signal.stft(X, nperseg=3, noverlap=3)),
        (ValueError, "istft: expected noverlap below", lambda: signal.istft(X + 0j, noverlap=8)),
        (ShapeError, "spectrogram: expected a window of shape .* for a signal of 3",
         lambda: signal.spectrogram(X, window=np.ones(4))),
        (DtypeError, "maximum_filter: expected real numbers", lambda: ndimage.maximum_filter(X + 0j, 3)),
        (DtypeError, "median_filter: expected real numbers", lambda: ndimage.median_filter(X + 0j, 3)),
        (DtypeError, "grey_erosion: expected real numbers", lambda: ndimage.grey_erosion(X + 0j, 3)),
        (DtypeError, "hilbert: expected real numbers", lambda: signal.hilbert(X + 0j)),
        (ValueError, "correlate1d: expected the mode reflect, .*, got 'x'",
         lambda: ndimage.correlate1d(X, [1.0, 1.0], mode="x")),
        (ValueError, "shift: expected an order from 0 to 5, got 6", lambda: ndimage.shift(X, 1.0, order=6)),
        (GradientError, "zoom: there is no gradient by zoom", lambda: ndimage.zoom(X, Variable(np.ones(2)))),
        (ShapeError, "CubicSpline: expected at least 2 knots", lambda: interpolate.CubicSpline(X[0, :1], X[0, :1])),
        (ValueError, "RegularGridInterpolator: expected points within the grid",
         lambda: interpolate.RegularGridInterpolator((np.arange(3.0),), np.arange(3.0))(np.asarray([4.0]))),
        (ShapeError, "RegularGridInterpolator: expected more than 3 points along each axis for the method 'cubic'",
         lambda: interpolate.RegularGridInterpolator((X[0],), X[0], "cubic")(X[0])),
        (AxisError, "CubicSpline: expected .* axes", lambda: interpolate.CubicSpline(X[0], X[0], axis=1)),
        (AxisError, "make_interp_spline: expected .* axes",
         lambda: interpolate.make_interp_spline(np.arange(4.0), np.arange(4.0), axis=1)),
        (DtypeError, "PchipInterpolator: expected real knots", lambda: interpolate.PchipInterpolator(X[0] + 0j, X[0])),
        (AxisError, "sum: expected .* axes", lambda: LARGE.sum(axis=2)),
        (TypeError, "add: expected a matrix, got float", lambda: LARGE + 1.0),
        (ShapeError, r"align_vectors: expected vectors of shape \(N, 3\), got \(3,\)",
         lambda: Rotation.align_vectors(X[0], X[0])),
        (ValueError, "from_quat: expected quaternions that are not 0", lambda: Rotation.from_quat(np.zeros((2, 4)))),
        (ValueError, "mean: expected weights that are not negative", lambda: Rotation.identity(3).mean(-X[1])),
        (ShapeError, r"align_vectors: expected a weight for each of 2, got shape \(3,\)",
         lambda: Rotation.align_vectors(X, X[::-1], X[1])),
        (DtypeError, "pdist: expected real points", lambda: distance.pdist(X + 0j)),
        (ValueError, "cdist: expected one of the metrics that have a derivative", lambda: distance.cdist(X, X, "dice")),
        (ShapeError, r"simpson: expected x of shape \(2, 3\) or \(3,\), got \(2,\)",
         lambda: integrate.simpson(X, X[:, 0])),
        (SingularMatrix, "splu: Factor is exactly singular",
         lambda: sparse.linalg.splu(sparse.coo_array((np.zeros(1), ([0], [0])), (2, 2)))),
        (TypeError, "eigsh: expected k to be an integer, got .*float", lambda: sparse.linalg.eigsh(LARGE, 1.5)),
        (TypeError, "svds: expected k to be an integer, got .*Fraction",
         lambda: sparse.linalg.svds(LARGE, Fraction(1, 3))),
        (ValueError, "eigsh: expected sigma to be a finite number",
         lambda: sparse.linalg.eigsh(LARGE, 2, sigma=np.nan)),
        (SingularMatrix, "eigsh: Factor is exactly singular; got sigma=1.0",
         lambda: sparse.linalg.eigsh(LARGE, 2, sigma=1.0)),
        (ShapeError, "savgol_filter: expected a number as cval",
         lambda: signal.savgol_filter(X, 3, 1, mode="constant", cval=X)),
    ],
)  # fmt: skip
def test_errors_name_the_function_and_the_argument(error, text, call):
    with pytest.raises(error, match=text):
        call()


Y, IMAGE = (
    np.asarray([[0.3, -1.0, 2.0, 0.5, 1.5, -0.7], [1.0, 0.2, -0.4, 0.9, 0.1, 2.2]]),
    np.arange(20.0).reshape(4, 5),
)
GAPS = np.asarray([[0.2, 0.9, 0.4], [0.1, np.nan, 0.6], [0.5, 0.3, 0.8]])


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.integrate.simpson(Y, x=np.asarray([0.0, 0.0, 1.0, 1.0, 2.0, 3.0])),
        lambda m: m.integrate.simpson(Y, x=np.asarray([0.0, 1.0, 2.0, 2.0, 3.0, 3.0])),
        lambda m: m.integrate.quad(lambda x, c: c * x, 0.0, 2.0, args=np.asarray(3.0))[0],
        lambda m: m.integrate.cumulative_simpson(Y.T, axis=0, initial=Y[:1, :2]),
        lambda m: m.spatial.distance.pdist(GAPS),
        lambda m: m.spatial.distance.cdist(GAPS, GAPS, "canberra"),
        lambda m: m.spatial.distance.cdist(GAPS, GAPS, "minkowski", p=1.5),
        lambda m: m.spatial.distance.pdist(Y, "minkowski", p=np.inf, w=np.asarray([1.0, 0.0, 0.0, 2.0, 1.0, 1.0])),
        lambda m: m.interpolate.BSpline(np.arange(9.0), Y[0], 2, extrapolate="periodic").integrate(0.3, 9.6),
        lambda m: m.interpolate.BSpline(np.arange(9.0), Y[0], 2).derivative(-1)(3.5),
        lambda m: m.interpolate.BSpline(np.arange(9.0), Y[0], 2).antiderivative(-1)(3.5),
        lambda m: m.interpolate.CubicSpline(np.arange(6.0), Y[0]).derivative(-2)(3.5),
        lambda m: m.interpolate.CubicSpline(np.arange(6.0), Y[0]).antiderivative(-1)(3.5),
        lambda m: m.interpolate.make_interp_spline(np.arange(6.0), Y[0], 2, bc_type=(None, None))(2.5),
        lambda m: m.ndimage.map_coordinates(Y[:1], [[0.25, -3.0], [1.0, 2.0]], order=1, mode="grid-constant"),
        lambda m: m.ndimage.maximum(Y[0], [1, 1, 2, 2, 3, 3], [2, 7]),
        lambda m: m.signal.lfilter_zi(np.asarray([1.0, 2.0]), np.asarray([0.0, 2.0, 0.5, 0.1])),
        lambda m: m.signal.sosfilt(np.asarray([1.0, 0.2, 0.3, 1.0, 0.4, 0.1]), Y),
        lambda m: m.signal.fftconvolve(IMAGE[:, :1], IMAGE[:2], "same", axes=0),
        lambda m: m.linalg.lu(np.asarray([[1, 2], [3, 4]]))[0] / 2,
        lambda m: m.sparse.linalg.spsolve(m.sparse.csc_array((Y[0, :2], ([0, 1], [1, 0])), (2, 2)), Y[1, :2] + 1j),
    ],
)
def test_values_at_edges_are_those_of_scipy(call):
    found, expected = on_host(call(xpgrad.scipy)), call(pytest.importorskip("scipy"))
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_gradients_at_edges_are_finite():
    for f in (
        lambda y: ndimage.standard_deviation(y, [1, 2, 2, 3, 3, 3], [1, 2, 3]),
        lambda y: integrate.simpson(y, np.asarray([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])),
        lambda y: distance.pdist(xp.reshape(y * 0.0, (2, 3))),
    ):
        assert np.isfinite(grad(lambda y, f=f: xp.sum(f(y)))(Y[0])).all()


LARGE = sparse.coo_array((np.ones(400), (np.arange(400), np.arange(400))), (400, 400))
X, S = np.arange(6.0).reshape(2, 3), np.eye(3) + np.arange(9.0).reshape(3, 3)
