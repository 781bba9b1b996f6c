"""Noise: the configuration, the seed, masks and given numbers, statistics."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host as host


def ones(device, shape=(100, 100)):
    return device.send(np.ones(shape, np.float32))


def test_dropped_elements_are_zero_and_kept_elements_are_scaled(device):
    y = host(F.dropout(ones(device), ratio=0.2).array)
    assert set(np.unique(y)) == {0.0, np.float32(1.25)}
    assert y.mean() == pytest.approx(1, abs=0.03)


def test_the_gradient_goes_where_the_values_went(device):
    x = xpgrad.Variable(ones(device))
    y, mask = F.dropout(x, return_mask=True)
    F.sum(y).backward()
    np.testing.assert_array_equal(host(x.grad), host(mask))
    assert device.is_array_supported(mask)


def test_no_elements_are_dropped_outside_of_training(device):
    x = xpgrad.Variable(ones(device))
    with xpgrad.using_config("train", False):
        assert F.dropout(x) is x
        assert F.dropout(x, return_mask=True) == (x, None)


def test_the_seed_decides(device):
    xpgrad.random.seed(5, device)
    first = host(F.dropout(ones(device)).array)
    second = host(F.dropout(ones(device)).array)
    xpgrad.random.seed(5, device)
    np.testing.assert_array_equal(first, host(F.dropout(ones(device)).array))
    assert (first != second).any()


def test_a_mask_can_be_used_again(device):
    x = ones(device)
    y, mask = F.dropout(x, return_mask=True)
    np.testing.assert_array_equal(host(F.dropout(x, mask=mask).array), host(y.array))


def test_ratio_zero_keeps_all(device):
    assert (host(F.dropout(ones(device), ratio=0.0).array) == 1).all()


class TestZoneout:
    """`zoneout`."""

    def test_elements_are_of_the_one_or_of_the_other(self, device):
        h, x = xpgrad.Variable(device.send(np.zeros((100, 100)))), xpgrad.Variable(device.send(np.ones((100, 100))))
        y = F.zoneout(h, x, ratio=0.2)
        F.sum(y).backward()
        values = host(y.array)
        assert set(np.unique(values)) == {0.0, 1.0}
        assert values.mean() == pytest.approx(0.8, abs=0.02)
        np.testing.assert_array_equal(host(x.grad), values)
        np.testing.assert_array_equal(host(h.grad), 1 - values)

    def test_outside_of_training_it_is_x(self):
        x = xpgrad.Variable(np.ones(3))
        with xpgrad.using_config("train", False):
            assert F.zoneout(np.zeros(3), x) is x


class TestGaussian:
    """`gaussian`."""

    def test_mean_and_variance(self, device):
        xpgrad.random.seed(0, device)
        y = F.gaussian(device.send(np.full(40_000, 3.0)), device.send(np.full(40_000, np.log(4.0))))
        assert host(y.array).mean() == pytest.approx(3, abs=0.05)  # 5 standard errors
        assert host(y.array).std() == pytest.approx(2, abs=0.05)

    def test_the_numbers_can_be_used_again(self, device):
        x = ones(device)
        y, eps = F.gaussian(x, x, return_eps=True)
        assert device.is_array_supported(eps)
        np.testing.assert_array_equal(host(F.gaussian(x, x, eps=eps).array), host(y.array))


class TestGumbelSoftmax:
    """`gumbel_softmax`."""

    def test_the_greatest_is_each_category_with_its_probability(self, device):
        xpgrad.random.seed(0, device)
        p = np.asarray([0.1, 0.2, 0.7])
        y = host(F.gumbel_softmax(device.send(np.tile(np.log(p), (20_000, 1)))).array)
        np.testing.assert_allclose(y.sum(axis=1), 1)
        np.testing.assert_allclose(np.bincount(y.argmax(axis=1)) / 20_000, p, atol=0.017)  # 5 standard errors


class TestDropconnect:
    """`simplified_dropconnect`."""

    def test_dropped_weights_are_zero_and_kept_weights_are_scaled(self, device):
        y = F.simplified_dropconnect(device.send(np.eye(50)), ones(device, (40, 50)), ratio=0.2)
        values = host(y.array)
        assert set(np.unique(values)) == {0.0, 1.25}
        assert values.mean() == pytest.approx(1, abs=0.06)

    def test_one_mask_for_all_drops_the_same_weights(self):
        y = F.simplified_dropconnect(np.ones((3, 20)), np.ones((4, 20)), use_batchwise_mask=False).array
        np.testing.assert_array_equal(y, y[:1].repeat(3, 0))

    def test_without_training_it_is_linear(self):
        x, W = np.ones((2, 3), "f"), np.ones((4, 3))
        y = F.simplified_dropconnect(x, W, train=False)
        np.testing.assert_array_equal(y.array, x @ W.T)
        assert y.dtype == np.float32
