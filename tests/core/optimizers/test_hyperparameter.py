"""Hyperparameters: parents, overrides, schedules."""

import copy

import pytest

from xpgrad import optimizers
from xpgrad.optimizer import Hyperparameter


def test_unset_hyperparameters_come_from_the_parent():
    parent = Hyperparameter()
    parent.lr, parent.eps = 0.1, 1e-8
    child = Hyperparameter(parent)
    child.lr = 0.5
    assert (child.lr, child.eps) == (0.5, 1e-8)
    parent.eps = 1e-4
    assert child.get_dict() == {"lr": 0.5, "eps": 1e-4}
    assert child.parent is parent
    assert repr(child) == "Hyperparameter(eps=0.0001, lr=0.5)"
    del child.lr
    assert child.lr == 0.1
    assert copy.deepcopy(child).eps == 1e-4


def test_unknown_hyperparameters_raise():
    with pytest.raises(AttributeError, match="Hyperparameter: expected one that was set, got 'rate'; set it first"):
        _ = Hyperparameter(Hyperparameter()).rate
    assert not hasattr(Hyperparameter(), "__array__")


def test_schedules_get_the_number_of_steps_before():
    h = Hyperparameter()
    h.lr, h.eps = (lambda t: 10 * t), 0.5
    assert h.at(1) == {"lr": 0, "eps": 0.5}
    assert h.at(4) == {"lr": 30, "eps": 0.5}


def test_optimizers_have_them_as_attributes():
    assert repr(optimizers.MomentumSGD(lr=0.5)) == "MomentumSGD(lr=0.5, momentum=0.9)"
    optimizer = optimizers.Adam()
    optimizer.alpha = 0.5
    assert optimizer.hyperparam.alpha == 0.5
    assert "number, or a schedule" in optimizers.Adam.alpha.__doc__
