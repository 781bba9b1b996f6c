"""`fft` and `ifft`: half precision and errors."""

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad import Variable
from xpgrad.utils.type_check import InvalidType

X = np.random.default_rng(0).normal(size=(2, 3, 8))


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_float_dtype_stays(name, dtype):
    parts = [Variable(part.astype(dtype)) for part in X]
    real, imag = getattr(F, name)(parts)
    exact = getattr(np.fft, name)(parts[0].array.astype("d") + 1j * parts[1].array)
    rtol = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(real.array, exact.real, rtol, rtol)
    np.testing.assert_allclose(imag.array, exact.imag, rtol, rtol)
    F.sum(real * real + imag).backward()
    assert {each.dtype for each in (real.array, imag.array, parts[0].grad, parts[1].grad)} == {np.dtype(dtype)}


def test_half_precision_is_computed_in_single_precision():
    x = np.full(4096, 10.0, "f2")
    y = F.ifft((x, x))[0].array
    assert y[0] == 10  # the sum of the elements is above the largest number of half precision
    assert not y[1:].any()


@pytest.mark.parametrize("x", [X, (X, X, X), (X, X[0]), (X, X.astype("f")), (X, X.astype(int))])
def test_real_and_imaginary_part_are_of_one_shape_and_dtype(x):
    with pytest.raises(InvalidType, match=r"fft \(Forward\)"):
        F.fft(x)
