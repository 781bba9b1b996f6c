"""NumPy's functions on Variables: the results for arrays, and gradients that agree with differences."""

import warnings

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.testing.arrays import on_host

X = np.array([[0.31, -1.27, 0.83], [1.61, 0.47, -0.59]])
Y = np.array([[0.73, 0.41, 1.13], [0.29, 1.37, 0.61]])
S = np.array([[2.3, 0.4, -0.3], [0.4, 1.9, 0.2], [-0.3, 0.2, 3.1]])

UFUNCS = [
    "absolute", "arctan", "arcsinh", "cbrt", "ceil", "cos", "cosh", "deg2rad", "degrees", "exp", "exp2", "expm1",
    "fabs", "floor", "isfinite", "isinf", "isnan", "logical_not", "negative", "positive", "rad2deg", "radians",
    "reciprocal", "rint", "sign", "signbit", "sin", "sinh", "square", "tan", "tanh", "trunc", "conjugate", "modf",
]  # fmt: skip
OF_UNIT = ["arcsin", "arccos", "arctanh"]
OF_POSITIVE = ["log", "log10", "log1p", "log2", "sqrt"]
BINARY = [
    "add", "arctan2", "copysign", "divide", "equal", "float_power", "floor_divide", "fmax", "fmin", "fmod", "greater",
    "greater_equal", "hypot", "less", "less_equal", "logaddexp", "logaddexp2", "logical_and", "maximum", "minimum",
    "multiply", "not_equal", "power", "remainder", "subtract", "heaviside", "nextafter", "divmod", "true_divide",
]  # fmt: skip

ONE = {
    "sum-keepdims": lambda x: np.sum(x, 1, keepdims=True),
    "std": lambda x: np.std(x, axis=1, ddof=1),
    "average": lambda x: np.average(x, axis=1, weights=[1.0, 2.0, 4.0]),
    "quantile": lambda x: np.quantile(x, [0.2, 0.7], axis=1),
    "cumulative_prod": lambda x: np.cumulative_prod(x, axis=1, include_initial=True),
    "argpartition": lambda x: np.argpartition(x[0], 2)[2],
    "partition": lambda x: np.partition(x[0], 1)[1],
    "cov-columns": lambda x: np.cov(x, rowvar=False, bias=True),
    "searchsorted": lambda x: np.searchsorted([-1.0, 0.0, 1.0], x),
    "reshape-int": lambda x: np.reshape(x, 6),
    "reshape-array": lambda x: np.reshape(x, np.array([3, -1])),
    "resize": lambda x: np.resize(x, (2, 1, 4)),
    "resize-empty": lambda x: np.resize(x[:0], 3),
    "transpose-axes": lambda x: np.transpose(x, (1, 0)),
    "transpose-array": lambda x: np.transpose(x, np.array([1, 0])),
    "transpose-method": lambda x: x.transpose(np.array([1, 0])).reshape(np.array([2, -1])),
    "atleast_1d": lambda x: np.atleast_1d(x[0, 0]),
    "atleast_2d": lambda x: np.atleast_2d(x[0]),
    "atleast_3d": lambda x: np.atleast_3d(x, x[0])[1],
    "concatenate-flat": lambda x: np.concatenate([x, x[0]], axis=None),
    "stack": lambda x: np.stack([x[0], x[1]], axis=1),
    "vstack": lambda x: np.vstack([x, x[0]]),
    "column_stack-0d": lambda x: np.column_stack([x[0, 0], x[0, 1]]),
    "diff-none": lambda x: np.diff(x, n=0, prepend=0.0),
    "append": lambda x: np.append(x, x, axis=0),
    "split-at": lambda x: np.split(x[0], [1, 2]),
    "hsplit": lambda x: np.hsplit(x, [1]),
    **{f"rot90-{k}": lambda x, k=k: np.rot90(x, k) for k in range(-1, 4)},
    "repeat-counts": lambda x: np.repeat(x, [1, 0, 2], axis=1),
    "pad-reflect": lambda x: np.pad(x, (1, 0), mode="reflect"),
    "pad-mean": lambda x: np.pad(x, 1, "mean", stat_length=1),
    "where": lambda x: np.where(X > 0, x, 0.0),
    "where-condition": lambda x: np.where(x > 0),
    "where-constants": lambda x: np.where(x > 0, 1.0, 2.0),
    "select": lambda x: np.select([X > 1, X > 0], [x * 2, x * x], 0.5),
    "take": lambda x: np.take(x, [[0, 2]], axis=1),
    "clip": lambda x: np.clip(x, -0.5, 0.5),
    "clip-names": lambda x: np.clip(x, min=-0.5, max=None),
    "polyval": lambda x: np.polyval([1.0, 2.0, -1.0], x),
    "polyval-coefficients": lambda x: np.polyval(x[0], 0.7),
    "interp": lambda x: np.interp(x, [-2.0, 0.0, 2.0], [1.0, 3.0, -1.0]),
    "interp-table": lambda x: np.interp([-0.3, 0.6], xp=[-1.0, 0.0, 1.0], fp=x[0]),
    "trapezoid-x": lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]),
    "gradient": lambda x: np.gradient(x, 0.5, axis=1),
    "gradient-uneven": lambda x: np.gradient(x, np.array([0, 1]), np.array([0.0, 0.4, 0.5])),
    "gradient-parabolas": lambda x: np.gradient(x, 0.5, axis=1, edge_order=2),
    "gradient-uneven-parabolas": lambda x: np.gradient(x, np.array([0.0, 0.4, 0.5]), axis=1, edge_order=2),
    "nanmedian": lambda x: np.nanmedian(np.where(x > 0.8, np.nan, x), axis=1),
    "nanquantile": lambda x: np.nanquantile(np.where(x > 0.8, np.nan, x), [0.2, 0.7], axis=1),
    "linspace": lambda x: np.linspace(x[0], 1.0, 4),
    "unravel_index": lambda x: np.unravel_index(np.argmax(x), (2, 3)),
    "linalg.norm-axis": lambda x: np.linalg.norm(x, axis=1, keepdims=True),
    "linalg.norm-inf": lambda x: np.linalg.norm(x, np.inf, axis=1),
    "linalg.norm-3": lambda x: np.linalg.norm(x[0], 3),
    "linalg.norm-fro": lambda x: np.linalg.norm(x, "fro", keepdims=True),
    "choose": lambda x: np.choose([[0, 2, 1], [1, 0, 2]], [x, x * 2, 5.0]),
    "choose-wrap": lambda x: np.choose([-1, 2, 5], x, mode="wrap"),
    "choose-clip": lambda x: np.choose([-1, 2, 5], x, mode="clip"),
    "ldexp": lambda x: np.ldexp(x, np.array([-2, 0, 3])),
    "piecewise": lambda x: np.piecewise(x, [x < 0, x > 1], [lambda u: u * u, lambda u: np.log(u), 3.0]),
    "piecewise-one": lambda x: np.piecewise(x[0], x[0] < 0, [-1.0, lambda u, k: np.sqrt(u) * k], 2),
    "apply_along_axis": lambda x: np.apply_along_axis(lambda r: r[0] * r[1], 1, x),
    "apply_along_axis-matrix": lambda x: np.apply_along_axis(lambda r: np.outer(r, r), 0, x),
    "apply_along_axis-vector": lambda x: np.apply_along_axis(np.sort, 1, x[None]),
    "poly-matrix": lambda x: np.poly(x[:, :2]),
    "poly-roots": lambda x: np.poly(np.roots(x[0])),
    "roots": lambda x: np.sum(np.roots(x[1]) ** 3).real,
    "polyfit-weights": lambda x: np.polyfit([0.0, 1.0, 2.0], np.transpose(x), 1, w=[1.0, 2.0, 3.0]),
    "polyfit-full": lambda x: [np.polyfit(x[0], x[1], 1, full=True)[i] for i in (0, 1, 3)],
    "polyfit-cov": lambda x: np.polyfit(x[0], x[1], 1, cov=True),
    "polyfit-cov-columns": lambda x: np.polyfit([0.0, 1.0, 2.0], np.transpose(x), 1, cov=True),
    "polyfit-unscaled": lambda x: np.polyfit(x[0], x[1], 1, cov="unscaled"),
    "add.reduce": lambda x: np.add.reduce(x),
    "multiply.reduce": lambda x: np.multiply.reduce(x, axis=1, keepdims=True),
    "maximum.reduce": lambda x: np.maximum.reduce(x),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x),
    "add.accumulate": lambda x: np.add.accumulate(x, axis=1),
    "multiply.accumulate": lambda x: np.multiply.accumulate(x),
    "multiply.outer": lambda x: np.multiply.outer(x[0], x),
}
TWO = {
    "matmul": lambda x, y: np.matmul(x, np.transpose(y)),
    "vecdot": lambda x, y: np.vecdot(x, y),
    "matvec": lambda x, y: np.matvec(x, y[0]),
    "dot-vectors": lambda x, y: np.dot(x[0], y[0]),
    "dot-scalar": lambda x, y: np.dot(x, 2.0),
    "tensordot": lambda x, y: np.tensordot(x, y, 2),
    "linalg.multi_dot": lambda x, y: np.linalg.multi_dot([x, np.transpose(y), x]),
    "einsum": lambda x, y: np.einsum("ij,kj->ik", x, y),
    "einsum-path": lambda x, y: np.einsum("ij,kj,kl", x, y, x, optimize=["einsum_path", (1, 2), (0, 1)]),
    "einsum-optimized": lambda x, y: np.einsum("ij,kj,kl", x, y, x, optimize="greedy"),
    "cov-two": lambda x, y: np.cov(x, y),
    "array_equal": lambda x, y: np.array_equal(x, y),
}
STANDARD = {
    "isin": lambda s: np.isin(s, [0.4, 1.9], invert=True),
    "unique_counts": lambda s: np.unique_counts(s[0])[1],
    "linalg.cholesky": lambda s: np.linalg.cholesky(s @ np.transpose(s)),
    "linalg.eigvalsh": lambda s: np.linalg.eigvalsh(s + np.transpose(s)),
    "linalg.slogdet": lambda s: np.linalg.slogdet(s)[1],
    "fft.fft": lambda s: np.abs(np.fft.fft(s)),
    "fft.fft2": lambda s: np.abs(np.fft.fft2(s)),
    "fft.ifftn": lambda s: np.real(np.fft.ifftn(s)),
    "fft.rfft": lambda s: np.real(np.fft.rfft(s, norm="ortho")),
    "fft.irfft": lambda s: np.fft.irfft(s + 0j, n=4),
}


def flat(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def plain(y):
    return on_host(y) if isinstance(y, Variable) else np.asarray(y)


def compare(function, *arrays):
    """Check a function of Variables against itself on arrays, and its gradient against differences."""
    xs = [Variable(a.copy()) for a in arrays]
    ys, wanted = flat(function(*xs)), flat(function(*(a.copy() for a in arrays)))
    assert len(ys) == len(wanted)
    for y, expected in zip(ys, wanted, strict=True):
        assert isinstance(y, Variable) == isinstance(expected, (np.ndarray, np.generic))
        assert (plain(y).dtype, plain(y).shape) == (np.asarray(expected).dtype, np.shape(expected))
        np.testing.assert_allclose(plain(y), expected, rtol=1e-6, atol=1e-12)
    smooth = [i for i, y in enumerate(ys) if isinstance(y, Variable) and y.requires_grad and y.dtype == np.float64]
    if not smooth:
        return
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(ys[i].shape) for i in smooth]
    inputs = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]
    got = xpgrad.grad([ys[i] for i in smooth], [xs[i] for i in inputs], [Variable(w) for w in weights])
    directions = [rng.standard_normal(a.shape) if i in inputs else np.zeros_like(a) for i, a in enumerate(arrays)]

    def loss(t):
        results = flat(function(*(a + t * d if t and d.any() else a for a, d in zip(arrays, directions, strict=True))))
        return sum(np.sum(w * np.asarray(results[i])) for i, w in zip(smooth, weights, strict=True))

    numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
    analytic = sum(np.sum(g.array * directions[i]).real for g, i in zip(got, inputs, strict=True) if g is not None)
    assert np.isnan(numeric) or analytic == pytest.approx(numeric, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_of_one_variable(name):
    compare(getattr(np, name), X)


@pytest.mark.parametrize("name", OF_UNIT)
def test_ufuncs_of_a_sine(name):
    compare(getattr(np, name), X / 2)


@pytest.mark.parametrize("name", OF_POSITIVE)
def test_ufuncs_of_a_positive_variable(name):
    compare(getattr(np, name), Y)


@pytest.mark.parametrize("name", BINARY)
def test_ufuncs_of_two_variables(name):
    function = getattr(np, name)
    compare(function, Y, Y[::-1] * 1.25)
    compare(lambda x: function(x, Y[::-1] * 1.25), Y)
    compare(lambda x: function(Y[::-1] * 1.25, x), Y)
    compare(lambda x: function(x, 0.7), Y)
    compare(lambda x: function(np.float64(0.7), x), Y)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"])
def test_ufuncs_of_integers(name):
    a, b = np.array([5, 6, 7]), np.array([1, 2, 3])
    compare(getattr(np, name), a, b)
    compare(lambda x: getattr(np, name)(a, x), b)
    compare(np.invert, a)


SINCE = {
    "clip-names": "2.1.0",
    "cumulative_prod": "2.1.0",
    "cumulative_sum": "2.1.0",
    "matvec": "2.2.0",
    "unstack": "2.1.0",
}


def skip_before(name):
    """Skip a function that the oldest NumPy lacks."""
    if np.lib.NumpyVersion(np.__version__) < SINCE.get(name, "2.0.0"):
        pytest.skip(f"NumPy has it from {SINCE[name]} on")


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_variable(name):
    skip_before(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        compare(ONE[name], X)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_variables(name):
    skip_before(name)
    compare(TWO[name], X, Y)


@pytest.mark.parametrize("name", STANDARD)
def test_functions_of_the_standards_extensions(name):
    chapter, _, function = ("fft.fftn" if name == "fft.fft2" else name).rpartition(".")  # the standard has no fft2
    if not hasattr(getattr(array_api, chapter, None) if chapter else array_api, function):
        pytest.skip(f"this version has no xpgrad.array_api.{name}")
    compare(STANDARD[name], S)


def test_the_dtype_of_a_result():
    assert np.result_type(Variable(X), np.float32) == np.float64
    assert np.result_type(Variable(X.astype(np.float32)), np.dtype("float32")) == np.float32


def test_bincount_of_variables():
    compare(lambda w: np.bincount(np.array([0, 2, 2]), w), np.array([0.5, 1.5, 2.5]))
    compare(lambda w: np.bincount([0, 2, 2], weights=w, minlength=5), np.array([0.5, 1.5, 2.5]))
    compare(np.bincount, np.zeros(300, np.uint8))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_slopes_and_angles_of_integers_beside_floating_point_numbers(dtype):
    integers = np.array([3, 1, 2, 0], dtype)
    compare(lambda n: np.gradient(n, 0.5), integers)
    compare(np.arctan2, np.array([0.5, -1.5, 2.0, 3.0]), integers)
    compare(np.arctan2, integers, np.array([0.5, -1.5, 2.0, 3.0]))


def test_mixed_variables_and_arrays():
    v = Variable(X.copy())
    for y in (np.concatenate([X, v]), np.stack([v, X]), np.where(X > 0, X, v), np.kron(X, v), np.dot(X.T, v)):
        assert isinstance(y, Variable)
        assert y.requires_grad
    assert np.hstack([v[0], [1.0, 2.0]]).shape == (5,)


def test_gradient_rejects_too_few_points():
    for points, edge_order in ((1, 1), (2, 2), (5, 3)):
        with pytest.raises(ValueError, match="gradient: expected an edge_order of 1 or 2, and more points than that"):
            np.gradient(Variable(np.ones(points)), edge_order=edge_order)
