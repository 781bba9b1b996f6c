"""Activations at their kinks and edges."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.graph.type_check import InvalidType


def gradient(device, f, values):
    x = xpgrad.Variable(device.send(np.asarray(values, np.float32)))
    F.sum(f(x)).backward()
    return xpgrad.get_device(-1).send(x.grad)


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (F.relu, 0.0, 0.0),
        (F.relu, -0.0, 0.0),
        (F.leaky_relu, 0.0, 1.0),
        (F.elu, 0.0, 1.0),
        (F.clipped_relu, 0.0, 0.0),
        (F.clipped_relu, 20.0, 0.0),
        (F.hard_sigmoid, 2.5, 0.0),
        (F.hard_sigmoid, -2.5, 0.0),
    ],
)
def test_derivatives_at_kinks(device, f, at, expected):
    assert gradient(device, f, [at]) == [expected]


def test_relu_passes_nan_on(device):
    y = F.relu(xpgrad.Variable(device.send(np.asarray([np.nan, -np.inf, np.inf], np.float32))))
    np.testing.assert_array_equal(xpgrad.get_device(-1).send(y.array), [np.nan, 0, np.inf])


@pytest.mark.parametrize("f", [F.sigmoid, F.softplus, F.elu, F.tanh])
def test_far_out_nothing_overflows(device, f):
    x = [-1e4, -100.0, 100.0, 1e4]
    y = xpgrad.get_device(-1).send(f(xpgrad.Variable(device.send(np.asarray(x, np.float32)))).array)
    expected = {
        "sigmoid": [0, 0, 1, 1],
        "softplus": [0, 0, 100, 1e4],
        "elu": [-1, -1, 100, 1e4],
        "tanh": [-1, -1, 1, 1],
    }
    np.testing.assert_allclose(y, expected[f.__name__], atol=1e-30)
    assert np.isfinite(gradient(device, f, x)).all()


def test_sigmoid_is_exact_in_its_tail(device):
    x = np.asarray([-80.0, -20.0], np.float32)
    y = xpgrad.get_device(-1).send(F.sigmoid(device.send(x)).array)
    np.testing.assert_allclose(y, np.exp(x.astype(float)), rtol=2e-6)


@pytest.mark.parametrize("f", [F.softmax, F.log_softmax])
def test_softmax_of_large_logits_does_not_overflow(device, f):
    x = device.send(np.asarray([[1000.0, 999.0, -1000.0], [-1e4, -1e4, -1e4]], np.float32))
    y = xpgrad.get_device(-1).send(f(x).array)
    e = np.exp([0.0, -1.0, -2000.0])
    expected = np.stack([e / e.sum(), np.full(3, 1 / 3)])
    np.testing.assert_allclose(np.exp(y) if f is F.log_softmax else y, expected, rtol=1e-6, atol=1e-30)


def test_softmax_of_an_empty_batch(device):
    x = xpgrad.Variable(device.send(np.zeros((0, 3), np.float32)))
    F.sum(F.softmax(x) + F.log_softmax(x)).backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.parametrize("classes", [3, 100])
def test_log_softmax_is_the_same_for_few_and_for_many_classes(classes):
    x = np.random.default_rng(0).standard_normal((5, classes))
    expected = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(F.log_softmax(x).array, expected, rtol=1e-12)


def test_prelu_wants_slopes_of_the_shape_of_the_features():
    with pytest.raises(
        InvalidType, match=r"(?s)prelu.*W of the shape of x from axis 1 on, \(3,\).*W is float32 \(2,\)"
    ):
        F.prelu(np.ones((4, 3), "f"), np.ones(2, "f"))
