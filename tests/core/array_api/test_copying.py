"""Casts, and copies to other devices."""

import numpy as np

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.testing.arrays import on_host, placed


def test_gradient_of_a_cast_has_the_dtype_of_the_input(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    y = array_api.astype(x, x.__array_namespace__().float64)
    assert y.dtype != x.dtype
    xpgrad.backward([y * y], [Variable(placed(np.ones(2), device))])
    assert x.grad.dtype == x.dtype
    assert on_host(x.grad).tolist() == [2, 4]


def test_gradient_through_a_complex_cast_is_real(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    y = array_api.astype(x, x.__array_namespace__().complex64)
    xpgrad.backward([y * (2 + 5j)], [Variable(placed(np.array([1, 1j], "complex64"), device))])
    assert on_host(x.grad).tolist() == [2, 5]
    assert x.grad.dtype == x.dtype


def test_cast_to_the_same_dtype_copies_unless_told_not_to(device):
    x = Variable(placed(np.array([1.0, 2.0], "float32"), device))
    assert array_api.astype(x, x.dtype, copy=False) is x
    assert array_api.astype(x, x.dtype).array is not x.array


def test_copy_to_another_device_returns_the_gradient():
    there, here = xpgrad.get_device("@strict:device1"), xpgrad.get_device("@numpy")
    x = Variable(placed(np.array([1.0, 2.0], "float32"), here))
    y = array_api.copy(x, there)
    assert y.device == there
    (gx,) = xpgrad.grad([y * y], [x], enable_double_backprop=True)
    assert gx.device == here
    assert gx.array.tolist() == [2, 4]
    (ggx,) = xpgrad.grad([gx], [x])
    assert ggx.array.tolist() == [2, 2]
