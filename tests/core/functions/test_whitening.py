"""Decorrelated batch normalization: moving averages, equal eigenvalues, half precision, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.functions.whitening import inverse_root
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import vmap


def covariances(y, groups):
    rows = np.moveaxis(y, 1, 0).reshape(groups, y.shape[1] // groups, -1).astype("f8")
    return rows @ np.swapaxes(rows, 1, 2) / rows.shape[2]


def test_moving_averages_make_the_fixed_function_whiten(device, rng):
    mixing = rng.standard_normal((4, 4))
    values = np.einsum("ij,njd->nid", mixing, rng.standard_normal((50, 4, 3))) + 2
    x, mean, projection = map(device.send, (values, np.zeros((2, 2)), np.zeros((2, 2, 2))))
    y = F.decorrelated_batch_normalization(x, groups=2, running_mean=mean, running_projection=projection, decay=0.0)
    np.testing.assert_allclose(covariances(on_host(y), 2), np.broadcast_to(np.eye(2), (2, 2, 2)), atol=1e-3)
    np.testing.assert_allclose(on_host(mean), values.mean(axis=(0, 2)).reshape(2, 2), rtol=1e-12)
    z = F.fixed_decorrelated_batch_normalization(x, mean, projection, groups=2)
    np.testing.assert_allclose(on_host(z), on_host(y) * 150 / 149, rtol=1e-9, atol=1e-9)  # Chainer's factor
    with xpgrad.using_config("train", False):
        F.decorrelated_batch_normalization(device.send(values + 1), groups=2, running_mean=mean)
    np.testing.assert_allclose(on_host(mean), values.mean(axis=(0, 2)).reshape(2, 2), rtol=1e-12)


@pytest.mark.parametrize("recorded", [False, True])
def test_the_gradient_at_equal_eigenvalues_is_smooth(device, recorded):
    x = xpgrad.Variable(device.send(4 * np.eye(3)))
    y = inverse_root(x, eps=0.0)
    F.sum(y * device.send(np.arange(9.0).reshape(3, 3))).backward(enable_double_backprop=recorded)
    expected = np.arange(9.0).reshape(3, 3) * -0.5 * 4**-1.5  # the derivative of x ** -0.5 at 4
    np.testing.assert_allclose(on_host(x.grad), expected, rtol=1e-12, atol=1e-12)


def test_channels_that_do_not_vary_have_finite_gradients():
    x = xpgrad.Variable(np.ones((5, 4), np.float32))
    y = F.decorrelated_batch_normalization(x, groups=1)
    F.sum(y * y).backward()
    np.testing.assert_array_equal(y.array, 0)
    np.testing.assert_array_equal(x.grad, 0)


def test_half_precision_is_computed_in_single_precision(rng):
    values = (rng.standard_normal((40, 4)) @ rng.standard_normal((4, 4))).astype("f2")
    mean = np.zeros((1, 4), "f4")
    x = xpgrad.Variable(values)
    y = F.decorrelated_batch_normalization(x, groups=1, running_mean=mean)
    exact = F.decorrelated_batch_normalization(values.astype("f8"), groups=1)
    F.sum(y * y * y).backward()
    assert (y.dtype, x.grad.dtype, mean.dtype) == ("float16", "float16", "float32")
    np.testing.assert_allclose(y.array, exact.array, rtol=1e-3, atol=1e-3)


def test_groups_do_not_see_each_other_nor_do_members_of_a_batch(rng):
    x = rng.standard_normal((2, 6, 4, 3))
    whole = vmap(lambda x: F.decorrelated_batch_normalization(x, groups=2))(xpgrad.Variable(x))
    for i, part in np.ndindex(2, 2):
        at = slice(2 * part, 2 * part + 2)
        alone = F.decorrelated_batch_normalization(x[i, :, at], groups=1)
        np.testing.assert_allclose(whole.array[i, :, at], alone.array, rtol=1e-10)
