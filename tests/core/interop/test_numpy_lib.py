"""NumPy's functions for sliding windows and positions of extrema, with NaN."""

import numpy as np
import pytest

from xpgrad import Variable
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad

sliding_window_view = np.lib.stride_tricks.sliding_window_view
VALUES = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("window", "axis"), [(2, -1), (2, 0), ((2, 2), None), ((2, 3), (1, 0)), ((2, 2), (0, 0)), (3, 0), (4, 0), (1, 1)]
)
def test_windows_agree_with_numpy(device, window, axis):
    if window == 4:
        with pytest.raises(ShapeError, match=r"a window of 4 does not fit into axis 0 of shape \(3, 4\)"):
            sliding_window_view(Variable(placed(VALUES, device)), window, axis)
        return
    found = sliding_window_view(Variable(placed(VALUES, device)), window, axis)
    np.testing.assert_array_equal(on_host(found), sliding_window_view(VALUES, window, axis))


def test_the_gradient_counts_the_windows_of_each_element():
    found = grad(lambda x: (sliding_window_view(x, 2, 0) * np.asarray([1.0, 10.0])).sum())(np.zeros(4))
    assert found.tolist() == [1.0, 11.0, 11.0, 10.0]


def test_windows_and_axes_are_of_one_number():
    with pytest.raises(ShapeError, match=r"expected as many windows as axes, got \(2,\) for axes \(0, 1\)"):
        sliding_window_view(Variable(VALUES), 2)


@pytest.mark.parametrize("function", [np.nanargmax, np.nanargmin])
@pytest.mark.parametrize("how", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}])
def test_positions_pass_over_nan(device, function, how):
    x = np.asarray([[np.nan, 1.0, 5.0], [2.0, np.nan, -1.0]])
    found = function(Variable(placed(x, device)), **how)
    np.testing.assert_array_equal(on_host(found), function(x, **how))
    whole = np.asarray([3, 1, 2])
    np.testing.assert_array_equal(on_host(function(Variable(placed(whole, device)))), function(whole))


def test_position_among_only_nan_raises():
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        np.nanargmax(Variable(np.full((2, 2), np.nan)), axis=0)
