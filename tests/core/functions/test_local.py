"""Bilinear forms, local convolution and shifts: compared with convolution, and errors."""

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType


def test_local_filters_that_are_the_same_everywhere_convolve(rng):
    x, W = rng.standard_normal((2, 3, 6, 5)), rng.standard_normal((4, 3, 2, 3))
    y = F.local_convolution_2d(x, np.broadcast_to(W[:, None, None], (4, 3, 3, 3, 2, 3)), stride=(2, 1))
    np.testing.assert_allclose(y.array, F.convolution_2d(x, W, stride=(2, 1)).array, rtol=1e-12)


def test_a_shift_the_other_way_takes_it_back(rng):
    x = np.zeros((1, 9, 5, 5))
    x[:, :, 1:-1, 1:-1] = rng.standard_normal((1, 9, 3, 3))
    np.testing.assert_array_equal(F.shift(F.shift(x), 3, -1).array, x)


def test_invalid_arguments_raise():
    e1, e2, W = np.ones((2, 3)), np.ones((2, 4)), np.ones((3, 4, 5))
    with pytest.raises(ValueError, match="expected all of V1, V2 and b, or none; V2 and b is None"):
        F.bilinear(e1, e2, W, np.ones((3, 5)))
    with pytest.raises(InvalidType, match=r"W of shape \(J, K, L\)"):
        F.bilinear(e1, e2, W[:2])
    with pytest.raises(InvalidType, match=r"V2 of shape \(4, 5\)"):
        F.bilinear(e1, e2, W, np.ones((3, 5)), np.ones((3, 5)), np.ones(5))
    with pytest.raises(InvalidType, match="e2 of a real floating-point dtype"):
        F.bilinear(e1, e2.astype(int), W)
    x, filters = np.ones((1, 2, 4, 4)), np.ones((5, 3, 3, 2, 2, 2))
    with pytest.raises(InvalidType, match=r"W of shape \(out, OH, OW, 2, KH, KW\)"):
        F.local_convolution_2d(x, filters[0])
    with pytest.raises(InvalidType, match=r"W of shape \(5, 3, 3, 2, 2, 2\)"):
        F.local_convolution_2d(x, filters[:, :2])
    with pytest.raises(InvalidType, match=r"b of shape \(5, 3, 3\)"):
        F.local_convolution_2d(x, filters, np.ones((3, 3, 5)))
    with pytest.raises(InvalidType, match="x with at least 9 channels"):
        F.shift(x)
    with pytest.raises(ValueError, match="shift: ksize must be odd, got 2"):
        F.shift(np.ones((1, 9, 4, 4)), 2)
