"""Losses of regression: kinks and errors."""

import numpy as np

import xpgrad
import xpgrad.functions as F


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
