"""Where dpnp differs from the standard or from NumPy: indices, scatter-add, numbers, eigenvalues, copies."""

import copy
import pickle

import dpnp
import numpy as np
import pytest
from tests.indices import INDICES, check_index

import xpgrad.array_api as A
from xpgrad import Variable, grad
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.table.comparisons import assert_same_bits

OTHER_INDICES = {
    "beyond the ends": np.s_[0:9, -9:2],
    "arrays apart": (np.array([1, 0]), slice(None), np.array([0, 3])),
    "new axis, array": (None, np.array([1, 1]), slice(None), 0),
    "nothing": np.array([], np.int64),
}


@pytest.mark.parametrize("name", INDICES | OTHER_INDICES)
def test_indices_follow_the_rules_of_numpy(name, device):
    check_index(device, (INDICES | OTHER_INDICES)[name])


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64"])
def test_many_values_at_few_places_add_up(dtype, device, rng):
    places = rng.integers(-5, 5, 40_000)
    values = rng.normal(size=(40_000, 2)).astype(dtype)
    x = Variable(device.send(np.zeros((5, 2), dtype)))
    y = x[device.send(places)]
    y.grad = device.send(values)
    y.backward()
    expected = np.zeros((5, 2), np.result_type(dtype, "float64"))
    np.add.at(expected, places, values)
    assert on_host(x.grad).dtype == dtype
    tolerance = 1e-6 if dtype != "float64" else 1e-13
    np.testing.assert_allclose(on_host(x.grad), expected, rtol=tolerance, atol=tolerance * 100)


def test_a_gather_has_the_same_gradient_each_time(device, rng):
    places, values = rng.integers(0, 7, 5_000), rng.normal(size=5_000) * 10.0 ** rng.integers(-8, 8, 5_000)
    x, seed = Variable(device.send(np.zeros(7))), Variable(device.send(values))
    y = x[device.send(places)]
    gradients = [on_host(grad([y], [x], [seed], enable_double_backprop=each % 2 == 1)[0]) for each in range(6)]
    for each in gradients[1:]:
        assert_same_bits(each, gradients[0], "the gradient of x[i]")


def test_slices_and_arrays_of_one_gradient_add_up(device):
    x = Variable(device.send(np.arange(6.0)))
    y = A.sum(x[1:4] * 2.0) + A.sum(x[device.send(np.array([0, 0, 2]))]) + A.sum(x[::2] * 10.0)
    y.backward()
    assert on_host(x.grad).tolist() == [12.0, 2.0, 13.0, 2.0, 10.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "bool"])
@pytest.mark.parametrize("number", [2, 0.1, True, 0.0, -0.0, float("inf"), float("nan"), 1e30, 1j])
def test_numbers_mean_what_they_mean_to_dpnp(dtype, number, device):
    array = device.send(np.asarray([1, 0, 1], dtype))
    for _ in range(2):  # the second time the number is on the device already
        y, expected = Variable(array, requires_grad=False) * number, array * number
        assert y.dtype == expected.dtype
        assert_same_bits(on_host(y), on_host(expected), f"{dtype} * {number}")


def test_the_sign_of_zero_stays(device):
    x = Variable(device.send(np.ones(1)))
    for zero in (0.0, -0.0, 0.0):
        assert np.signbit(on_host(x * zero))[0] == np.signbit(zero)


def test_a_0d_array_widens_like_any_other(device):
    x = Variable(device.send(np.ones(2, np.float32)))
    y = x * device.send(np.asarray(1e-12)) + 1.0
    assert y.dtype == np.float64


def test_real_eigenvalues_are_complex_numbers(device):
    x = device.send(np.diag(np.asarray([1.0, 2.0], np.float32)))
    values, vectors = A.linalg.eig(Variable(x, requires_grad=False))
    assert values.dtype == vectors.dtype == A.linalg.eigvals(Variable(x, requires_grad=False)).dtype == np.complex64
    assert sorted(on_host(values).real.tolist()) == [1.0, 2.0]


def test_host_memory_comes_in_by_dlpack(device):
    namespace = device.backend.namespace
    values = np.arange(3.0)
    for made in (namespace.from_dlpack(values), namespace.from_dlpack(values, device=device.handle)):
        assert isinstance(made, dpnp.ndarray)
        assert np.array_equal(on_host(made), values)
    assert namespace.from_dlpack(values, device=device.handle).device == device.handle


def test_gradients_are_added_in_place_to_what_the_sweep_owns_only(device, rng):
    values = rng.normal(size=100_000)
    x = Variable(device.send(values))
    ys = [x * 2.0, x + 1.0, A.sin(x), -x]
    seeds = [rng.normal(size=100_000) for _ in ys]
    own = [device.send(seed) for seed in seeds]
    for y, seed in zip(ys, own, strict=True):
        y.grad = seed
        y.backward()
    np.testing.assert_allclose(on_host(x.grad), 2 * seeds[0] + seeds[1] + seeds[2] * np.cos(values) - seeds[3])
    assert all(np.array_equal(on_host(each), seed) for each, seed in zip(own, seeds, strict=True))


def test_variables_are_copied_and_pickled_where_arrays_cannot_be(device):
    x = Variable(device.send(np.arange(3.0)), name="x")
    with pytest.raises(TypeError):
        pickle.dumps(x.array)
    for back in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (back.device, back.name) == (device, "x")
        assert on_host(back).tolist() == [0.0, 1.0, 2.0]


def test_variables_are_printed(device):
    assert repr(Variable(device.send(np.asarray([0.5, 1.5])))) == f"variable([0.5, 1.5], device='{device}')"
