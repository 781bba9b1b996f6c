"""Fourier transforms beyond the case table: real input, lengths, frequencies and errors."""

import numpy as np
import pytest
from tests.building import array

from xpgrad import Variable, array_api
from xpgrad.array_api.namespace import namespace
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.cases import CASES


def test_every_function_of_the_extension_has_a_case():
    covered = {case.name.partition("-")[0] for case in CASES}
    assert set(array_api.fft.__all__) <= covered


def test_real_input_of_a_complex_transform_has_a_real_gradient():
    x = Variable(np.array([1.0, 2.0, -1.0], np.float32))  # NumPy takes it; the standard leaves it open
    y = array_api.fft.fft(x)
    assert y.dtype == np.complex64
    y.real[1].backward()
    np.testing.assert_allclose(x.grad, np.cos(2 * np.pi * np.arange(3) / 3), rtol=1e-6)
    assert x.grad.dtype == np.float32


def test_lengths_without_axes_apply_to_the_last_axes(device):
    x = Variable(array(device, np.arange(24.0).reshape(2, 3, 4), "complex128"))
    y = array_api.fft.fftn(x, s=(-1, 5))
    assert y.shape == (2, 3, 5)
    np.testing.assert_allclose(on_host(y), np.fft.fftn(on_host(x), s=(3, 5), axes=(1, 2)))
    abs(y).sum().backward()
    assert x.grad.shape == x.shape
    assert array_api.fft.irfftn(x, s=(3, -1), axes=(1, 2)).shape == (2, 3, 6)


@pytest.mark.parametrize("s", [(2, -1), (-1, 5), (-1, -1)])
def test_minus_one_is_the_length_of_the_axis(device, s):
    x = Variable(array(device, np.cos(np.arange(12.0)).reshape(3, 4)))
    lengths = tuple(n if n > 0 else m for n, m in zip(s, x.shape, strict=True))
    gradients = []
    for given in (s, lengths):
        y = array_api.fft.rfftn(x, s=given, axes=(0, 1))
        x.cleargrad()
        (abs(y) ** 2).sum().backward()
        gradients.append(on_host(x.grad).tolist())
    assert gradients[0] == gradients[1]


@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64"])
def test_frequencies_are_real_floating_point_numbers(device, dtype):
    for make in (array_api.fft.fftfreq, array_api.fft.rfftfreq):
        with pytest.raises(TypeError, match=f"{make.__name__}: expected a real floating-point dtype, got {dtype}"):
            make(4, dtype=dtype, device=device)


def test_frequencies_lie_where_they_should(device):
    fft = namespace(device.backend).fft
    for make, expected in ((fft.fftfreq, [0, 0.1, -0.2, -0.1]), (fft.rfftfreq, [0, 0.1, 0.2])):
        y = make(4, d=2.5, device=device)
        np.testing.assert_allclose(on_host(y), expected)
        assert y.device == device
        assert not y.requires_grad


def test_errors_name_the_transform(device):
    x = Variable(array(device, [1.0, 2.0], "complex64"))
    with pytest.raises((ValueError, TypeError, IndexError), match=r"fft\.fft"):
        array_api.fft.fft(x, axis=3)
    with pytest.raises((ValueError, TypeError), match=r"fft\.ifft"):
        array_api.fft.ifft(x, norm="no such norm")
    with pytest.raises(TypeError, match=r"fft\(x, /, \*, n=None, axis=-1, norm='backward'\)"):
        array_api.fft.fft(x, 3)
