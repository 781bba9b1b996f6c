"""`xpgrad_numpy/kernels/linear.py`: products that NumPy's backend computes in another way than NumPy."""

import numpy as np
import pytest

from xpgrad_numpy.kernels.linear import OUTER_FROM, matmul

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((64, 40, 1), (64, 1, 30)),
        ((64, 1, 40), (64, 30, 1)),  # their transposes
        ((3, 1, 40, 1), (5, 1, 30)),
        ((40, 1), (64, 1, 30)),
        ((2, 3, 1), (2, 1, 4)),  # small
        ((0, 40, 1), (0, 1, 30)),
    ],
)
@pytest.mark.parametrize(
    "dtypes", [("float32", "float32"), ("float64", "float32"), ("complex128",) * 2, ("int32",) * 2]
)
def test_outer_products_of_a_stack_agree_with_matmul(left, right, dtypes):
    a, b = (
        (100 * RNG.standard_normal(shape)).astype(dtype) for shape, dtype in zip((left, right), dtypes, strict=True)
    )
    if a.shape[-1] != 1:
        a, b = a.mT, b.mT
    y, expected = matmul(a, b), np.matmul(a, b)
    assert y.dtype == expected.dtype
    assert y.flags.c_contiguous
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    assert expected.size >= OUTER_FROM or left[0] < 3


def test_outer_products_of_infinite_and_of_negative_numbers_and_zeros_agree_with_matmul():
    a, b = np.array([-1.0, -0.0, np.inf, np.nan]), np.array([0.0, -0.0, 1.0, -np.inf])
    a, b = np.repeat(a[None, :, None], 100, axis=0), np.repeat(b[None, None, :], 100, axis=0)
    with np.errstate(invalid="ignore"):
        y, expected = matmul(a, b), np.matmul(a, b)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(np.signbit(y), np.signbit(expected))
