"""Losses by sampling and clustering: samples, ignored labels, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, transforms
from xpgrad.utils import WalkerAlias

RNG = np.random.default_rng(0)
X, W, T = RNG.normal(size=(3, 4)), RNG.normal(size=(6, 4)), np.asarray([1, -1, 5])


def fixed(shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 6


def test_the_labels_come_first_among_the_samples(device):
    loss, samples = F.negative_sampling(
        device.send(X), device.send(T), device.send(W), lambda s: device.send(fixed(s)), 3, return_samples=True
    )
    found = xpgrad.get_device(-1).send(samples)
    np.testing.assert_array_equal(found[:, 0], T)
    np.testing.assert_array_equal(found[:, 1:], fixed((3, 4))[:, 1:])
    assert loss.shape == ()
    assert loss.device == device


def test_samples_of_the_host_are_moved_to_the_device(device):
    y = F.negative_sampling(device.send(X), device.send(T), device.send(W), WalkerAlias(range(1, 7)).sample, 2)
    assert y.device == device


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ignored_example_has_zero_gradient_for_any_value(dtype):
    x = X.astype(dtype)
    x[1] = np.nan
    x, w = Variable(x), Variable(W.astype(dtype))
    loss = F.negative_sampling(x, T, w, fixed, 3, reduce="no")
    assert loss.dtype == dtype
    assert loss.array[1] == 0
    F.sum(loss).backward()
    assert np.isfinite(w.grad).all()
    assert not x.grad[1].any()
    assert x.grad[0].all()


def test_compiled_calls_draw_other_samples_each_time():
    sampler = WalkerAlias([1.0] * 6)
    compiled = xpgrad.compile(lambda x, w: F.negative_sampling(x, T, w, sampler.sample, 4))
    losses = {float(compiled(X, W)) for _ in range(4)}
    assert len(losses) == 4


def test_the_losses_of_a_batch_of_batches():
    xs = np.stack([X, 2 * X])
    losses = transforms.vmap(lambda x: F.negative_sampling(x, T, W, fixed, 3))(xs)
    each = [float(F.negative_sampling(x, T, W, fixed, 3)) for x in xs]
    np.testing.assert_allclose(xpgrad.as_array(losses), each)


class TestClustering:
    """`discriminative_margin_based_clustering_loss`."""

    loss = staticmethod(F.discriminative_margin_based_clustering_loss)

    @pytest.mark.parametrize("norm", [1, 2])
    def test_coinciding_pixels_and_missing_instances_have_finite_gradients(self, norm):
        x = Variable(np.ones((2, 3, 2, 2), "f2"))
        terms = self.loss(x, np.asarray([[[1, 1], [2, 0]], [[0, 0], [0, 0]]]), 0.0, 1.5, 3, norm)
        assert [term.dtype for term in terms] == [np.float16] * 3
        F.add(*terms).backward()
        assert np.isfinite(x.grad).all()

    def test_separated_instances_have_zero_loss(self):
        x = np.zeros((1, 2, 1, 2))
        x[0, :, 0, 1] = 10
        variance, distance, _ = self.loss(x, np.asarray([[[1, 2]]]), 0.5, 1.5, 2)
        assert float(variance) == float(distance) == 0

    def test_one_instance_has_no_distance(self):
        assert float(self.loss(np.ones((1, 1, 2, 2)), np.ones((1, 2, 2), int), 0.5, 1.5, 1)[1]) == 0
