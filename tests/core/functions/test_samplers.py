"""Samplers and resizing: at the edges, without offsets, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.utils.type_check import InvalidType


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


def test_invalid_arguments_of_samplers_raise():
    x, grid = np.ones((2, 3, 4, 4)), np.zeros((2, 2, 3, 3))
    with pytest.raises(InvalidType, match=r"theta of shape \(N, 2, 3\)"):
        F.spatial_transformer_grid(np.ones((2, 3)), (2, 2))
    with pytest.raises(ValueError, match="spatial_transformer_grid: expected output_shape to be an int or 2 ints"):
        F.spatial_transformer_grid(np.ones((1, 2, 3)), (2, 0))
    for wrong in (grid[:1], np.zeros((2, 3, 3, 3)), grid[0]):
        with pytest.raises(InvalidType, match=r"grid of shape \(N, 2, OH, OW\)"):
            F.spatial_transformer_sampler(x, wrong)
    with pytest.raises(InvalidType, match="grid of a real floating-point dtype"):
        F.spatial_transformer_sampler(x, grid.astype(int))
    with pytest.raises(InvalidType, match=r"offset of shape \(2, 8, 3, 3\)"):
        F.deformable_convolution_2d_sampler(x, grid, np.ones((5, 3, 2, 2)))
    with pytest.raises(InvalidType, match=r"W of shape \(out, C, KH, KW\)"):
        F.deformable_convolution_2d_sampler(x, grid, np.ones((5, 2, 2, 2)))
    with pytest.raises(InvalidType, match=r"(?s)resize_images .*x of shape \(N, C, H, W\) with pixels"):
        F.resize_images(x[0], (2, 2))
    with pytest.raises(ValueError, match="mode must be 'bilinear' or 'nearest', got 'cubic'"):
        F.resize_images(x, (2, 2), mode="cubic")
    with pytest.raises(ValueError, match=r"expected elements 0 to 3 of x, got 0 to 4"):
        F.as_strided(np.ones(4), (2, 2), (1, 3))
    with pytest.raises(ValueError, match=r"expected elements 0 to 3 of x, got -1 to 0"):
        F.as_strided(np.ones(4), (2,), (-1,))
    with pytest.raises(ValueError, match=r"a shape and as many strides, got \(2,\) and \(1, 1\)"):
        F.as_strided(np.ones(4), (2,), (1, 1))
