"""Bilinear forms, local convolution and shifts: compared with convolution, and errors."""

import numpy as np

import xpgrad.functions as F


def test_local_filters_that_are_the_same_everywhere_convolve(rng):
    x, W = rng.standard_normal((2, 3, 6, 5)), rng.standard_normal((4, 3, 2, 3))
    y = F.local_convolution_2d(x, np.broadcast_to(W[:, None, None], (4, 3, 3, 3, 2, 3)), stride=(2, 1))
    np.testing.assert_allclose(y.array, F.convolution_2d(x, W, stride=(2, 1)).array, rtol=1e-12)


def test_a_shift_the_other_way_takes_it_back(rng):
    x = np.zeros((1, 9, 5, 5))
    x[:, :, 1:-1, 1:-1] = rng.standard_normal((1, 9, 3, 3))
    np.testing.assert_array_equal(F.shift(F.shift(x), 3, -1).array, x)
