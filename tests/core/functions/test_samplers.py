"""Samplers at points outside of their images, or nowhere."""

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
