"""Signs of real and complex numbers."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.testing.arrays import on_host, placed


def test_real_sign_has_no_graph_and_complex_sign_has_a_graph(device):
    assert not array_api.sign(Variable(placed(np.array([-2.0, 0.0]), device))).requires_grad
    z = Variable(placed(np.array([3 + 4j, 0]), device))
    y = array_api.sign(z)
    assert y.requires_grad
    assert on_host(y).tolist() == pytest.approx([0.6 + 0.8j, 0])


def test_sign_rejects_scalars_and_takes_arrays(device):
    assert on_host(array_api.sign(placed(np.array([-3, 0, 2]), device))).tolist() == [-1, 0, 1]
    with pytest.raises(TypeError, match="nothing is converted silently"):
        array_api.sign(-1.0)


def test_third_derivative_of_a_complex_modulus(device):
    z = Variable(placed(np.array([3 + 4j]), device))
    y = array_api.abs(z) ** 2  # x**2 + y**2: its gradient is 2 z, and the next order is constant
    (gz,) = xpgrad.grad([y], [z], enable_double_backprop=True)
    assert on_host(gz) == pytest.approx(np.array([6 + 8j]))
    (ggz,) = xpgrad.grad([array_api.real(gz)], [z], enable_double_backprop=True)
    assert on_host(ggz) == pytest.approx(np.array([2 + 0j]))
    (gggz,) = xpgrad.grad([array_api.real(ggz)], [z])
    assert on_host(gggz) == pytest.approx(np.array([0j]), abs=1e-12)
