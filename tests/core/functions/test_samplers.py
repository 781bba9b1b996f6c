"""Samplers and resizing: at the edges, without offsets, and errors."""

import numpy as np

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host


def test_points_far_outside_or_nowhere(device):
    x = device.send(np.ones((1, 1, 2, 2)))
    grid = xpgrad.Variable(device.send(np.asarray([[[[1e30, -4.0, 2.0]], [[0.0, 0.0, 2.0]]]])))
    y = F.spatial_transformer_sampler(x, grid)
    np.testing.assert_array_equal(on_host(y), [[[[0, 0, 0.25]]]])
    F.sum(y).backward()
    np.testing.assert_array_equal(on_host(grid.grad)[..., :2], np.zeros((1, 2, 1, 2)))


def test_offsets_of_zero_give_the_convolution(rng):
    x, W, b = rng.standard_normal((2, 3, 7, 6)), rng.standard_normal((4, 3, 3, 2)), rng.standard_normal(4)
    offset = np.zeros((2, 12, 4, 9))
    y = F.deformable_convolution_2d_sampler(x, offset, W, b, stride=(2, 1), pad=(1, 2))
    np.testing.assert_allclose(y.array, F.convolution_2d(x, W, b, (2, 1), (1, 2)).array, rtol=1e-10, atol=1e-12)
