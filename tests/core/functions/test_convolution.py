"""Convolutions: large images in parts, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.testing.arrays import on_host
from xpgrad_numpy.kernels import convolution as kernels
from xpgrad_numpy.kernels import patches


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def gradients(function, *arrays):
    """Return the value, and the gradients for a fixed cotangent."""
    xs = [xpgrad.Variable(a) for a in arrays]
    y = function(*xs)
    y.grad = y.node.spec.backend.asarray(
        np.cos(np.arange(y.size, dtype=float)).reshape(y.shape), device=y.device.handle
    )
    y.backward()
    return y.array, *[x.grad for x in xs]


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "limits",
    [
        {"CACHED": 4096, "MIN_COLUMNS": 8, "LONG": 16, "MAX_SHEARED": 0},  # a part of an image
        {
            "CACHED": 2**14,
            "MIN_COLUMNS": 8,
            "LONG": 8,
            "MAX_SHEARED": 64,
            "MIN_FILTERS": 1,
            "MIN_LINE": 1,
            "SMALL_PRODUCT": 2500,
        },
        {"CACHED": 2**16, "MIN_COLUMNS": 200, "LONG": 400, "MAX_SHEARED": 64},  # two images in one matrix
    ],
)
def test_images_are_convolved_in_parts_and_together(rng, monkeypatch, stride, groups, limits):
    x, W = rng.standard_normal((3, 4, 13, 11)), rng.standard_normal((2, 4 // groups, 3, 3))

    def function(x, W):
        return F.convolution_2d(x, W, stride=stride, pad=1, groups=groups)

    whole = gradients(function, x, W)
    monkeypatch.setattr(patches, "layout", patches.layout.__wrapped__)  # without those cached for other limits
    for name, value in limits.items():
        monkeypatch.setattr(patches, name, value)
    monkeypatch.setattr(kernels, "MAX_TURNED", 0 if limits["MAX_SHEARED"] else 6)
    for one, two in zip(gradients(function, x, W), whole, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def test_batches_of_none(device):
    x, W, b = (xpgrad.Variable(device.send(a)) for a in (ones(0, 2, 4, 4), ones(3, 2, 2, 2), ones(3)))
    for y, shape in ((F.convolution_2d(x, W, b), (0, 3, 3, 3)), (F.max_pooling_2d(x, 2), (0, 2, 2, 2))):
        assert y.shape == shape
        F.sum(y).backward()
        assert x.grad.shape == x.shape
    assert (W.grad.shape, b.grad.shape) == ((3, 2, 2, 2), (3,))
    np.testing.assert_array_equal(on_host(W.grad), 0)


def test_a_wider_weight_keeps_the_dtype_of_the_images_and_gets_a_gradient_of_its_dtype():
    x, W = xpgrad.Variable(ones(1, 1, 4)), xpgrad.Variable(ones(1, 1, 2, dtype=np.float64))
    y = F.convolution_1d(x, W)
    F.sum(y).backward()
    assert (y.dtype, x.grad.dtype, W.grad.dtype) == (np.float32, np.float32, np.float64)
