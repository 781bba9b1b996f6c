"""Margin, likelihood and correlation losses: options, edges, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

ROWS = np.asarray([[1.0, 2.0], [0.5, -1.0]])


def test_contrastive_of_points_that_coincide_has_gradient_zero():
    x0, x1 = xpgrad.Variable(ROWS), xpgrad.Variable(ROWS)
    loss = F.contrastive(x0, x1, np.asarray([0, 1]), margin=2.0)
    loss.backward()
    assert float(loss.array) == 1.0  # half of 2 * 2 for the pair of two classes, over two pairs
    np.testing.assert_array_equal(x0.grad, 0)
    np.testing.assert_array_equal(x1.grad, 0)


def test_loss_beyond_the_margin_is_zero():
    assert float(F.hinge(np.asarray([[2.0, -3.0]]), np.asarray([0]))) == 0
    assert float(F.triplet(ROWS, ROWS, ROWS + 5, margin=0.1)) == 0
    assert float(F.contrastive(ROWS, ROWS + 5, np.asarray([0, 0]))) == 0


@pytest.mark.parametrize(
    "loss", [lambda x, t: F.hinge(x, t), lambda x, t: F.contrastive(x, x, t), lambda x, t: F.triplet(x, x, x)]
)
def test_an_empty_batch_has_loss_zero(device, loss):
    x, t = device.send(np.zeros((0, 2))), device.send(np.zeros(0, np.int64))
    assert float(loss(x, t)) == 0


@pytest.mark.parametrize("name", ["gaussian_nll", "gaussian_kl_divergence", "bernoulli_nll"])
def test_likelihoods_take_arrays_that_broadcast(name):
    arrays = [np.ones((2, 2))] * (2 if name == "gaussian_nll" else 1)
    row = getattr(F, name)(*arrays, np.ones(2), reduce="no")
    total, mean, each = (getattr(F, name)(*arrays, np.ones((2, 2)), reduce=way) for way in ("sum", "mean", "no"))
    np.testing.assert_array_equal(row.array, each.array)
    assert float(total) == pytest.approx(4 * float(mean))
    assert each.shape == (2, 2)


def test_likelihood_of_large_logits_does_not_overflow():
    y = F.bernoulli_nll(np.asarray([0.0, 1.0]), np.asarray([1e4, 1e4]), reduce="no")
    assert y.array.tolist() == [1e4, 0.0]
