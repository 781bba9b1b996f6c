"""Normalizations: moving averages, half precision, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.utils.type_check import InvalidType


def given(device, rng):
    x = rng.standard_normal((4, 3, 2, 2))
    return x, [device.send(a) for a in (x, np.ones(3), np.zeros(3), np.full(3, 2.0), np.full(3, 5.0))]


def averages(x):
    mean, var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3), ddof=1)
    return 0.75 * 2.0 + 0.25 * mean, 0.75 * 5.0 + 0.25 * var


def test_moving_averages_are_updated_in_their_memory(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=var, decay=0.75)
    for got, expected in zip((mean, var), averages(values), strict=True):
        np.testing.assert_allclose(on_host(got), expected, rtol=1e-12)


def test_moving_averages_in_variables_get_new_arrays(device, rng):
    values, (x, gamma, beta, mean, var) = given(device, rng)
    kept = xpgrad.Variable(mean, requires_grad=False), xpgrad.Variable(var, requires_grad=False)
    F.batch_normalization(x, gamma, beta, running_mean=kept[0], running_var=kept[1], decay=0.75)
    for got, expected in zip(kept, averages(values), strict=True):
        np.testing.assert_allclose(on_host(got), expected, rtol=1e-12)
    np.testing.assert_array_equal(on_host(mean), 2.0)


@pytest.mark.parametrize("entry", ["train", "in_recomputing"])
def test_moving_averages_stay_outside_of_training_and_when_a_checkpoint_computes_again(device, rng, entry):
    _, (x, gamma, beta, mean, var) = given(device, rng)
    with xpgrad.using_config(entry, entry != "train"):
        F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=var)
    np.testing.assert_array_equal(on_host(mean), 2.0)
    np.testing.assert_array_equal(on_host(var), 5.0)


def test_a_call_that_fails_leaves_the_moving_averages(device, rng):
    _, (x, gamma, beta, mean, _) = given(device, rng)
    with pytest.raises(InvalidType, match=r"running_var of shape \(3,\)"):
        F.batch_normalization(x, gamma, beta, running_mean=mean, running_var=device.send(np.ones(2)))
    np.testing.assert_array_equal(on_host(mean), 2.0)


def test_moving_averages_that_cannot_be_written_to_raise(monkeypatch):
    x, ones = xpgrad.Variable(np.ones((4, 3))), np.ones(3)
    monkeypatch.setattr(type(x.device.backend), "immutable", True)
    with pytest.raises(TypeError, match="running_mean is an array of numpy, which cannot be written to; give a Var"):
        F.batch_normalization(x, ones, ones, running_mean=ones)
    mean = xpgrad.Variable(np.zeros(3), requires_grad=False)
    F.batch_normalization(x, ones, ones, running_mean=mean, decay=0.5)
    np.testing.assert_array_equal(mean.array, 0.5)


def test_large_arrays_of_half_precision_do_not_overflow(rng):
    x = xpgrad.Variable(rng.standard_normal((64, 4, 48, 48)).astype(np.float16))
    y = F.batch_normalization(x, np.ones(4, np.float16), np.zeros(4, np.float16))
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.array.astype(float).std(axis=(0, 2, 3)), 1, rtol=2e-3)
    F.sum(F.cast(y * y * y, np.float32)).backward()
    assert x.grad.dtype == np.float16
    assert np.isfinite(x.grad).all()


def test_the_gradient_of_a_zero_vector_treats_the_norm_as_constant(device):
    x = xpgrad.Variable(device.send(np.zeros((1, 2))))
    F.sum(F.normalize(x, eps=0.5)).backward()
    np.testing.assert_array_equal(on_host(x.grad), [[2.0, 2.0]])
