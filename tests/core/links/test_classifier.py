"""`Classifier`: the labels argument, and reported values."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import Chain

X, T = np.random.default_rng(0).standard_normal((4, 3)).astype("f"), np.array([0, 1, 1, 0], "i")


class Sum(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.out = L.Linear(3, 2)

    def forward(self, *xs, **kwargs):
        return self.out(sum([*xs, *kwargs.values()]))


def test_loss_and_accuracy_are_kept_and_reported():
    link = L.Classifier(L.Linear(3, 2))
    reporter = xpgrad.Reporter()
    reporter.add_observer("main", link)
    with reporter:
        loss = link(X, T)
    assert loss is link.loss
    np.testing.assert_allclose(loss.array, F.softmax_cross_entropy(link.y, T).array)
    np.testing.assert_allclose(link.accuracy.array, F.accuracy(link.y, T).array)
    assert set(reporter.observation) == {"main/loss", "main/accuracy"}
    assert float(xpgrad.as_array(reporter.observation["main/loss"])) == pytest.approx(float(loss.array))


def test_accuracy_is_optional():
    link = L.Classifier(L.Linear(3, 2))
    link.compute_accuracy = False
    link(X, T)
    assert link.accuracy is None
    link = L.Classifier(L.Linear(3, 1), lossfun=F.mean_squared_error, accfun=F.mean_absolute_error)
    target = np.zeros((4, 1), "f")
    np.testing.assert_allclose(link(X, target).array, (link.y.array**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(link.accuracy.array, abs(link.y.array).mean(), rtol=1e-5)


@pytest.mark.parametrize(("key", "args", "kwargs"), [
    (-1, (X, X, T), {}), (0, (T, X, X), {}), (1, (X, T, X), {}), (-2, (X, T, X), {}), ("t", (X,), {"t": T, "x": X}),
])  # fmt: skip
def test_labels_are_one_of_the_arguments(key, args, kwargs):
    link = L.Classifier(Sum(), label_key=key)
    loss = link(*args, **kwargs)
    np.testing.assert_allclose(loss.array, F.softmax_cross_entropy(link.predictor(X, X), T).array)


def test_errors():
    with pytest.raises(TypeError, match="label_key must be int or str, got float"):
        L.Classifier(Sum(), label_key=1.0)
    with pytest.raises(ValueError, match="Label key 2 is out of bounds: there are 2 arguments"):
        L.Classifier(Sum(), label_key=2)(X, T)
    with pytest.raises(ValueError, match="Label key 't' is not among the arguments \\['x'\\]"):
        L.Classifier(Sum(), label_key="t")(x=X)


def test_a_whole_network_learns():
    xpgrad.random.seed(0)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2)).astype("f")
    t = (x[:, 0] * x[:, 1] > 0).astype("i")
    link = L.Classifier(xpgrad.Sequential(L.Linear(2, 16), F.tanh, L.Linear(16, 2)))

    def step(x, t):
        link.cleargrads()
        link(x, t).backward()
        for parameter in link.params():
            parameter.array = parameter.array - 0.5 * parameter.grad

    program = xpgrad.compile(step)
    for _ in range(300):
        program(x, t)
    link(x, t)
    assert float(link.accuracy.array) > 0.95
