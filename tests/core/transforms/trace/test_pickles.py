"""Compiled functions, and models and optimizers that keep one, are pickled and copied without their programs."""

import copy
import pickle

import numpy as np
import pytest

import xpgrad
from xpgrad import functions as F
from xpgrad import links as L

X = np.ones((2, 3), np.float32)


def double(x):
    return x * 2


@xpgrad.compile(exact=True)
def decorated(x):
    return x * 3


tripled = xpgrad.compile(double, executor="python", verify=False)


class Net(xpgrad.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 2)
        self.run = xpgrad.compile(self.predict)

    @xpgrad.compile
    def step(self, x):
        return self.l1(x) * 2

    def predict(self, x):
        return F.relu(self.l1(x))


def copies(x):
    cloudpickle = pytest.importorskip("cloudpickle")
    return [copy.deepcopy(x), pickle.loads(pickle.dumps(x)), pickle.loads(cloudpickle.dumps(x))]


def test_a_function_of_a_module_is_pickled_by_its_name():
    decorated(X)
    for same in copies(decorated):
        assert same is decorated


def test_copies_keep_function_and_options_and_compile_again():
    for f in (tripled, xpgrad.compile(xpgrad.transforms.vmap, cache_size=2)):
        for again in copies(f):
            assert again is not f
            assert again.function is f.function
            assert again.cache_info() == (0, 0, 0, f.cache_info().maximum)
    again = copy.deepcopy(tripled)
    for _ in range(3):
        np.testing.assert_array_equal(again(X), 2 * X)
    assert again.program(X).executor == "python"


def test_lambdas_are_pickled_by_value():
    cloudpickle = pytest.importorskip("cloudpickle")
    k = 3.0
    f = xpgrad.compile(lambda x: x * k)
    f(X)
    np.testing.assert_array_equal(pickle.loads(cloudpickle.dumps(f))(X), 3 * X)
    np.testing.assert_array_equal(copy.deepcopy(f)(X), 3 * X)


def test_a_model_keeps_compiled_methods():
    net = Net()
    for _ in range(3):
        net.run(X)
        net.step(X)
    for other in copies(net):
        assert other.run.function.__self__ is other
        other.l1.W.array = other.l1.W.array + 1
        for method in ("run", "step"):
            y = [getattr(other, method)(X) for _ in range(3)][-1]
            expected = other.predict(X) if method == "run" else other.l1(X) * 2
            np.testing.assert_allclose(y.array, expected.array, rtol=1e-6)


def test_a_step_of_an_optimizer_is_copied_with_it():
    net = Net()
    optimizer = xpgrad.optimizers.Adam().setup(net)
    optimizer.step = optimizer.compile(Loss(net))
    optimizer.step(X)
    for other in copies(optimizer):
        assert other.step.optimizer is other
        assert other.step.lossfun.net is other.target
        before = other.target.l1.b.array.copy()
        other.step(X)
        assert other.t == 2
        assert not np.array_equal(before, other.target.l1.b.array)


class Loss:
    def __init__(self, net):
        self.net = net

    def __call__(self, x):
        return F.sum((self.net.l1(x) - 1) ** 2)
