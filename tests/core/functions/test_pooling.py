"""Pooling: ties, NaN, windows in the padding, and errors."""

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host

PICTURE = np.asarray([[[[1.0, 3.0, 3.0], [3.0, 0.0, 1.0]]]])


def test_the_largest_of_a_window_share_its_gradient(device):
    x = xpgrad.Variable(device.send(PICTURE))
    y = F.max_pooling_2d(x, 2, 1)
    y.grad = device.send(np.asarray([[[[6.0, 10.0], [6.0, 10.0]]]])[..., :1, :])
    y.backward()
    np.testing.assert_array_equal(on_host(x.grad), [[[[0, 3 + 5, 5], [3, 0, 0]]]])


def test_ties_with_the_padding_count_for_the_image(device):
    x = xpgrad.Variable(device.send(np.full((1, 1, 2, 2), -np.inf)))
    F.sum(F.max_pooling_2d(x, 2, 2, 1)).backward()
    np.testing.assert_array_equal(on_host(x.grad), np.ones((1, 1, 2, 2)))


def test_nan_is_the_largest_and_gets_no_gradient(device):
    x = xpgrad.Variable(device.send(np.asarray([[[np.nan, 1.0, 2.0, 3.0]]])))
    y = F.max_pooling_1d(x, 2)
    y.grad = device.send(np.asarray([[[5.0, 7.0]]]))
    y.backward()
    np.testing.assert_array_equal(on_host(y), [[[np.nan, 3.0]]])
    np.testing.assert_array_equal(on_host(x.grad), [[[0, 0, 0, 7.0]]])


def test_a_window_that_is_all_padding(device):
    x = xpgrad.Variable(device.send(np.ones((1, 1, 2))))
    np.testing.assert_array_equal(on_host(F.max_pooling_1d(x, 1, 2, 1)), [[[-np.inf, 1, -np.inf]]])
    np.testing.assert_array_equal(on_host(F.average_pooling_1d(x, 1, 2, 1, pad_value=None)), [[[0, 1]]])


def test_indices_say_where_upsampling_puts_elements_back(device):
    x = np.asarray([[[[1.0, 5.0, 2.0, 3.0], [0.0, 4.0, 9.0, 8.0]]]])
    y, indices = F.max_pooling_2d(device.send(x), 2, return_indices=True)
    np.testing.assert_array_equal(on_host(indices), [[[[1, 2]]]])
    back = F.upsampling_2d(y, indices, 2, cover_all=False)
    np.testing.assert_array_equal(on_host(back), np.where((x == 5) | (x == 9), x, 0))
