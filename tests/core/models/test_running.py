"""`Running`: an attribute that shows the array of a Variable."""

import copy
import pickle

import numpy as np
import pytest
from tests.building import array, values

import xpgrad
import xpgrad.functions as F
from xpgrad import Link, Parameter
from xpgrad.models import Running
from xpgrad.transforms import value_and_grad


class Averaging(Link):
    mean = Running()

    def __init__(self, device=None):
        super().__init__()
        with self.init_scope():
            self.W = Parameter(2.0, 2)
        self.mean = np.zeros(2, "float32")

    def forward(self, x):
        y = self.W * x
        mean = Averaging.mean.variable(self)
        mean.array = mean.array * 0.5 + F.mean(y, axis=0).array * 0.5
        return F.sum(y)


def test_the_attribute_is_the_array():
    link = Averaging()
    assert type(link.mean) is np.ndarray
    link.mean = np.ones(2, "float32")
    assert values(link.__dict__["mean"]) == [1, 1]
    assert "mean" in link._persistent
    assert isinstance(Averaging.mean, Running)
    with pytest.raises(AttributeError, match="Averaging has no mean yet"):
        object.__new__(Averaging).mean  # noqa: B018


@pytest.mark.parametrize("compiled", [False, True])
def test_changes_in_a_transform_are_visible_outside(device, compiled):
    link = Averaging().to_device(device)
    step = value_and_grad(lambda link, x: link(x))
    step = xpgrad.compile(step) if compiled else step
    x = array(device, [[1.0, 2.0], [3.0, 4.0]])
    expected = np.zeros(2)
    for _ in range(4):
        step(link, x)
        expected = expected * 0.5 + np.array([4.0, 6.0]) * 0.5
        np.testing.assert_allclose(values(link.mean), expected)


def test_copies_share_or_copy_it():
    link = Averaging()
    for made in (link.copy("copy"), copy.deepcopy(link), pickle.loads(pickle.dumps(link))):
        made.mean = made.mean + 1
        assert values(link.mean) == [0, 0]
        assert values(made.mean) == [1, 1]
    shared = link.copy("share")
    shared.mean = shared.mean + 1
    assert values(link.mean) == [1, 1]
    other = Averaging()
    other.copyparams(link)
    assert values(other.mean) == [1, 1]
    assert other.mean is not link.mean
