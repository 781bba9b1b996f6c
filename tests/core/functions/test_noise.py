"""`dropout`: the configuration, the seed, the mask."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType


def ones(device, shape=(100, 100)):
    return device.send(np.ones(shape, np.float32))


def host(array):
    return xpgrad.get_device(-1).send(array)


def test_dropped_elements_are_zero_and_the_others_scaled(device):
    y = host(F.dropout(ones(device), ratio=0.2).array)
    assert set(np.unique(y)) == {0.0, np.float32(1.25)}
    assert y.mean() == pytest.approx(1, abs=0.03)


def test_the_gradient_goes_where_the_values_went(device):
    x = xpgrad.Variable(ones(device))
    y, mask = F.dropout(x, return_mask=True)
    F.sum(y).backward()
    np.testing.assert_array_equal(host(x.grad), host(mask))
    assert device.is_array_supported(mask)


def test_outside_of_training_nothing_is_dropped(device):
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


@pytest.mark.parametrize("ratio", [-0.1, 1.0, float("nan")])
def test_the_ratio_is_below_one(ratio):
    with pytest.raises(ValueError, match="ratio must be from 0 to below 1"):
        F.dropout(np.ones(3), ratio)


def test_ratio_zero_keeps_all(device):
    assert (host(F.dropout(ones(device), ratio=0.0).array) == 1).all()


@pytest.mark.parametrize("mask", [np.ones(2), np.ones(3, "f")])
def test_the_mask_is_like_the_array(mask):
    with pytest.raises(InvalidType, match="mask of the shape and dtype of x"):
        F.dropout(np.ones(3), mask=mask)
