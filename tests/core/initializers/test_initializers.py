"""Every initializer: its statistics, dtypes and errors, on each backend."""

import math
import pickle

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api, initializers
from xpgrad.errors import DtypeError

SHAPE = (60, 50, 3, 2)
FAN_IN, FAN_OUT = 300, 360
DEVIATIONS = {
    "Normal": 0.05, "LeCunNormal": math.sqrt(1 / FAN_IN), "GlorotNormal": math.sqrt(2 / (FAN_IN + FAN_OUT)),
    "HeNormal": math.sqrt(2 / FAN_IN), "Uniform": 0.05 / math.sqrt(3), "LeCunUniform": math.sqrt(1 / FAN_IN),
    "GlorotUniform": math.sqrt(2 / (FAN_IN + FAN_OUT)), "HeUniform": math.sqrt(2 / FAN_IN),
}  # fmt: skip
BACKENDS = "@numpy", "@strict", "@torch", "@jax", "@dask", "native:0"


def device_of(specifier):
    library = {"@torch": "torch", "@jax": "jax", "@dask": "dask", "@strict": "array_api_strict"}.get(specifier)
    if library:
        pytest.importorskip(library)
    return xpgrad.get_device(specifier)


def made(initializer, shape, device="@numpy", dtype=None):
    array = initializers.generate_array(initializer, shape, dtype=dtype, device=device)
    return xpgrad.get_device("@numpy").send(array)


@pytest.mark.parametrize("name", DEVIATIONS)
@pytest.mark.parametrize("device", BACKENDS)
def test_random_numbers_have_mean_and_deviation(name, device):
    x = made(getattr(initializers, name)(), SHAPE, device_of(device))
    assert x.dtype == np.float32
    assert abs(x.mean()) < 4 * DEVIATIONS[name] / math.sqrt(x.size)
    assert x.std() == pytest.approx(DEVIATIONS[name], rel=0.02)
    if name.endswith("Uniform"):
        assert abs(x).max() <= DEVIATIONS[name] * math.sqrt(3) * (1 + 1e-6)
        assert abs(x).max() > DEVIATIONS[name] * math.sqrt(3) * 0.99
    else:
        kurtosis = (x**4).mean() / (x**2).mean() ** 2
        assert kurtosis == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize("name", sorted({*initializers.__all__} - {"Initializer", "generate_array", "get_fans"}))
@pytest.mark.parametrize("device", ["@numpy", "@strict", "@torch", "native:0"])
def test_complex_numbers_are_of_the_whole_plane_or_an_error(name, device):
    kind, shape = getattr(initializers, name), (20, 20, 3, 3) if name.endswith("Filter") else (60, 60)
    initializer = kind(1 - 2j) if name == "Constant" else kind()
    if name.endswith("Uniform"):
        with pytest.raises(
            DtypeError, match=f"{name}: expected an array of real floating-point numbers, got complex64"
        ):
            made(initializer, shape, device_of(device), "complex64")
        return
    x = made(initializer, shape, device_of(device), "complex64")
    real = made(kind(1.0) if name == "Constant" else initializer, shape, device_of(device), "float32")
    assert x.dtype == "complex64"
    if name.endswith("Normal"):
        assert abs(x).std() ** 2 + abs(x).mean() ** 2 == pytest.approx(real.std() ** 2, rel=0.1)
        assert abs((x * x).mean()) < 0.1 * (abs(x) ** 2).mean()
    elif name == "Orthogonal":
        np.testing.assert_allclose(x @ x.conj().T, initializer.scale**2 * np.eye(60), atol=1e-5)
        assert abs((x * x).mean()) < 0.1 * (abs(x) ** 2).mean()
    else:
        np.testing.assert_array_equal(x, real * (1 - 2j if name == "Constant" else 1))


@pytest.mark.parametrize("value", [1 + 2j, np.complex64(1j), np.asarray([1j])])
def test_complex_constants_do_not_lose_their_imaginary_part(value):
    with pytest.raises(DtypeError, match=r"Constant: .* (array of|cast to) float32"):
        made(initializers.Constant(value), (2,), dtype="float32")


def test_numbers_of_a_given_generator_are_complex_for_complex_arrays():
    x = made(initializers.Normal(2.0, rng=np.random.default_rng(0)), (100, 100), dtype="complex128")
    assert x.real.std() == pytest.approx(2**0.5, rel=0.03)
    assert x.imag.std() == pytest.approx(2**0.5, rel=0.03)


def test_fan_option_and_scale_change_the_deviation():
    x = made(initializers.HeNormal(3.0, fan_option="fan_out"), SHAPE)
    assert x.std() == pytest.approx(3 * math.sqrt(2 / FAN_OUT), rel=0.02)
    with pytest.raises(ValueError, match="HeNormal: fan_option must be 'fan_in' or 'fan_out', got 'fan'"):
        initializers.HeNormal(fan_option="fan")


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
@pytest.mark.parametrize("name", [*DEVIATIONS, "Orthogonal"])
def test_numbers_of_a_given_generator(name, make):
    one, two = (made(getattr(initializers, name)(rng=make(3)), (4, 3)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, made(getattr(initializers, name)(rng=make(4)), (4, 3)))


def test_seed_of_the_stream_repeats_numbers():
    xpgrad.random.seed(5)
    one = made(initializers.LeCunNormal(), (4, 3))
    other = made(initializers.LeCunNormal(), (4, 3))
    xpgrad.random.seed(5)
    np.testing.assert_array_equal(one, made(initializers.LeCunNormal(), (4, 3)))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("device", BACKENDS)
@pytest.mark.parametrize("shape", [(4, 4), (3, 2, 4), (9, 2, 3), (1, 5), ()])
def test_orthogonal_rows_or_columns(device, shape):
    x = made(initializers.Orthogonal(), shape, device_of(device)).astype(np.float64)
    matrix = x.reshape(x.shape[0] if shape else 1, -1)
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    np.testing.assert_allclose(matrix @ matrix.T, 1.1**2 * np.eye(len(matrix)), atol=1e-5)


def test_orthogonal_matrices_have_no_preferred_direction():
    first = [made(initializers.Orthogonal(1.0), (2, 2))[0, 0] for _ in range(400)]
    assert abs(np.mean(first)) < 0.15
    assert np.std(first) == pytest.approx(math.sqrt(0.5), rel=0.1)


@pytest.mark.parametrize(("mode", "good", "bad"), [
    ("projection", (2, 3), (3, 2)), ("embedding", (3, 2), (2, 3)), ("basis", (4, 2, 2), (4, 3)),
])  # fmt: skip
def test_mode_of_orthogonal(mode, good, bad):
    assert made(initializers.Orthogonal(mode=mode), good).shape == good
    with pytest.raises(ValueError, match=rf"Orthogonal: no {mode} of shape \({bad[0]}, {bad[1]}\), a matrix with"):
        made(initializers.Orthogonal(mode=mode), bad)


def test_errors_of_orthogonal():
    with pytest.raises(ValueError, match="mode must be one of 'auto', 'projection', 'embedding', 'basis', got 'x'"):
        initializers.Orthogonal(mode="x")
    with pytest.raises(ValueError, match="expected an array that is not empty"):
        made(initializers.Orthogonal(), (0, 3))


@pytest.mark.parametrize("device", BACKENDS)
def test_constants(device):
    device = device_of(device)
    np.testing.assert_array_equal(made(initializers.Constant(3), (2, 2), device), np.full((2, 2), 3))
    np.testing.assert_array_equal(made(initializers.Constant(np.arange(2.0)), (2, 2), device), [[0, 1], [0, 1]])
    np.testing.assert_array_equal(made(initializers.Zero(), (2,), device), [0, 0])
    np.testing.assert_array_equal(made(initializers.One(), (2,), device), [1, 1])
    assert np.isnan(made(initializers.NaN(), (2,), device)).all()
    np.testing.assert_array_equal(made(initializers.Identity(2), (2, 2), device), [[2, 0], [0, 2]])


@pytest.mark.parametrize("device", BACKENDS)
@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64"])
def test_identity_has_the_dtype_of_the_array(device, dtype):
    y = initializers.generate_array(initializers.Identity(1), (2, 2), dtype=dtype, device=device_of(device))
    assert array_api.is_same_dtype(y.dtype, dtype)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_integers_have_no_nan(dtype):
    with pytest.raises(TypeError, match=f"NaN: expected an array of floating-point numbers, got {dtype}; use Zero"):
        initializers.generate_array(initializers.NaN(dtype), (2,))


def test_identity_is_square():
    with pytest.raises(ValueError, match=r"Identity: expected an array of shape \(N, N\), got \(2, 3\)"):
        made(initializers.Identity(), (2, 3))


def test_filters_of_interpolation():
    up = made(initializers.UpsamplingDeconvFilter(), (2, 2, 4, 4))
    line = np.array([0.25, 0.75, 0.75, 0.25])
    np.testing.assert_allclose(up[1, 1], np.outer(line, line))
    assert not up[0, 1].any()
    np.testing.assert_allclose(made(initializers.UpsamplingDeconvFilter(), (3, 1, 3))[2, 0], [0.5, 1, 0.5])
    down = made(initializers.DownsamplingConvFilter(), (2, 2, 3, 3, 3))
    np.testing.assert_allclose(down.sum(axis=(2, 3, 4)), np.eye(2), rtol=1e-6)
    with pytest.raises(ValueError, match=r"expected an array of shape \(C, C, k, ..., k\)"):
        made(initializers.DownsamplingConvFilter(), (2, 2, 3, 4))
    with pytest.raises(ValueError, match="interpolation must be 'linear', got 'cubic'"):
        initializers.UpsamplingDeconvFilter("cubic")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", [*DEVIATIONS, "Orthogonal", "One", "Identity", "NaN"])
def test_dtype_follows_the_initializer_or_the_configuration(name, dtype):
    assert made(getattr(initializers, name)(dtype=dtype), (3, 3)).dtype == dtype
    with xpgrad.using_config("dtype", dtype):
        assert made(getattr(initializers, name)(), (3, 3)).dtype == dtype


def test_parameters_are_float32_with_mixed_precision():
    with xpgrad.using_config("dtype", xpgrad.mixed16):
        assert made(initializers.LeCunNormal(), (3, 3)).dtype == np.float32


def test_dtypes_that_do_not_agree():
    with pytest.raises(ValueError, match="generate_array: dtype is float64, but that of the initializer is float32"):
        made(initializers.Zero("float32"), (3,), dtype="float64")
    with pytest.raises(TypeError, match="Zero: the initializer is for float32, got an array of float64"):
        initializers.Zero("float32")(np.ones(3))


def test_a_failing_initializer_leaves_the_array_unchanged():
    x = np.ones((2, 3))
    with pytest.raises(ValueError, match="Identity"):
        initializers.Identity()(x)
    with pytest.raises(ValueError, match=r"broadcast"):
        initializers.Constant(np.zeros(2))(x)
    np.testing.assert_array_equal(x, np.ones((2, 3)))


def test_an_array_is_filled_in_place():
    x = np.empty((2, 2), np.float32)
    assert initializers.One()(x) is None
    np.testing.assert_array_equal(x, np.ones((2, 2)))
    initializers.Constant(np.array([[[2, 3]]]))(x)
    np.testing.assert_array_equal(x, [[2, 3], [2, 3]])


def test_a_read_only_array_gets_a_substitute():
    jax = pytest.importorskip("jax")
    x = jax.numpy.zeros((2, 2))
    y = initializers.One()(x)
    assert float(x.sum()) == 0
    assert float(y.sum()) == 4


@pytest.mark.parametrize("device", BACKENDS)
def test_a_parameter_is_drawn_on_its_device(device):
    device = device_of(device)
    w = xpgrad.Parameter(initializers.HeUniform())
    w.to_device(device)
    w.initialize((3, 4))
    assert w.device == device
    assert w.shape == (3, 4)
    assert np.isnan(np.asarray(xpgrad.get_device("@numpy").send(w.grad))).all()


def test_chainers_own_way_of_subclassing():
    class Half(initializers.Initializer):
        def __call__(self, array):
            array[...] = 0.5

    np.testing.assert_array_equal(made(Half(), (2,)), [0.5, 0.5])
    with pytest.raises(NotImplementedError, match="implement generate"):
        made(initializers.Initializer(), (2,))


def test_initializer_arguments_of_links():
    get = initializers._get_initializer
    assert type(get(None)) is initializers.LeCunNormal
    assert get(2.0).fill_value == 2.0
    assert type(get(np.ones(3))) is initializers.Constant
    assert get(len) is len
    with pytest.raises(TypeError, match="expected None, a scalar, an array or a callable, got list"):
        get([1.0])


def test_fans():
    assert initializers.get_fans((5, 4)) == (4, 5)
    assert initializers.get_fans((5, 4, 3, 2)) == (24, 30)
    for bad in [(3,), [3, 4]]:
        with pytest.raises(ValueError, match="get_fans: expected the shape of a filter"):
            initializers.get_fans(bad)


def test_namespace_names_the_library():
    strict = pytest.importorskip("array_api_strict")
    x = initializers.generate_array(initializers.One(), (2,), strict)
    assert xpgrad.get_device_from_array(x).backend.name == "strict"
    assert type(initializers.generate_array(initializers.One(), (2,), np)) is np.ndarray


def test_initializers_are_pickled():
    again = pickle.loads(pickle.dumps(initializers.HeNormal(2.0, fan_option="fan_out")))
    assert (again.scale, again.fan_option, again.dtype) == (2.0, "fan_out", None)
