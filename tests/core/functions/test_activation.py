"""Activations at their kinks and edges."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F


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


@pytest.mark.parametrize(("f", "least"), [(F.relu, 0), (F.elu, -1)])
def test_nan_passes_through_rectifiers(device, f, least):
    y = f(xpgrad.Variable(device.send(np.asarray([np.nan, -np.inf, np.inf], np.float32))))
    np.testing.assert_array_equal(xpgrad.get_device(-1).send(y.array), [np.nan, least, np.inf])
    assert np.isnan(gradient(device, F.elu, [np.nan]))[0]


@pytest.mark.parametrize("f", [F.sigmoid, F.softplus, F.elu, F.tanh])
def test_activations_of_large_numbers_do_not_overflow(device, f):
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


@pytest.mark.parametrize("neighbour", [np.nan, np.inf, -np.inf, 1e30])
def test_gradient_of_sigmoid_in_its_tail_does_not_depend_on_other_elements(device, neighbour):
    np.testing.assert_array_equal(
        gradient(device, F.sigmoid, [40.0, 1.0, neighbour])[:2], gradient(device, F.sigmoid, [40.0, 1.0, 0.0])[:2]
    )


@pytest.mark.parametrize("f", [F.softmax, F.log_softmax])
def test_softmax_of_large_logits_does_not_overflow(device, f):
    x = device.send(np.asarray([[1000.0, 999.0, -1000.0], [-1e4, -1e4, -1e4]], np.float32))
    y = xpgrad.get_device(-1).send(f(x).array)
    e = np.exp([0.0, -1.0, -2000.0])
    expected = np.stack([e / e.sum(), np.full(3, 1 / 3)])
    np.testing.assert_allclose(np.exp(y) if f is F.log_softmax else y, expected, rtol=1e-6, atol=1e-30)


def test_maxout_shares_ties(device):
    assert gradient(device, lambda x: F.maxout(x, 2, axis=0), [1.0, 1.0, 3.0, 2.0]).tolist() == [0.5, 0.5, 1, 0]


def test_slopes_of_rrelu_are_drawn_in_training_and_can_be_given_again(device):
    x = xpgrad.Variable(device.send(np.asarray([-1.0] * 200 + [2.0], np.float32)))
    y, r = F.rrelu(x, 0.25, 0.5, return_r=True)
    host = xpgrad.get_device(-1).send
    assert host(r).dtype == np.float32
    assert 0.25 <= host(r).min() < 0.3
    assert 0.45 < host(r).max() < 0.5
    np.testing.assert_array_equal(host(F.rrelu(x, r=r).array), host(y.array))
    F.sum(y).backward()
    np.testing.assert_array_equal(host(x.grad)[:-1], host(r)[:-1])
    assert host(x.grad)[-1] == 1


def test_outside_of_training_the_slope_of_rrelu_is_the_middle(device):
    x = device.send(np.asarray([-1.0, 2.0], np.float32))
    with xpgrad.using_config("train", False):
        y, r = F.rrelu(x, 0.25, 0.5, return_r=True)
    assert xpgrad.get_device(-1).send(y.array).tolist() == [-0.375, 2.0]
    assert xpgrad.get_device(-1).send(r).tolist() == [0.375, 0.375]
