"""Losses: options, edges, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad.testing.arrays import on_host as host
from xpgrad.testing.gradient_check import check_backward, check_double_backward

X = np.asarray([[1.0, 2.0, -1.0], [0.5, -0.25, 3.0], [2.0, 1.0, 0.0]])
ROWS = -X + np.log(np.exp(X).sum(axis=1, keepdims=True))


def loss_and_gradient(device, t, x=X, **options):
    x = xpgrad.Variable(device.send(np.asarray(x)))
    y = F.softmax_cross_entropy(x, device.send(np.asarray(t)), **options)
    F.sum(y).backward()
    return host(y.array), host(x.grad)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_labels_of_every_integer_dtype(device, dtype):
    y, gx = loss_and_gradient(device, np.asarray([1, 2, 0], dtype))
    assert y == pytest.approx((ROWS[0, 1] + ROWS[1, 2] + ROWS[2, 0]) / 3)
    np.testing.assert_allclose(gx, (np.exp(-ROWS) - np.eye(3)[[1, 2, 0]]) / 3, rtol=1e-12)


@pytest.mark.parametrize("reduce", ["mean", "no"])
def test_if_all_labels_are_ignored_loss_and_gradient_are_zero(device, reduce):
    y, gx = loss_and_gradient(device, [-1, -1, -1], reduce=reduce)
    assert not y.any()
    assert not gx.any()


def test_an_empty_batch_has_loss_zero(device):
    y, gx = loss_and_gradient(device, np.zeros(0, int), np.zeros((0, 3)))
    assert y == 0
    assert gx.shape == (0, 3)


def test_ignored_logits_may_be_anything(device):
    x = X.copy()
    x[1] = np.nan
    y, gx = loss_and_gradient(device, [1, -1, 0], x)
    assert y == pytest.approx((ROWS[0, 1] + ROWS[2, 0]) / 2)
    np.testing.assert_array_equal(gx[1], 0)
    assert np.isfinite(gx).all()


def test_a_class_may_be_the_one_to_ignore(device):
    y, gx = loss_and_gradient(device, [1, 2, 0], ignore_label=2)
    assert y == pytest.approx((ROWS[0, 1] + ROWS[2, 0]) / 2)
    np.testing.assert_array_equal(gx[1], 0)


def test_large_logits_do_not_overflow(device):
    y, gx = loss_and_gradient(device, [0, 1, 2], 1e4 * X)
    assert np.isfinite(y)
    assert np.isfinite(gx).all()


@pytest.mark.parametrize("label", [3, -2])
class TestWrongLabels:
    def test_on_the_host_they_are_an_error(self, device, label):
        with pytest.raises(IndexError, match=r"label|out of bounds"):
            F.softmax_cross_entropy(device.send(X), device.send(np.asarray([0, label, 1])))

    def test_in_debug_mode_they_are_one_everywhere(self, device, label):
        with (
            xpgrad.using_config("debug", True),
            pytest.raises(IndexError, match=r"neither a class, 0 to 2, nor ignore"),
        ):
            F.softmax_cross_entropy(device.send(X), device.send(np.asarray([0, label, 1])))


def test_second_order_in_any_sequence_of_calls():
    x, t = xpgrad.Variable(X), np.asarray([0, 1, 2])
    y = F.softmax_cross_entropy(x, t)
    (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    y.backward()
    direction = np.random.default_rng(0).standard_normal(X.shape)
    (hv,) = xpgrad.grad([gx], [x], [xpgrad.Variable(direction)])
    p = np.exp(-ROWS)
    np.testing.assert_allclose(hv.array, p * (direction - (p * direction).sum(1, keepdims=True)) / 3, rtol=1e-10)


def test_class_weights_of_another_float_dtype_are_cast():
    weight = np.asarray([1.0, 2.0, 0.5])
    y = F.softmax_cross_entropy(X.astype("f"), np.asarray([1, 0, 2]), class_weight=weight)
    assert y.dtype == np.float32
    assert float(y) == pytest.approx((2 * ROWS[0, 1] + ROWS[1, 0] + 0.5 * ROWS[2, 2]) / 3, rel=1e-6)


def test_zero_probability_has_no_divergence():
    t = np.asarray([[1.0, 0.0, 0.0]] * 3)
    y = F.softmax_cross_entropy(X, t, soft_target_loss="kl-divergence", reduce="no")
    np.testing.assert_allclose(y.array, ROWS[:, 0])


def test_sigmoid_cross_entropy_of_an_empty_batch_is_zero():
    assert float(F.sigmoid_cross_entropy(X, np.full((3, 3), -1))) == 0


@pytest.mark.parametrize("kind", ["cross-entropy", "kl-divergence"])
@pytest.mark.parametrize("options", [{}, {"reduce": "no"}, {"cache_score": False}, {"enable_double_backprop": True}])
@pytest.mark.parametrize("weight", [None, np.asarray([0.5, 2.0, 1.25], "f")])
def test_gradients_of_probabilities(kind, options, weight):
    rng = np.random.default_rng(0)
    t = rng.dirichlet(np.full(3, 20.0), 3).astype("f")
    x, t2 = X.astype("f"), Variable(t)

    def loss(x, t=t2):
        return F.softmax_cross_entropy(x, t, class_weight=weight, soft_target_loss=kind, **options)

    assert loss(x).dtype == np.float32
    gy = rng.normal(size=loss(x).shape).astype("f")
    ggs = [rng.normal(size=(3, 3)).astype("f") for _ in range(2)]
    for inputs in ((x,), (x, t)):
        check_backward(loss, inputs, gy, dtype="d", atol=1e-4, rtol=1e-4)
        check_double_backward(loss, inputs, gy, tuple(ggs[: len(inputs)]), dtype="d", atol=1e-4, rtol=1e-4)
