"""Reductions at the edges: ties, zeros, empty arrays, dtypes."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import jvp


def variable(device, values, dtype="float64", **options):
    return Variable(placed(np.asarray(values, dtype), device), **options)


def gradient(device, function, values):
    x = variable(device, values)
    y = function(x)
    (gx,) = xpgrad.grad([y], [x])
    return on_host(gx).tolist()


def test_ties_share_equally(device):
    values = [[1, 3, 3], [2, 2, 2]]
    assert gradient(device, lambda x: array_api.max(x, axis=1), values) == [[0, 0.5, 0.5], [1 / 3] * 3]
    assert gradient(device, array_api.max, values) == [[0, 0.5, 0.5], [0, 0, 0]]
    assert gradient(device, lambda x: array_api.min(x, axis=0, keepdims=True), values) == [[1, 0, 0], [0, 1, 1]]


def test_product_has_its_gradient_at_zeros(device):
    assert gradient(device, array_api.prod, [2, 0, 3]) == [0, 6, 0]
    assert gradient(device, array_api.prod, [2, 0, 0]) == [0, 0, 0]
    assert gradient(device, lambda x: array_api.cumulative_prod(x), [2, 0, 3]) == [1, 8, 0]


def test_second_derivatives_of_a_product_with_two_zeros(device):
    x = variable(device, [2, 0, 0, 5])
    (gx,) = xpgrad.grad([array_api.prod(x)], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([gx[1]], [x])
    assert on_host(ggx).tolist() == [0, 0, 10, 0]


def test_sums_keep_narrow_floats_and_widen_integers(device):
    assert device.backend.dtype_name(array_api.sum(variable(device, [1, 2], "float32")).dtype) == "float32"
    assert device.backend.dtype_name(array_api.sum(variable(device, [1, 2], "int8")).dtype) == "int64"
    small = variable(device, [1, 2], "uint8")  # some libraries return int64, because they lack uint64
    assert array_api.prod(small).dtype == device.backend.namespace.prod(small.array).dtype != small.dtype


def test_empty_sums_and_extrema(device):
    empty = np.zeros((0, 3))
    assert gradient(device, array_api.sum, empty) == []
    assert on_host(array_api.prod(variable(device, empty), axis=0)).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="max"):
        array_api.max(variable(device, empty))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mean_of_an_empty_array_is_nan(device):
    x = variable(device, np.zeros((0, 3)))
    y = array_api.mean(x)
    assert np.isnan(on_host(y))
    y.backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", [array_api.var, array_api.std])
@pytest.mark.parametrize("correction", [2, 3.5])
def test_spread_without_degrees_of_freedom_is_nan(device, function, correction):
    x = variable(device, [1, 3])
    assert np.isnan(on_host(function(x, correction=correction).array))
    assert np.isnan(on_host(function(variable(device, [1, 3j], "complex128"), correction=correction).array))
    with np.errstate(all="ignore"):
        assert np.isnan(gradient(device, lambda x: function(x, correction=correction), [1, 3])).all()


@pytest.mark.parametrize("function", [array_api.cumulative_sum, array_api.cumulative_prod])
def test_initial_element_alone_has_the_tangent_zero(device, function):
    x = placed(np.ones((2, 0)), device)
    y, dy = jvp(lambda x: function(x, axis=1, include_initial=True), (x,), (x,))
    assert (on_host(y).shape, on_host(dy).tolist()) == ((2, 1), [[0], [0]])


def test_deviation_of_equal_values_has_the_gradient_0_as_a_norm_at_the_origin(device):
    assert gradient(device, array_api.std, [1, 1, 1]) == [0, 0, 0]
    assert gradient(device, array_api.var, [1, 1, 1]) == [0, 0, 0]


def test_gradient_of_a_sum_has_separate_memory(device):
    x = variable(device, np.ones((3, 4)))
    array_api.sum(x).backward()
    gx = on_host(x.grad)
    assert gx.strides == np.ones((3, 4)).strides
    assert gx.flags.writeable
