"""Values of derivatives at points where functions are not differentiable: ties, kinks, origins and infinities."""

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api
from xpgrad.testing.arrays import on_host, placed

INF = np.inf


def gradients(device, function, *values, dtype="float32"):
    """Return gradients of the inputs for a cotangent of ones; scalars remain scalars and get None."""
    xs = [v if np.isscalar(v) else xpgrad.Variable(placed(np.asarray(v, dtype), device)) for v in values]
    y = function(*xs)
    xpgrad.backward([y], [xpgrad.Variable(placed(np.ones(y.shape, device.backend.dtype_name(y.dtype)), device))])
    gxs = [None if np.isscalar(x) or x.grad is None else on_host(x.grad) for x in xs]
    assert all(g is None or g.dtype == dtype for g in gxs)
    return [None if g is None else g.tolist() for g in gxs]


@pytest.mark.parametrize(
    ("function", "gx1", "gx2"),
    [(array_api.maximum, [0, 0.5, 1], [1, 0.5, 0]), (array_api.minimum, [1, 0.5, 0], [0, 0.5, 1])],
)
def test_ties_of_two_arrays_share_equally(device, function, gx1, gx2):
    assert gradients(device, function, [1, 2, 3], [2, 2, 2]) == [gx1, gx2]


@pytest.mark.parametrize("scalar", [2, 2.0, np.float64(2), 0.0])
def test_ties_with_a_scalar_give_half(device, scalar):
    x = [scalar - 1, scalar, scalar + 1]
    assert gradients(device, array_api.maximum, x, scalar) == [[0, 0.5, 1], None]
    assert gradients(device, array_api.maximum, scalar, x) == [None, [0, 0.5, 1]]
    assert gradients(device, array_api.minimum, x, scalar) == [[1, 0.5, 0], None]


def test_equal_infinities_are_ties(device):
    assert gradients(device, array_api.maximum, [INF, -INF, INF], [INF, -INF, -INF]) == [[0.5, 0.5, 1], [0.5, 0.5, 0]]


def test_nan_takes_no_gradient_from_a_maximum(device):
    assert gradients(device, array_api.maximum, [np.nan, 1], [1, np.nan]) == [[0, 0], [0, 0]]


def test_minimum_with_itself_gives_the_whole_gradient(device):
    assert gradients(device, lambda x: array_api.minimum(x, x), [1, 2]) == [[1, 1]]


def test_clip_shares_with_an_array_exactly_at_the_bound(device):
    x, low, high = [0, 1, 2, 3, 4], [1, 1, 1, 1, 1], [3, 3, 3, 3, 3]
    assert gradients(device, array_api.clip, x, low, high) == [
        [0, 0.5, 1, 0.5, 0],
        [1, 0.5, 0, 0, 0],
        [0, 0, 0, 0.5, 1],
    ]


def test_clip_gives_half_exactly_at_a_scalar_bound(device):
    assert gradients(device, lambda x: array_api.clip(x, 1, 3), [0, 1, 2, 3, 4]) == [[0, 0.5, 1, 0.5, 0]]
    assert gradients(device, lambda x: array_api.clip(x, min=0.0), [-1, 0, 1]) == [[0, 0.5, 1]]
    assert gradients(device, lambda x: array_api.clip(x, max=0.0), [-1, 0, 1]) == [[1, 0.5, 0]]


def test_clip_where_both_bounds_meet_is_the_composition(device):
    assert gradients(device, array_api.clip, [2], [2], [2]) == [[0.25], [0.25], [0.5]]


def test_absolute_value_has_derivative_0_at_0(device):
    assert gradients(device, array_api.abs, [-0.0, 0.0, -2, 3]) == [[0, 0, -1, 1]]
    assert gradients(device, array_api.abs, [0, 3 + 4j], dtype="complex64") == [[0, np.complex64(0.6 + 0.8j)]]


def test_complex_sign_has_gradient_0_at_0(device):
    (gx,) = gradients(device, array_api.sign, [0, 2j], dtype="complex64")
    assert gx == [0, 0.5]  # a step along the real axis turns 2j, and a step away from 0 does not change its sign


def test_origin_of_hypot_and_atan2_has_gradient_0(device):
    assert gradients(device, array_api.hypot, [0, 3], [0, 4]) == [
        [0, pytest.approx(0.6)],
        [0, pytest.approx(0.8)],
    ]
    assert gradients(device, array_api.atan2, [0, 0], [0, 2]) == [[0, 0.5], [0, 0]]


def test_atan2_and_hypot_neither_overflow_nor_underflow(device):
    for size in (1e-30, 1e30):
        gx1, gx2 = gradients(device, array_api.atan2, [3 * size], [4 * size])
        assert gx1 == pytest.approx([0.16 / size], rel=1e-5)
        assert gx2 == pytest.approx([-0.12 / size], rel=1e-5)
        assert gradients(device, array_api.hypot, [3 * size], [4 * size])[0] == pytest.approx([0.6])


def test_copysign_of_0_has_derivative_0(device):
    assert gradients(device, array_api.copysign, [0, -2, 2], [-1, -1, -1]) == [[0, 1, -1], None]


def test_logaddexp_of_two_empty_sums_has_gradient_0(device):
    gx1, gx2 = gradients(device, array_api.logaddexp, [-INF, -INF, 0, 800], [-INF, 0, -INF, -800])
    assert (gx1, gx2) == ([0, 0, 1, 1], [0, 1, 0, 0])


def test_powers_of_0(device):
    gx1, gx2 = gradients(device, array_api.pow, [0, 0, 0, 0], [0, 1, 2, 3])
    assert (gx1, gx2) == ([0, 1, 0, 0], [0, 0, 0, 0])
    for exponent, derivative in ((0, 0), (1, 1), (2, 0), (3, 0), (2.5, 0)):
        assert gradients(device, lambda x, n=exponent: x**n, [0]) == [[derivative]]


def test_negative_bases_have_a_gradient_but_none_for_the_exponent(device):
    with np.errstate(invalid="ignore"):
        gx1, gx2 = gradients(device, array_api.pow, [-2, -3], [3, 2])
    assert gx1 == [12, -6]
    assert np.isnan(gx2).all()


@pytest.mark.parametrize(
    ("function", "x"), [(array_api.sqrt, 0), (array_api.log, 0), (array_api.asin, 1), (array_api.acosh, 1)]
)
def test_infinite_derivatives_are_infinite(device, function, x):
    with np.errstate(divide="ignore"):
        assert gradients(device, function, [x]) == [[INF]]


def test_second_derivatives_at_kinks_are_0(device):
    for function in (array_api.abs, lambda x: array_api.maximum(x, 0.0), lambda x: array_api.clip(x, -1, 0)):
        x = xpgrad.Variable(placed(np.zeros(2, "float32"), device))
        (gx,) = xpgrad.grad([function(x) * x], [x], enable_double_backprop=True)
        (ggx,) = xpgrad.grad([gx], [x])
        half = on_host(gx)
        assert half.tolist() == [0, 0]
        assert ggx is not None
        assert on_host(ggx).tolist() == [0 if function is array_api.abs else 1] * 2


def test_where_gives_0_to_unselected_elements(device):
    condition = placed(np.array([True, False]), device)
    assert gradients(device, lambda a, b: array_api.where(condition, a, b), [1, np.nan], [INF, 2]) == [[1, 0], [0, 1]]


def test_remainder_follows_the_dividend_at_a_jump(device):
    assert gradients(device, array_api.remainder, [4, 5], [2, 2]) == [[1, 1], [-2, -2]]


@pytest.mark.parametrize("name", ["asin", "acos", "atanh", "acosh", "atan", "asinh", "reciprocal", "sqrt", "tanh"])
def test_raw_and_recorded_gradients_of_one_complex_number_are_bit_equal(device, name):
    random = np.random.default_rng(5)
    for _ in range(20):
        x, g = (xpgrad.Variable(placed(np.asarray(complex(*random.normal(size=2))), device)) for _ in range(2))
        y = getattr(array_api, name)(x)
        raw, recorded = (xpgrad.grad([y], [x], [g], enable_double_backprop=record)[0] for record in (False, True))
        assert on_host(raw) == on_host(recorded)
