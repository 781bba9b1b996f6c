"""The late imported kernels of NumPy's backend, including kernels of SciPy."""

import importlib
from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, get_device
from xpgrad import array_api as xp
from xpgrad.transforms import vjp
from xpgrad_numpy.kernels import LATE, network
from xpgrad_numpy.kernels.elementwise import BITWISE_FROM, tanh_x, where
from xpgrad_numpy.kernels.rows import SHARED
from xpgrad_numpy.kernels.sorting import argsort, sort
from xpgrad_numpy.kernels.statistical import sum_to
from xpgrad_numpy.writers import where as write_where


@pytest.mark.parametrize("module", LATE)
def test_the_names_of_late_kernels_agree_with_their_module(module: str) -> None:
    kernels = getattr(importlib.import_module(f"xpgrad_numpy.kernels.{module}"), module.upper())
    assert LATE[module].split() == list(kernels)
    assert {name: network(name) for name in kernels} == kernels


@pytest.mark.parametrize("name", ["ber", "bei", "ker", "kei"])
def test_kelvin_functions_of_single_precision_are_right_to_the_last_digit(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.linspace(0.1, 12, 501, dtype=np.float32)
    kernel = get_device("@numpy").backend.lazy_override(f"special.{name}")
    assert kernel is not None
    y = kernel(x)
    np.testing.assert_allclose(y, getattr(special, name)(x.astype(np.float64)), rtol=1e-7)
    assert y.dtype == np.float32


def _by_series() -> list[tuple[str, Any, dict[str, float], float]]:
    """Kernels that are series or fractions where the default is an integral, arguments, parameters and tolerances."""
    rng, edges = np.random.default_rng(0), (0, -1, np.nan, np.inf)
    (a, b), x = 10 ** rng.uniform(-2, 1.7, (2, 40, 50)), 10 ** rng.uniform(-3, 1.7, (40, 50))
    a[0, :4], x[1, :4] = edges, edges
    large = 10 ** rng.uniform(1.4, 5, 500)
    beside = large * (1 + rng.normal(0, 3, 500) / np.sqrt(large))
    portions = rng.uniform(0, 1, (40, 50))
    portions[:, 0], portions[1, :4] = 0.5, (0, 1, 2, np.nan)
    df, t = 10 ** rng.uniform(-1.5, 4, (40, 50)), 10 ** rng.uniform(-3, 3, (40, 50)) * rng.choice([-1, 1], (40, 50))
    df[0, :4], t[1, :5] = edges, (0, -0.0, np.nan, np.inf, -np.inf)
    near_one = np.append(10 ** rng.uniform(-0.3, 0.3, 500) - 1, 0.0)
    rows: list[Any] = [("erfc_quotient_of", (rng.uniform(-5, 20, 500),), {"n": 1}, 1e-11)]
    for largest in 8.0, 150.0:
        v, z, m = rng.uniform(-largest, largest, 500), 10 ** rng.uniform(-1.9, 3, 500), rng.uniform(-3, 0.99, 500)
        rows += [("kve_moment", (v, z), {"m": m, "k": k}, 1e-11) for m, k in ((1, 0), (0, 1), (2, 1))]
        rows += [("elliptic_of", (v, m), {"n": n, "power": p}, 1e-11) for n, p in ((0, 0.5), (1, -0.5), (1, 0.5))]
    for n in 0, 1, 2:
        pairs = (a, x), (large, beside), (a[:, :1], 40.0 + a)
        rows += [("gammainc_slope", pair, {"n": n}, 10.0 ** (n - 12)) for pair in pairs]  # order 2 has zeros
        rows += [("stdtr_slope", (df, t), {"n": n}, 1e-10)]
    for n in 0, 1:
        rows += [("log1prel_of", (near_one,), {"n": n}, 10.0 ** (n - 12))]
        rows += [("betainc_slope", (a, b, portions), {"m": 1 - n, "n": n}, 1e-11)]
    return rows


@pytest.mark.parametrize(
    ("name", "args", "parameters", "rtol"), _by_series(), ids=lambda item: item if type(item) is str else ""
)
def test_kernels_by_series_agree_with_integrals(
    name: str, args: Any, parameters: dict[str, float], rtol: float
) -> None:
    pytest.importorskip("scipy.special")
    backend = get_device("@numpy").backend
    kernel, default = backend.lazy_override(f"special.{name}"), backend.xp.default(f"special.{name}")
    assert kernel is not None
    assert default is not None
    with np.errstate(all="ignore"):
        found, expected = kernel(*args, **parameters), default(*args, **parameters)
        single = kernel(*(x.astype(np.float32) for x in args), **parameters)
    normal = ~(np.abs(expected) > 1e250)
    np.testing.assert_allclose(found[normal], expected[normal], rtol=rtol, atol=1e-300)
    assert single.dtype == np.float32
    assert kernel(*(x[:0] for x in args), **parameters).shape == (0, *np.shape(found)[1:])
    assert kernel(*(np.asarray(x.ravel()[7]) for x in args), **parameters).shape == ()


DISTRIBUTIONS: dict[str, Any] = {
    "gammainc": lambda mpmath, a, x: mpmath.gammainc(a, 0, x, regularized=True),
    "stdtr": lambda mpmath, v, t: (
        -mpmath.sign(t) * mpmath.betainc(v / 2, 0.5, 0, v / (v + mpmath.mpf(t) ** 2), regularized=True) / 2
    ),
}
POINTS: list[tuple[str, tuple[int, ...], list[tuple[float, float]]]] = [
    ("gammainc", (1,), [(0.08, 5.33), (0.6, 6.0), (1.5, 0.7), (2.0, 5.1), (3.0, 3.0), (20.0, 29.0), (28.0, 4.0)]),
    ("gammainc", (1, 2), [(30, 24), (35, 70), (999, 980), (4e4, 39_800), (1e6, 1.002e6), (1e6, 995_500)]),
    ("stdtr", (1, 2), [(0.1, 0.3), (0.7, -8), (2, 0.01), (3, 1.2), (9, 0.1), (12, 2.5), (3, -1.7), (14, 30)]),
    ("stdtr", (1, 2), [(18.5, 0.3), (30, -2), (61, 0.01), (65, 11), (999, 1.5), (2e4, -4), (1e6, 1.7)]),
]
"""Names, orders of derivatives with respect to the parameters, and pairs of a parameter and an argument."""


@pytest.mark.parametrize(("name", "orders", "points"), POINTS)
def test_derivatives_of_distributions_have_the_digits_of_mpmath(name: str, orders: Any, points: Any) -> None:
    mpmath = pytest.importorskip("mpmath")
    pytest.importorskip("scipy.special")
    kernel, function = get_device("@numpy").backend.lazy_override(f"special.{name}_slope"), DISTRIBUTIONS[name]
    assert kernel is not None
    for n in orders:
        with mpmath.workdps(45):
            expected = [float(mpmath.diff(lambda a, x=x: function(mpmath, a, x), a, n)) for a, x in points]
        np.testing.assert_allclose(kernel(*np.array(points).T, n=n), expected, rtol=64 * np.finfo(float).eps)


def test_gammainc_and_its_inverse_have_the_digits_of_mpmath_in_the_lower_tail_of_a_large_parameter() -> None:
    mpmath = pytest.importorskip("mpmath")
    scipy_special = pytest.importorskip("scipy.special")
    backend, a = get_device("@numpy").backend, 10.0 ** np.array([5, 5.5, 6, 6, 6])
    kernel, inverse = (backend.lazy_override(f"special.{name}") for name in ("gammainc", "gammaincinv"))
    assert kernel is not None
    assert inverse is not None
    x = a - np.sqrt(a) * np.array([4.5, 6, 4.2, 5, 9])
    with mpmath.workdps(40):
        expected = [float(mpmath.gammainc(s, 0, z, regularized=True)) for s, z in zip(a, x, strict=True)]
    np.testing.assert_allclose(kernel(a, x), expected, rtol=1e-13)
    np.testing.assert_allclose(kernel(a[-1], x[-1]), expected[-1], rtol=1e-13)
    assert kernel(a.astype(np.float32), x.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(inverse(a, np.asarray(expected)), x, rtol=1e-14)
    np.testing.assert_allclose(inverse(a[-1], expected[-1]), x[-1], rtol=1e-14)
    assert kernel(a[:1], a[:1]) == scipy_special.gammainc(a[0], a[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("random", [False, True])
def test_where_by_bits_gives_the_bits_of_where(dtype: str, random: bool) -> None:
    rng, size = np.random.default_rng(0), BITWISE_FROM
    x, y = (rng.choice([1.5, -2.0, 0.0, -0.0, np.nan, np.inf], size).astype(dtype) for _ in range(2))
    condition = rng.random(size) < 0.5 if random else np.arange(size) > 9
    for x1, x2 in [(x, y)] + [pair for z in (0.0, -0.0, np.nan, 1.5) for pair in ((x, z), (z, x))]:
        expected, out = np.where(condition, x1, x2), np.empty(size, dtype)
        found = where(condition, x1, x2)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes() == write_where(condition, x1, x2, out=out).tobytes()


@pytest.mark.parametrize("f", [xp.maximum, xp.minimum])
def test_gradients_of_extrema_share_ties_and_leave_out_nan(f: Any) -> None:
    rng = np.random.default_rng(0)
    x1, x2 = (Variable(rng.choice([-1.0, 0.0, -0.0, 2.0, np.nan], BITWISE_FROM)) for _ in range(2))
    gy = rng.choice([1.0, np.inf, np.nan], BITWISE_FROM)
    gxs = xpgrad.grad([f(x1, x2)], [x1, x2], [Variable(gy)])
    first = x1.array > x2.array if f is xp.maximum else x1.array < x2.array
    second = x2.array > x1.array if f is xp.maximum else x2.array < x1.array
    for gx, taken in zip(gxs, (first, second), strict=True):
        expected = np.where(x1.array == x2.array, 0.5 * gy, np.where(taken, gy, 0.0))
        assert gx is not None
        np.testing.assert_array_equal(gx.array, expected)


def test_programs_in_blocks_of_arrays_that_are_not_contiguous() -> None:
    gy, x, t = (np.linspace(-1, 1, 2**18).reshape(2**8, 2**10).T for _ in range(3))
    f = xpgrad.compile(lambda gy, x, t: vjp(xp.tanh, x)[1](gy * t)[0], executor="python")
    for _ in range(3):
        np.testing.assert_array_equal(f(gy, x, t), tanh_x(gy * t, x, np.tanh(x)))


@pytest.mark.parametrize("shape", [(20,), (1, 20), (300, 1), (1,), (40, 1, 20), (40, 30, 1)])
def test_sums_to_a_shape_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    large = (40, 30, 20) if len(shape) > 2 else (300, 20)
    x = np.random.default_rng(0).standard_normal(large)
    x[0, 0], x[1, 1] = np.inf, np.nan
    axes = tuple(range(x.ndim - len(shape)))
    axes += tuple(i for i in range(len(axes), x.ndim) if shape[i - x.ndim] != large[i])
    y = sum_to(x, shape)
    np.testing.assert_allclose(y, np.sum(x, axes).reshape(shape), rtol=1e-12, atol=1e-12)
    assert y.shape == shape


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [1, -1])
def test_sorting_of_large_arrays_is_stable(dtype: str, descending: bool, axis: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([1.5, -2.0, 0.0, -0.0, 9.0, -7.0], (2, SHARED // 4, 2)).astype(dtype)
    order = np.argsort(np.flip(x, axis) if descending else x, axis=axis, kind="stable")
    if descending:
        order = x.shape[axis] - 1 - np.flip(order, axis)
    np.testing.assert_array_equal(argsort(x, axis=axis, descending=descending), order)
    y = sort(x, axis=axis, descending=descending)
    assert y.tobytes() == np.take_along_axis(x, order, axis).tobytes()


def test_values_of_expm1_at_complex_infinities_and_nan_are_the_standards() -> None:
    inf, nan = np.inf, np.nan
    x = np.asarray([complex(inf, 0), complex(inf, -0.0), complex(-inf, inf), complex(-inf, nan), complex(nan, 0)])
    with np.errstate(all="ignore"):
        y = xp.expm1(Variable(x)).array
        unbounded = xp.expm1(Variable(np.asarray([complex(inf, inf), complex(inf, nan)]))).array
    expected = np.asarray([complex(inf, 0), complex(inf, -0.0), -1, -1, complex(nan, 0)])
    np.testing.assert_array_equal(y.real, expected.real)
    np.testing.assert_array_equal(y.imag, expected.imag)
    assert np.isinf(unbounded.real).all()
    assert np.isnan(unbounded.imag).all()


def test_argsort_of_a_number_raises_as_sort_does() -> None:
    for function in xp.sort, xp.argsort:
        with pytest.raises(xpgrad.AxisError, match="sort: axis -1 is out of bounds for array of dimension 0"):
            function(Variable(np.asarray(3.0)))
