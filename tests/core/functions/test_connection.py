"""`linear`: shapes and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F


def arrays(*shapes, dtype=np.float32):
    return [np.ones(shape, dtype) for shape in shapes]


def test_further_axes_are_flattened_as_chainer_does(rng):
    x, W, b = rng.standard_normal((2, 3, 4)), rng.standard_normal((5, 12)), rng.standard_normal(5)
    np.testing.assert_allclose(F.linear(x, W, b).array, x.reshape(2, 12) @ W.T + b)


def test_the_bias_may_be_given_by_name():
    x, W, b = arrays((2, 3), (4, 3), (4,))
    np.testing.assert_array_equal(F.linear(x, W, b=b).array, np.full((2, 4), 4.0))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3)])
def test_batches_of_length_0_and_1(device, shape):
    x, W, b = (xpgrad.Variable(device.send(a)) for a in arrays(shape, (4, 3), (4,)))
    y = F.linear(x, W, b)
    F.sum(y).backward()
    assert y.shape == (shape[0], 4)
    assert (x.grad.shape, W.grad.shape, b.grad.shape) == (shape, (4, 3), (4,))


def test_raw_arrays_have_no_gradient_and_cost_none(device):
    x, W = (device.send(a) for a in arrays((2, 3), (4, 3)))
    y = F.linear(x, xpgrad.Variable(W))
    assert y.requires_grad
    assert not F.linear(x, W).requires_grad
    assert F.linear(xpgrad.Variable(x), W).creator_node.pullback.needed == (True, False, False)


def test_arrays_of_two_devices_raise():
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(xpgrad.BackendMismatch, match="linear: arrays of two libraries"):
        F.linear(np.ones((2, 3), "f"), xpgrad.Variable(strict.ones((4, 3), dtype=strict.float32)))
