"""Losses of regression: kinks and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType


@pytest.mark.parametrize("loss", [F.mean_squared_error, F.squared_error, F.absolute_error, F.mean_absolute_error])
def test_pairs_are_of_one_shape_and_dtype(loss):
    with pytest.raises(InvalidType, match=f"{loss.__name__} .*\n\nExpect: x0 and x1 of one shape and dtype"):
        loss(np.ones((2, 1)), np.ones(2))
    with pytest.raises(InvalidType, match="x1 is float64"):
        loss(np.ones(2, "f"), np.ones(2))


def test_absolute_error_has_derivative_zero_at_zero():
    x = xpgrad.Variable(np.zeros(2))
    F.sum(F.absolute_error(x, np.zeros(2))).backward()
    np.testing.assert_array_equal(x.grad, 0)


def test_huber_loss_is_smooth_where_its_parts_meet():
    x = xpgrad.Variable(np.asarray([[-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]]))
    y = F.huber_loss(x, np.zeros((1, 7)), delta=1.0)
    y.backward()
    assert y.array.item() == 2 * (1.5 + 0.5 + 0.125)
    np.testing.assert_array_equal(x.grad, [[-1, -1, -0.5, 0, 0.5, 1, 1]])


def test_invalid_arguments_of_huber_loss_raise():
    with pytest.raises(ValueError, match="huber_loss: reduce must be 'sum_along_second_axis' or 'no', got 'mean'"):
        F.huber_loss(np.ones((2, 3)), np.ones((2, 3)), 1.0, reduce="mean")
    with pytest.raises(InvalidType, match=r"x of shape \(N, D, ...\)"):
        F.huber_loss(np.ones(3), np.ones(3), 1.0)
    with pytest.raises(InvalidType, match="x and t of one shape and dtype"):
        F.huber_loss(np.ones((2, 3)), np.ones((2, 1)), 1.0)
