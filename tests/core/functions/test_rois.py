"""Regions of interest: no regions, many, beyond the edges, with dtypes other than the image's, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import transforms
from xpgrad.errors import BatchError
from xpgrad.testing.arrays import on_host

FUNCTIONS = ("roi_average_align_2d", "roi_average_pooling_2d", "roi_max_align_2d", "roi_max_pooling_2d")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_regions(device, name):
    x = xpgrad.Variable(device.send(np.ones((2, 3, 5, 4), np.float32)))
    rois, indices = device.send(np.zeros((0, 4), np.float32)), device.send(np.zeros((0,), np.int32))
    y = getattr(F, name)(x, rois, indices, (2, 3), 0.5)
    assert y.shape == (0, 3, 2, 3)
    F.sum(y).backward()
    np.testing.assert_array_equal(on_host(x.grad), np.zeros((2, 3, 5, 4)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtypes", [("float16", "float32"), ("float32", "float64"), ("float64", "float32")])
def test_the_dtype_follows_the_image(name, dtypes):
    x, rois = np.ones((1, 1, 4, 4), dtypes[0]), np.asarray([[0, 0, 3, 3]], dtypes[1])
    y = getattr(F, name)(x, rois, np.zeros(1, np.int32), 2, 1)
    assert y.dtype == dtypes[0]
    np.testing.assert_array_equal(y.array, np.ones((1, 1, 2, 2)))


def test_many_regions_are_the_means_and_maxima_of_slices(rng):
    x = rng.standard_normal((3, 2, 33, 17))
    corner = rng.integers(0, (30, 14), (400, 2))
    rois = np.concatenate([corner, corner + rng.integers(1, (34, 18), (400, 2))], 1)
    indices = rng.integers(0, 3, 400)
    for name, reduce in ("roi_average_pooling_2d", np.mean), ("roi_max_pooling_2d", np.max):
        y = getattr(F, name)(x, rois.astype(float), indices, 1, 1).array
        for r, (top, left, bottom, right) in enumerate(rois):
            expected = reduce(x[indices[r], :, top:bottom, left:right], axis=(1, 2))
            np.testing.assert_allclose(y[r, :, 0, 0], expected, rtol=1e-12)


def test_the_first_of_equal_pixels_gets_the_gradient_of_a_region(device):
    x = xpgrad.Variable(device.send(np.zeros((1, 1, 3, 3))))
    rois, indices = device.send(np.asarray([[1.0, 0.0, 3.0, 3.0]])), device.send(np.zeros(1, np.int64))
    F.sum(F.roi_max_pooling_2d(x, rois, indices, 1, 1.0)).backward()
    np.testing.assert_array_equal(on_host(x.grad), [[[[0, 0, 0], [1, 0, 0], [0, 0, 0]]]])


def test_the_former_pooling_takes_the_last_pixel_too():
    x = np.arange(20.0).reshape(1, 1, 4, 5)
    y = F.roi_pooling_2d(x, np.asarray([[0, 1.0, 0.0, 3.0, 1.0]]), 1, 1, 1.0)
    np.testing.assert_array_equal(y.array, [[[[8.0]]]])


def test_an_adaptive_number_of_samples_is_not_known_in_a_batch():
    x, rois, indices = np.ones((1, 1, 4, 4)), np.asarray([[[0.0, 0, 3, 3]]] * 2), np.zeros(1, int)
    align = transforms.vmap(lambda r: F.roi_average_align_2d(x, r, indices, 2, 1.0))
    with pytest.raises(BatchError, match="value of a batched array is needed"):
        align(rois)
