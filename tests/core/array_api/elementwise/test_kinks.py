"""Values of derivatives at points where functions are not differentiable: ties, kinks, origins and infinities."""

import numpy as np
import pytest

import xpgrad
from xpgrad import array_api
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad

INF, NAN = np.inf, np.nan


def gradients(device, function, *values, dtype="float32"):
    """Return gradients of the inputs for a cotangent of ones; scalars remain scalars and get None."""
    xs = [v if np.isscalar(v) else xpgrad.Variable(placed(np.asarray(v, dtype), device)) for v in values]
    y = function(*xs)
    xpgrad.backward([y], [xpgrad.Variable(placed(np.ones(y.shape, device.backend.dtype_name(y.dtype)), device))])
    gxs = [None if np.isscalar(x) or x.grad is None else on_host(x.grad) for x in xs]
    assert all(g is None or g.dtype == dtype for g in gxs)
    return [None if g is None else g.tolist() for g in gxs]


C64 = {"dtype": "complex64"}
KINKS = {
    "maximum": (array_api.maximum, [[1, 2, 3], [2, 2, 2]], [[0, 0.5, 1], [1, 0.5, 0]]),
    "minimum": (array_api.minimum, [[1, 2, 3], [2, 2, 2]], [[1, 0.5, 0], [0, 0.5, 1]]),
    "equal infinities": (
        array_api.maximum, [[INF, -INF, INF], [INF, -INF, -INF]], [[0.5, 0.5, 1], [0.5, 0.5, 0]]),
    "NaN takes nothing": (array_api.maximum, [[NAN, 1], [1, NAN]], [[0, 0], [0, 0]]),
    "minimum with itself": (lambda x: array_api.minimum(x, x), [[1, 2]], [[1, 1]]),
    "clip at bounds of arrays": (array_api.clip, [[0, 1, 2, 3, 4], [1, 1, 1, 1, 1], [3, 3, 3, 3, 3]],
                                 [[0, 0.5, 1, 0.5, 0], [1, 0.5, 0, 0, 0], [0, 0, 0, 0.5, 1]]),
    "clip at scalar bounds": (lambda x: array_api.clip(x, 1, 3), [[0, 1, 2, 3, 4]], [[0, 0.5, 1, 0.5, 0]]),
    "clip at min": (lambda x: array_api.clip(x, min=0.0), [[-1, 0, 1]], [[0, 0.5, 1]]),
    "clip at max": (lambda x: array_api.clip(x, max=0.0), [[-1, 0, 1]], [[1, 0.5, 0]]),
    "clip where both bounds meet": (array_api.clip, [[2], [2], [2]], [[0.25], [0.25], [0.5]]),
    "abs": (array_api.abs, [[-0.0, 0.0, -2, 3]], [[0, 0, -1, 1]]),
    "complex abs": (array_api.abs, [[0, 3 + 4j]], [[0, np.complex64(0.6 + 0.8j)]], C64),
    "complex sign": (array_api.sign, [[0, 2j]], [[0, 0.5]], C64),  # a step along the real axis turns 2j
    "hypot": (array_api.hypot, [[0, 3], [0, 4]], [[0, 0.6], [0, 0.8]]),
    "atan2": (array_api.atan2, [[0, 0], [0, 2]], [[0, 0.5], [0, 0]]),
    "copysign of 0": (array_api.copysign, [[0, -2, 2], [-1, -1, -1]], [[0, 1, -1], None]),
    "logaddexp of empty sums": (
        array_api.logaddexp, [[-INF, -INF, 0, 800], [-INF, 0, -INF, -800]], [[0, 0, 1, 1], [0, 1, 0, 0]]),
    "powers of 0": (array_api.pow, [[0, 0, 0, 0], [0, 1, 2, 3]], [[0, 1, 0, 0], [0, 0, 0, 0]]),
    **{f"0 ** {n}": (lambda x, n=n: x**n, [[0]], [[slope]])
       for n, slope in ((0, 0), (1, 1), (2, 0), (3, 0), (2.5, 0))},
    "powers of negative bases": (array_api.pow, [[-2, -3], [3, 2]], [[12, -6], [NAN, NAN]]),
    **{f.__name__: (f, [[x]], [[INF]])
       for f, x in ((array_api.sqrt, 0), (array_api.log, 0), (array_api.asin, 1), (array_api.acosh, 1))},
    "remainder at a jump": (array_api.remainder, [[4, 5], [2, 2]], [[1, 1], [-2, -2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", KINKS)
def test_derivatives_at_kinks(device, name):
    function, values, expected, *options = KINKS[name]
    with np.errstate(all="ignore"):
        found = gradients(device, function, *values, **(options[0] if options else {}))
    assert [g is None for g in found] == [g is None for g in expected]
    for g, right in zip(found, expected, strict=True):
        if g is not None:
            assert g == pytest.approx(right, rel=1e-6 if name == "hypot" else 0, abs=0, nan_ok=True)


@pytest.mark.parametrize("scalar", [2, 2.0, np.float64(2), 0.0])
def test_ties_with_a_scalar_give_half(device, scalar):
    x = [scalar - 1, scalar, scalar + 1]
    assert gradients(device, array_api.maximum, x, scalar) == [[0, 0.5, 1], None]
    assert gradients(device, array_api.maximum, scalar, x) == [None, [0, 0.5, 1]]
    assert gradients(device, array_api.minimum, x, scalar) == [[1, 0.5, 0], None]


def test_atan2_and_hypot_neither_overflow_nor_underflow(device):
    for size in (1e-30, 1e30):
        gx1, gx2 = gradients(device, array_api.atan2, [3 * size], [4 * size])
        assert gx1 == pytest.approx([0.16 / size], rel=1e-5)
        assert gx2 == pytest.approx([-0.12 / size], rel=1e-5)
        assert gradients(device, array_api.hypot, [3 * size], [4 * size])[0] == pytest.approx([0.6])


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


@pytest.mark.parametrize("name", ["asin", "acos", "atanh", "acosh", "atan", "asinh", "reciprocal", "sqrt", "tanh"])
def test_raw_and_recorded_gradients_of_one_complex_number_are_bit_equal(device, name):
    random = np.random.default_rng(5)
    for _ in range(20):
        x, g = (xpgrad.Variable(placed(np.asarray(complex(*random.normal(size=2))), device)) for _ in range(2))
        y = getattr(array_api, name)(x)
        raw, recorded = (xpgrad.grad([y], [x], [g], enable_double_backprop=record)[0] for record in (False, True))
        assert on_host(raw) == on_host(recorded)


@pytest.mark.filterwarnings("error::xpgrad.CompileWarning")
def test_a_program_of_hypot_takes_the_origin(device):
    slope = xpgrad.compile(grad(lambda x: array_api.sum(array_api.hypot(x, 2 * x))))
    for x in [[1.0, 2.0]] * 3 + [[0.0, 2.0]] * 3:
        found = slope(placed(np.asarray(x, "float32"), device))
        assert on_host(found).tolist() == pytest.approx([0.0 if x[0] == 0 else 5**0.5, 5**0.5])
