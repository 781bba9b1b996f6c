"""Samplers, resizing and regions of interest: compared with torch, at the edges, without pixels, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.utils.type_check import InvalidType


def _same(torch, ours, theirs, *arrays):
    """Compare values and gradients of sums of squares."""
    xs = [xpgrad.Variable(a) for a in arrays]
    ts = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, t = ours(*xs), theirs(*ts)
    np.testing.assert_allclose(y.array, t.detach().numpy(), rtol=1e-10, atol=1e-12)
    F.sum(y * y).backward()
    (t * t).sum().backward()
    for x, other in zip(xs, ts, strict=True):
        np.testing.assert_allclose(x.grad, other.grad.numpy(), rtol=1e-9, atol=1e-11)


def test_a_sampled_image_agrees_with_torch(rng):
    torch = pytest.importorskip("torch")
    theta = rng.standard_normal((3, 2, 3))
    _same(
        torch,
        lambda t: F.spatial_transformer_grid(t, (5, 4)),
        lambda t: torch.nn.functional.affine_grid(t, [3, 1, 5, 4], align_corners=True).permute(0, 3, 1, 2),
        theta,
    )
    _same(
        torch,
        F.spatial_transformer_sampler,
        lambda x, g: torch.nn.functional.grid_sample(x, g.permute(0, 2, 3, 1), align_corners=True),
        rng.standard_normal((3, 2, 6, 7)),
        rng.uniform(-1.5, 1.5, (3, 2, 5, 4)),
    )


@pytest.mark.parametrize("size", [(3, 4), (6, 7), (13, 9), (1, 1)])
def test_a_resized_image_agrees_with_torch(rng, size):
    torch = pytest.importorskip("torch")
    resize, x = torch.nn.functional.interpolate, rng.standard_normal((2, 3, 6, 7))
    for align in (True, False):
        _same(
            torch,
            lambda x, align=align: F.resize_images(x, size, align_corners=align),
            lambda t, align=align: resize(t, size, mode="bilinear", align_corners=align),
            x,
        )
    _same(torch, lambda x: F.resize_images(x, size, mode="nearest"), lambda t: resize(t, size, mode="nearest"), x)


def test_strided_elements_agree_with_torch(rng):
    torch = pytest.importorskip("torch")
    for shape, strides, offset in (((3, 2), (1, 1), 0), ((2, 3, 2), (2, 0, 5), 3), ((), (), 7), ((0, 2), (1, 1), 0)):
        _same(
            torch,
            lambda x, *where: F.as_strided(x, shape, strides, offset),  # noqa: B023 - called immediately
            lambda t: t.as_strided(shape, strides, offset),  # noqa: B023
            rng.standard_normal((3, 4)),
        )


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
