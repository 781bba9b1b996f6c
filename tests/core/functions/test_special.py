"""`fft` and `ifft`: half precision and errors."""

import numpy as np

import xpgrad.functions as F


def test_half_precision_is_computed_in_single_precision():
    x = np.full(4096, 10.0, "f2")
    y = F.ifft((x, x))[0].array
    assert y[0] == 10  # the sum of the elements is above the largest number of half precision
    assert not y[1:].any()
