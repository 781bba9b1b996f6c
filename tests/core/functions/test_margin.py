"""Margin, likelihood and correlation losses: options, edges, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType

ROWS = np.asarray([[1.0, 2.0], [0.5, -1.0]])
T = np.asarray([0, 1])


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
def test_likelihoods_take_arrays_of_one_dtype_that_broadcast(name):
    count = 3 if name == "gaussian_nll" else 2
    arrays = [np.ones((2, 2))] * (count - 1)
    with pytest.raises(InvalidType, match=f"{name} .*\n\nExpect: .* of one dtype"):
        getattr(F, name)(*arrays, np.ones((2, 2), np.float32))
    with pytest.raises(InvalidType, match="shapes do not broadcast"):
        getattr(F, name)(*arrays, np.ones(3))
    row = getattr(F, name)(*arrays, np.ones(2), reduce="no")
    np.testing.assert_array_equal(row.array, getattr(F, name)(*arrays, np.ones((2, 2)), reduce="no").array)
    with pytest.raises(ValueError, match=f"{name}: reduce must be 'sum', 'mean' or 'no', got 'max'"):
        getattr(F, name)(*arrays, np.ones((2, 2)), reduce="max")
    total, mean, each = (getattr(F, name)(*arrays, np.ones((2, 2)), reduce=way) for way in ("sum", "mean", "no"))
    assert float(total) == pytest.approx(4 * float(mean))
    assert each.shape == (2, 2)


def test_likelihood_of_large_logits_does_not_overflow():
    y = F.bernoulli_nll(np.asarray([0.0, 1.0]), np.asarray([1e4, 1e4]), reduce="no")
    assert y.array.tolist() == [1e4, 0.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.hinge(ROWS, T, norm="L3"), "hinge: norm must be 'L1' or 'L2', got 'L3'"),
        (lambda: F.hinge(ROWS, T, reduce="sum"), "hinge: reduce must be 'mean' or 'no'"),
        (lambda: F.contrastive(ROWS, ROWS, T, margin=0), "contrastive: margin must be positive, got 0"),
        (lambda: F.contrastive(ROWS, ROWS, T, reduce="sum"), "contrastive: reduce must be"),
        (lambda: F.triplet(ROWS, ROWS, ROWS, margin=-1.0), "triplet: margin must be positive"),
        (lambda: F.decov(ROWS, "mean"), "decov: reduce must be 'half_squared_sum' or 'no'"),
        (lambda: F.cross_covariance(ROWS, ROWS, "mean"), "cross_covariance: reduce must be"),
    ],
)
def test_wrong_options(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.hinge(ROWS, np.ones(2)), "t of an integer dtype"),
        (lambda: F.hinge(ROWS, np.asarray([0, 1, 1])), r"x of shape \(N, C\) and t of shape \(N,\)"),
        (lambda: F.contrastive(ROWS, ROWS[:1], T), r"x0, x1 of one shape \(N, K\)"),
        (lambda: F.contrastive(ROWS, ROWS, T[:1]), r"y of shape \(2,\), one for each pair"),
        (lambda: F.triplet(ROWS, ROWS, ROWS.astype("f")), "anchor, positive, negative of one shape"),
        (lambda: F.decov(ROWS[0]), r"h of shape \(N, K\)"),
        (lambda: F.cross_covariance(ROWS, ROWS[:1]), r"y of shape \(N, K\) and z of shape \(N, L\)"),
    ],
)
def test_wrong_dtypes_and_shapes(call, message):
    with pytest.raises(InvalidType, match=message):
        call()
