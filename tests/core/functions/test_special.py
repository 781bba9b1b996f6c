"""`fft` and `ifft`: half precision and errors."""

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType

X = np.random.default_rng(0).normal(size=(2, 3, 8))


def test_half_precision_is_computed_in_single_precision():
    x = np.full(4096, 10.0, "f2")
    y = F.ifft((x, x))[0].array
    assert y[0] == 10  # the sum of the elements is above the largest number of half precision
    assert not y[1:].any()


@pytest.mark.parametrize("x", [X, (X, X, X), (X, X[0]), (X, X.astype("f")), (X, X.astype(int))])
def test_real_and_imaginary_part_are_of_one_shape_and_dtype(x):
    with pytest.raises(InvalidType, match=r"fft \(Forward\)"):
        F.fft(x)
